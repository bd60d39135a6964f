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
	return &fixture{T: t, store: s, cache: watchcachetest.OpenOn(t, s), received: map[string][]string{}}
}

func (f *fixture) set(kind string, objects map[string]*watchcache.Object) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.received[kind] = slices.Sorted(maps.Keys(objects))
}

func (f *fixture) start() *informer.Informer {
	f.Helper()
	i, err := informer.Start(f.Context(), informer.Options{
		Cache: f.cache, Kinds: []string{apples, pears}, Handler: informer.SnapshotHandler(f.set), Description: "fruits",
		Log: slog.New(slog.NewTextHandler(io.MultiWriter(&f.log, f.Output()), nil)),
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(i.Close)
	return i
}

// write creates or replaces the object with the given value, or deletes it if value is "". It returns the revision of the
// commit.
func (f *fixture) write(kind, name, value string) storage.Revision {
	f.Helper()
	key := watchcache.Key{Kind: kind, Name: name}.String()
	w := storage.Write{Key: key}
	if there, err := f.store.Get(f.Context(), key); err == nil {
		w.Expected = there.Revision
	}
	if value != "" {
		w.Value = []byte(value)
	}
	revision, err := f.store.Commit(f.Context(), w)
	if err != nil {
		f.Fatal(err)
	}
	return revision
}

func object(name string) string {
	return `{"apiVersion":"example.com/v1","kind":"Fruit","metadata":{"name":"` + name + `"}}`
}

func (f *fixture) want(kind string, names ...string) {
	f.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if !slices.Equal(f.received[kind], names) {
		f.Errorf("%s: handler has %v, want %v", kind, f.received[kind], names)
	}
}

// TestInformer: the handler has received all objects when Start returns, and a written object when Sync returns.
func TestInformer(t *testing.T) {
	f := newFixture(t)
	f.write(apples, "cox", object("cox"))
	i := f.start()
	f.want(apples, "cox")
	f.want(pears)
	for _, step := range []struct {
		kind, name, value string
		want              []string
	}{
		{apples, "boskoop", object("boskoop"), []string{"boskoop", "cox"}},
		{apples, "cox", "", []string{"boskoop"}},
		{apples, "cox", object("cox"), []string{"boskoop", "cox"}},
		{pears, "williams", object("williams"), []string{"williams"}},
	} {
		updated := i.Updated()
		revision := f.write(step.kind, step.name, step.value)
		if err := i.Sync(t.Context(), step.kind, revision); err != nil {
			t.Fatal(err)
		}
		f.want(step.kind, step.want...)
		<-updated
	}
}

// TestSync: Sync waits only for watched resources, and returns when the context ends or the informer is closed.
func TestSync(t *testing.T) {
	f := newFixture(t)
	i := f.start()
	const never = 1 << 40
	if err := i.Sync(t.Context(), "example.com/plums", never); err != nil {
		t.Error(err)
	}
	if err := (*informer.Informer)(nil).Sync(t.Context(), apples, never); err != nil {
		t.Error(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := i.Sync(short, apples, never); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Sync() = %v, want context.DeadlineExceeded", err)
	}
	time.AfterFunc(10*time.Millisecond, i.Close)
	if err := i.Sync(t.Context(), apples, never); !errors.Is(err, watchcache.ErrClosed) {
		t.Errorf("Sync() = %v, want ErrClosed", err)
	}
	<-i.Done()
}

// TestUnreadableObject: an unreadable object does not block Start or Sync; when the object is deleted, its resource is listed
// again.
func TestUnreadableObject(t *testing.T) {
	f := newFixture(t)
	f.write(apples, "bad", "{")
	i := f.start()
	f.want(apples)
	if !strings.Contains(f.log.String(), "cannot list resource; keeping the previous state") {
		t.Errorf("log = %q, want a message that the resource cannot be listed", f.log.String())
	}
	if err := i.Sync(t.Context(), apples, f.write(apples, "cox", object("cox"))); err != nil {
		t.Error(err)
	}
	f.write(apples, "bad", "")
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); {
		updated := i.Updated()
		f.mu.Lock()
		isListed := slices.Equal(f.received[apples], []string{"cox"})
		f.mu.Unlock()
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
	f := newFixture(t)
	f.cache.Close()
	_, err := informer.Start(t.Context(), informer.Options{Cache: f.cache, Kinds: []string{apples}, Handler: informer.SnapshotHandler(f.set), Log: slog.New(slog.DiscardHandler)})
	if !errors.Is(err, watchcache.ErrClosed) {
		t.Errorf("Start() = %v, want ErrClosed", err)
	}
}
