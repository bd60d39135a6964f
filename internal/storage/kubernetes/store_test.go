package kubernetes

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/storage/pebble"
)

var builtin = []string{
	"core/pods", "core/services", "core/endpoints", "core/nodes", "core/replicationcontrollers", "core/events", "apps/deployments",
	"networking.k8s.io/ingresses", "apiextensions.k8s.io/customresourcedefinitions",
}

func newLayout(t *testing.T) Layout {
	t.Helper()
	l, err := NewLayout(builtin)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestLayout(t *testing.T) {
	l := newLayout(t)
	for key, want := range map[string]string{
		"core/pods/default/web":                                        "pods/default/web",
		"core/services/default/web":                                    "services/specs/default/web",
		"core/endpoints/default/web":                                   "services/endpoints/default/web",
		"core/nodes/n1":                                                "minions/n1",
		"core/replicationcontrollers/default/a":                        "controllers/default/a",
		"apps/deployments/default/web":                                 "deployments/default/web",
		"networking.k8s.io/ingresses/default/web":                      "ingress/default/web",
		"example.com/pods/default/web":                                 "example.com/pods/default/web",
		"example.com/clusterthings/a":                                  "example.com/clusterthings/a",
		"cadastre/nodeports/30000":                                     "cadastre/nodeports/30000",
		"apiextensions.k8s.io/customresourcedefinitions/a.example.com": "apiextensions.k8s.io/customresourcedefinitions/a.example.com",
	} {
		stored, err := l.Stored(key)
		if err != nil || stored != want {
			t.Errorf("Stored(%q) = %q, %v, want %q", key, stored, err, want)
		}
		if back, ok := l.Item(want); !ok || back != key {
			t.Errorf("Item(%q) = %q, %v, want %q", want, back, ok, key)
		}
	}
	for prefix, want := range map[string]string{"": "", "core/services/": "services/specs/", "core/pods/default/": "pods/default/"} {
		if stored, err := l.Stored(prefix); err != nil || stored != want {
			t.Errorf("Stored(%q) = %q, %v, want %q", prefix, stored, err, want)
		}
	}
	for _, prefix := range []string{"core", "core/pods", "pods"} {
		if stored, err := l.Stored(prefix); err == nil {
			t.Errorf("Stored(%q) = %q, want an error", prefix, stored)
		}
	}
	for _, foreign := range []string{"ranges/serviceips", "masterleases/10.0.0.1", "health", "pods", "pods/", "services/other/a", "example.com", "example.com/a", ""} {
		if key, ok := l.Item(foreign); ok {
			t.Errorf("Item(%q) = %q, want none", foreign, key)
		}
	}
	if _, err := NewLayout([]string{"a.io/things", "b.io/things"}); err == nil {
		t.Error("NewLayout() with two resources that share a prefix: error = nil, want an error")
	}
}

// reverser is a codec that stores values in reverse. It cannot decode the value "x".
type reverser struct{}

func (reverser) Decode(_ string, stored []byte) ([]byte, error) {
	if string(stored) == "x" {
		return nil, errors.New("cannot decode")
	}
	value := bytes.Clone(stored)
	slices.Reverse(value)
	return value, nil
}

func (r reverser) Encode(key string, value []byte) ([]byte, error) { return r.Decode(key, value) }

// open returns a store with the codec reverser, and the store that it wraps.
func open(t *testing.T) (wrapped storage.Store, s *Store) {
	t.Helper()
	wrapped, err := pebble.Open(pebble.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s = New(Options{Store: wrapped, Layout: newLayout(t), Codec: reverser{}, Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return wrapped, s
}

func commit(t *testing.T, s storage.Store, writes ...storage.Write) storage.Revision {
	t.Helper()
	revision, err := s.Commit(t.Context(), writes...)
	if err != nil {
		t.Fatal(err)
	}
	return revision
}

func TestStore(t *testing.T) {
	wrapped, s := open(t)
	w, err := s.Watch(t.Context(), "", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	value := []byte("abc")
	created := commit(t, s, storage.Write{Key: "core/services/default/web", Value: value})
	batch, err := w.Next(t.Context())
	if err != nil || len(batch.Events) != 1 {
		t.Fatalf("Next() = %v, %v, want an event", batch, err)
	}
	if own := batch.Events[0].Value; unsafe.SliceData(own) != unsafe.SliceData(value) {
		t.Error("Next(): the value of the store's own commit is a copy, want the slice that was committed")
	}
	if item, err := wrapped.Get(t.Context(), "services/specs/default/web"); err != nil || string(item.Value) != "cba" {
		t.Errorf("Get() of the wrapped store = %q, %v, want cba", item.Value, err)
	}
	if item, err := s.Get(t.Context(), "core/services/default/web"); err != nil || string(item.Value) != "abc" || item.Key != "core/services/default/web" {
		t.Errorf("Get() = %+v, %v, want the value abc", item, err)
	}
	commit(t, wrapped, storage.Write{Key: "ranges/serviceips", Value: []byte("1")})
	foreign := commit(t, wrapped, storage.Write{Key: "services/specs/default/web", Expected: created, Value: []byte("fed")})
	commit(t, wrapped, storage.Write{Key: "minions/n1", Value: []byte("x")})
	_, err = s.Commit(t.Context(), storage.Write{Key: "core/services/default/web", Expected: created, Value: []byte("1")})
	if conflict := (*storage.ConflictError)(nil); !errors.As(err, &conflict) || conflict.Key != "core/services/default/web" || conflict.Found != foreign {
		t.Errorf("Commit() = %v, want a conflict about core/services/default/web with revision %d", err, foreign)
	}
	commit(t, s, storage.Write{Key: "core/services/default/web", Expected: foreign})
	var got []string
	for len(got) < 3 {
		batch, err := w.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range batch.Events {
			got = append(got, fmt.Sprintf("%s %s was %s", e.Key, e.Value, e.Previous))
		}
	}
	want := "core/services/default/web def was abc; core/nodes/n1 x was ; core/services/default/web  was def"
	if joined := strings.Join(got, "; "); joined != want {
		t.Errorf("Next(): events %q, want %q", joined, want)
	}
}

// TestPages checks that a list skips the keys of others, that no page is empty except the last, and that pages continue after an item.
func TestPages(t *testing.T) {
	wrapped, s := open(t)
	for i := range 10 {
		commit(t, wrapped, storage.Write{Key: fmt.Sprintf("masterleases/%d", i), Value: []byte("1")})
	}
	commit(t, s, storage.Write{Key: "core/pods/default/a", Value: []byte("1")})
	commit(t, s, storage.Write{Key: "apps/deployments/default/a", Value: []byte("1")})
	for i := range 10 {
		commit(t, wrapped, storage.Write{Key: fmt.Sprintf("ranges/%d", i), Value: []byte("1")})
	}
	commit(t, s, storage.Write{Key: "core/services/default/a", Value: []byte("1")})
	var keys []string
	r := storage.Range{Limit: 2}
	for {
		page, err := s.List(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range page.Items {
			keys = append(keys, item.Key)
		}
		if !page.More {
			break
		}
		if len(page.Items) == 0 {
			t.Fatal("List() = an empty page that is not the last")
		}
		r.After, r.Revision = page.Items[len(page.Items)-1].Key, page.Revision
	}
	if want := []string{"apps/deployments/default/a", "core/pods/default/a", "core/services/default/a"}; !slices.Equal(keys, want) {
		t.Errorf("List(): keys %v, want %v", keys, want)
	}
	page, err := s.List(t.Context(), storage.Range{Prefix: "core/pods/"})
	if err != nil || len(page.Items) != 1 || page.Items[0].Key != "core/pods/default/a" {
		t.Errorf("List() of core/pods/ = %v, %v, want one item", page.Items, err)
	}
}
