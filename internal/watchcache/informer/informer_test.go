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

// fixture is a store with a cache, and the objects that an informer's handler has received.
type fixture struct {
	*testing.T
	store storage.Store
	cache *watchcache.Cache
	log   strings.Builder

	mu       sync.Mutex
	received map[string][]string // maps each resource to the names of its objects
}

func newFixture(t *testing.T) *fixture {
	s := watchcachetest.OpenStore(t)
	return &fixture{T: t, store: s, cache: watchcachetest.Over(t, s), received: map[string][]string{}}
}

func (o *fixture) set(kind string, objects map[string]*watchcache.Object) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.received[kind] = slices.Sorted(maps.Keys(objects))
}

func (o *fixture) start() *informer.Informer {
	o.Helper()
	f, err := informer.Start(o.Context(), informer.Options{
		Cache: o.cache, Kinds: []string{apples, pears}, Handler: informer.SnapshotHandler(o.set), About: "fruits",
		Log: slog.New(slog.NewTextHandler(io.MultiWriter(&o.log, o.Output()), nil)),
	})
	if err != nil {
		o.Fatal(err)
	}
	o.Cleanup(f.Close)
	return f
}

// write creates or replaces the value of an object, or deletes the object if value is ""; it returns the revision of the
// commit.
func (o *fixture) write(kind, name, value string) storage.Revision {
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

func (o *fixture) want(kind string, names ...string) {
	o.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	if !slices.Equal(o.received[kind], names) {
		o.Errorf("%s: handler has %v, want %v", kind, o.received[kind], names)
	}
}

// TestInformer: the handler has received all objects when Start returns, and a written object when Sync returns.
func TestInformer(t *testing.T) {
	o := newFixture(t)
	o.write(apples, "cox", object("cox"))
	f := o.start()
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
		updated := f.Updated()
		revision := o.write(step.kind, step.name, step.value)
		if err := f.Sync(t.Context(), step.kind, revision); err != nil {
			t.Fatal(err)
		}
		o.want(step.kind, step.want...)
		<-updated
	}
}

// TestSync: Sync waits only for watched resources, and returns when the context ends or the informer is closed.
func TestSync(t *testing.T) {
	o := newFixture(t)
	f := o.start()
	const never = 1 << 40
	if err := f.Sync(t.Context(), "example.com/plums", never); err != nil {
		t.Error(err)
	}
	if err := (*informer.Informer)(nil).Sync(t.Context(), apples, never); err != nil {
		t.Error(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := f.Sync(short, apples, never); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Sync() = %v, want context.DeadlineExceeded", err)
	}
	time.AfterFunc(10*time.Millisecond, f.Close)
	if err := f.Sync(t.Context(), apples, never); !errors.Is(err, watchcache.ErrClosed) {
		t.Errorf("Sync() = %v, want ErrClosed", err)
	}
	<-f.Done()
}

// TestUnreadableObject: an unreadable object does not block Start or Sync; when the object is deleted, its resource is listed
// again.
func TestUnreadableObject(t *testing.T) {
	o := newFixture(t)
	o.write(apples, "bad", "{")
	f := o.start()
	o.want(apples)
	if !strings.Contains(o.log.String(), "cannot list resource; keeping the previous state") {
		t.Errorf("log = %q, want a message that the resource cannot be listed", o.log.String())
	}
	if err := f.Sync(t.Context(), apples, o.write(apples, "cox", object("cox"))); err != nil {
		t.Error(err)
	}
	o.write(apples, "bad", "")
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); {
		updated := f.Updated()
		o.mu.Lock()
		isListed := slices.Equal(o.received[apples], []string{"cox"})
		o.mu.Unlock()
		if isListed {
			return
		}
		select {
		case <-updated:
		case <-time.After(time.Second):
		}
	}
	t.Error("the resource was not listed after its unreadable object was deleted, want it listed")
}

// TestStartFailsOnClosedCache: Start returns ErrClosed if the cache is closed.
func TestStartFailsOnClosedCache(t *testing.T) {
	o := newFixture(t)
	o.cache.Close()
	_, err := informer.Start(t.Context(), informer.Options{Cache: o.cache, Kinds: []string{apples}, Handler: informer.SnapshotHandler(o.set), Log: slog.New(slog.DiscardHandler)})
	if !errors.Is(err, watchcache.ErrClosed) {
		t.Errorf("Start() = %v, want ErrClosed", err)
	}
}
