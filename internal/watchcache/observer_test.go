package watchcache

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/cadastre/cadastre/internal/storage"
)

// observedState is an observer that records the current revision of every object, and an error for each call of Changed that
// contradicts the recorded revisions.
type observedState struct {
	mu     sync.Mutex
	begun  int
	now    map[string]storage.Revision
	errors []string
}

func (s *observedState) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begun++
	s.now = map[string]storage.Revision{}
}

func (s *observedState) Changed(before, after *Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if before != nil {
		if s.now[before.key] != before.revision {
			s.errors = append(s.errors, fmt.Sprintf("%s: recorded revision %d, Changed received %d as before", before.key, s.now[before.key], before.revision))
		}
		delete(s.now, before.key)
	}
	if after != nil {
		if _, there := s.now[after.key]; there {
			s.errors = append(s.errors, after.key+": created twice")
		}
		s.now[after.key] = after.revision
	}
}

// check compares the recorded state with lists of the resources in kinds.
func (s *observedState) check(t *testing.T, c *Cache, kinds ...string) {
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
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.errors) > 0 {
		t.Errorf("inconsistent calls of Changed: %v, want none", s.errors)
	}
	if !maps.Equal(s.now, want) {
		t.Errorf("observer has %v, want %v", s.now, want)
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
