package watchcache

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/cadastre/cadastre/internal/storage"
)

// observedState is an observer that records the current revision of every object, and the calls of Changed that are inconsistent
// with the recorded revisions.
type observedState struct {
	mu     sync.Mutex
	begun  int
	now    map[string]storage.Revision
	errors []string
}

func (n *observedState) Reset() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.begun++
	n.now = map[string]storage.Revision{}
}

func (n *observedState) Changed(before, after *Object) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if before != nil {
		if n.now[before.key] != before.revision {
			n.errors = append(n.errors, fmt.Sprintf("%s: recorded revision %d, Changed received %d as before", before.key, n.now[before.key], before.revision))
		}
		delete(n.now, before.key)
	}
	if after != nil {
		if _, there := n.now[after.key]; there {
			n.errors = append(n.errors, after.key+": created twice")
		}
		n.now[after.key] = after.revision
	}
}

// check compares the recorded state with the lists of some resources.
func (n *observedState) check(t *testing.T, c *Cache, kinds ...string) {
	t.Helper()
	want := map[string]storage.Revision{}
	for _, kind := range kinds {
		list, err := c.List(t.Context(), Query{Selection: Selection{Kind: kind}, Freshness: Latest})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range list.Objects {
			want[o.key] = o.revision
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.errors) > 0 {
		t.Errorf("inconsistent calls of Changed: %v, want none", n.errors)
	}
	if !maps.Equal(n.now, want) {
		t.Errorf("observer has %v, want %v", n.now, want)
	}
}

// TestObserve: an observer receives the complete state no matter when it is registered, and receives each write before the
// write is acknowledged.
func TestObserve(t *testing.T) {
	c := openCache(t, openStore(t), Options{})
	put(t, c, podKey("default", "early"), pod("early", "a", "", 1))
	first, second := &observedState{}, &observedState{}
	defer c.Observe(first)()
	first.check(t, c, pods)
	var writers sync.WaitGroup
	for i := range 8 {
		kind := fmt.Sprintf("example.com/kind%d", i)
		writers.Go(func() {
			for range 50 {
				key := Key{Kind: kind, Namespace: "default", Name: fmt.Sprint("n", rand.N(5))}
				if _, err := c.Get(t.Context(), key, Latest); err == nil && rand.N(3) == 0 {
					remove(t, c, key)
					continue
				}
				put(t, c, key, pod(key.Name, "a", "", 1))
				first.mu.Lock()
				if first.now[key.String()] == 0 {
					t.Errorf("Commit(%s) returned before the observer received the change", key)
				}
				first.mu.Unlock()
			}
		})
	}
	stop := c.Observe(second)
	writers.Wait()
	kinds := []string{pods}
	for i := range 8 {
		kinds = append(kinds, fmt.Sprintf("example.com/kind%d", i))
	}
	first.check(t, c, kinds...)
	second.check(t, c, kinds...)
	stop()
	put(t, c, podKey("default", "late"), pod("late", "a", "", 1))
	if second.now["core/pods/default/late"] != 0 {
		t.Error("observer received a change after stop")
	}
	first.check(t, c, kinds...)
}
