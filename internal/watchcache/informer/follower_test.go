package informer_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache"
	"github.com/cadastre/cadastre/internal/watchcache/informer"
	"github.com/cadastre/cadastre/internal/watchcache/watchcachetest"
)

const apples, pears = "example.com/apples", "example.com/pears"

// orchard is a store with its cache, and what a follower tells of it.
type orchard struct {
	*testing.T
	store storage.Store
	cache *watchcache.Cache
	log   strings.Builder

	mu   sync.Mutex
	told map[string][]string // names, by kind
}

func newOrchard(t *testing.T) *orchard {
	s := watchcachetest.OpenStore(t)
	return &orchard{T: t, store: s, cache: watchcachetest.Over(t, s), told: map[string][]string{}}
}

func (o *orchard) set(kind string, objects map[string]*watchcache.Object) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.told[kind] = slices.Sorted(maps.Keys(objects))
}

func (o *orchard) follow() *informer.Follower {
	o.Helper()
	f, err := informer.Start(o.Context(), informer.Options{
		Cache: o.cache, Kinds: []string{apples, pears}, Keeper: informer.Whole(o.set), About: "what grows",
		Log: slog.New(slog.NewTextHandler(io.MultiWriter(&o.log, o.Output()), nil)),
	})
	if err != nil {
		o.Fatal(err)
	}
	o.Cleanup(f.Close)
	return f
}

// write puts a value in the place of whatever is there; "" deletes it.
func (o *orchard) write(kind, name, value string) storage.Revision {
	o.Helper()
	key := watchcache.Key{Kind: kind, Name: name}.String()
	w := storage.Write{Key: key}
	if there, err := o.store.Get(o.Context(), key); err == nil {
		w.Expected = there.Revision
	}
	if value != "" {
		w.Value = []byte(value)
	}
	revision, err := o.store.Commit(o.Context(), w)
	if err != nil {
		o.Fatal(err)
	}
	return revision
}

func object(name string) string {
	return `{"apiVersion":"example.com/v1","kind":"Fruit","metadata":{"name":"` + name + `"}}`
}

func (o *orchard) want(kind string, names ...string) {
	o.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	if !slices.Equal(o.told[kind], names) {
		o.Errorf("%s: told of %v, expected %v", kind, o.told[kind], names)
	}
}

// TestFollow: a keeper has all from the start, and what was written when Sync returns.
func TestFollow(t *testing.T) {
	o := newOrchard(t)
	o.write(apples, "cox", object("cox"))
	f := o.follow()
	o.want(apples, "cox")
	o.want(pears)
	for _, step := range []struct {
		kind, name, value string
		want              []string
	}{
		{apples, "boskoop", object("boskoop"), []string{"boskoop", "cox"}},
		{apples, "cox", "", []string{"boskoop"}},
		{apples, "cox", object("cox"), []string{"boskoop", "cox"}},
		{pears, "williams", object("williams"), []string{"williams"}},
	} {
		moved := f.Moved()
		revision := o.write(step.kind, step.name, step.value)
		if err := f.Sync(t.Context(), step.kind, revision); err != nil {
			t.Fatal(err)
		}
		o.want(step.kind, step.want...)
		<-moved
	}
}

// TestSync waits for kinds that are followed alone, and not for ever.
func TestSync(t *testing.T) {
	o := newOrchard(t)
	f := o.follow()
	const never = 1 << 40
	if err := f.Sync(t.Context(), "example.com/plums", never); err != nil {
		t.Error(err)
	}
	if err := (*informer.Follower)(nil).Sync(t.Context(), apples, never); err != nil {
		t.Error(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := f.Sync(short, apples, never); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("received %v, expected that it waits", err)
	}
	time.AfterFunc(10*time.Millisecond, f.Close)
	if err := f.Sync(t.Context(), apples, never); !errors.Is(err, watchcache.ErrClosed) {
		t.Errorf("received %v, expected that it has ended", err)
	}
	<-f.Done()
}

// TestUnreadable: what can't be read leaves all as it was and keeps nobody waiting, and counts again when it can.
func TestUnreadable(t *testing.T) {
	o := newOrchard(t)
	o.write(apples, "bad", "{")
	f := o.follow()
	o.want(apples)
	if !strings.Contains(o.log.String(), "cannot read all that says what grows: it is left as it was") {
		t.Errorf("logged %q", o.log.String())
	}
	if err := f.Sync(t.Context(), apples, o.write(apples, "cox", object("cox"))); err != nil {
		t.Error(err)
	}
	o.write(apples, "bad", "")
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); {
		moved := f.Moved()
		o.mu.Lock()
		isBack := slices.Equal(o.told[apples], []string{"cox"})
		o.mu.Unlock()
		if isBack {
			return
		}
		select {
		case <-moved:
		case <-time.After(time.Second):
		}
	}
	t.Error("it is not followed again")
}

// TestStartFails with a cache that is closed.
func TestStartFails(t *testing.T) {
	o := newOrchard(t)
	o.cache.Close()
	_, err := informer.Start(t.Context(), informer.Options{Cache: o.cache, Kinds: []string{apples}, Keeper: informer.Whole(o.set), Log: slog.New(slog.DiscardHandler)})
	if !errors.Is(err, watchcache.ErrClosed) {
		t.Errorf("received %v", err)
	}
}
