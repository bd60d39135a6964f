package watchcache

import (
	"testing"

	"github.com/cadastre/cadastre/internal/storage"
)

// TestTakeWholeCommits: what a commit did is taken whole, or not at all.
func TestTakeWholeCommits(t *testing.T) {
	var e events
	for _, revision := range []storage.Revision{1, 2, 2, 2, 3} {
		e.add(&event{revision: revision, after: &Object{text: "0123456789"}})
	}
	e.dropFirst()
	for _, test := range []struct {
		from        int64
		most, bytes int
		want        int
	}{{1, 1, 99, 3}, {1, 3, 99, 3}, {1, 4, 99, 4}, {1, 9, 99, 4}, {4, 1, 99, 1}, {5, 1, 99, 0}, {1, 9, 1, 3}, {1, 9, 30, 3}, {1, 9, 31, 4}} {
		if got := e.take(nil, test.from, test.most, test.bytes); len(got) != test.want {
			t.Errorf("%+v: %d", test, len(got))
		}
	}
	for revision, want := range map[storage.Revision]int64{0: 1, 1: 1, 2: 4, 3: 5, 9: 5} {
		if got := e.after(revision); got != want {
			t.Errorf("after %d: %d, want %d", revision, got, want)
		}
	}
}

// TestWindowKeepsNothing that is older: neither in topics nor in states of the past.
func TestWindowKeepsNothing(t *testing.T) {
	c := openCache(t, openStore(t), Options{WindowBytes: 10_000})
	watch(t, c, WatchOptions{Selection: Selection{Labels: labelSelector(t, "app=web")}})
	watch(t, c, WatchOptions{Selection: Selection{Name: "a"}})
	put(t, c, podKey("default", "b"), pod("b", "web", "n1", 0))
	for range 100 {
		put(t, c, podKey("default", "a"), pod("a", "web", "n1", 1000))
		listed(t, c, Query{Limit: 1}) // is remembered
		listed(t, c, Query{Freshness: Exactly(c.progress.revision() - 1)})
		settled(t, c, func(k *kind) {
			if len(k.all.events.list) > 9 {
				t.Fatalf("%d events", len(k.all.events.list))
			}
			for _, topic := range k.topics.byKey {
				if len(topic.events.list) > len(k.all.events.list) {
					t.Fatalf("%d events of %v, %d in all", len(topic.events.list), topic.key, len(k.all.events.list))
				}
			}
			for _, state := range k.past {
				if state.revision < k.horizon {
					t.Fatalf("a state at %d, before the horizon at %d", state.revision, k.horizon)
				}
			}
			if c.progress.revision() > 10 && (len(k.past) == 0 || k.horizon == 0) {
				t.Fatal("the test tests nothing")
			}
		})
	}
	// One that comes too late to be remembered is not.
	k := c.kind(pods)
	k.remember(k.horizon-1, tree{})
	if _, known := k.past.use(k.horizon - 1); known {
		t.Error("a state before the horizon is remembered")
	}
}

// TestWindowIsFair: a kind that changes all the time does not take the past from one that doesn't.
func TestWindowIsFair(t *testing.T) {
	c := openCache(t, openStore(t), Options{WindowBytes: 10_000})
	node := Key{Kind: "core/nodes", Name: "n1"}
	put(t, c, node, []byte(`{"metadata":{"name":"n1"}}`))
	put(t, c, node, []byte(`{"metadata":{"name":"n1"}}`))
	for range 100 {
		put(t, c, podKey("default", "a"), pod("a", "web", "n1", 1000))
	}
	settled(t, c, func(*kind) {})
	if horizon := c.kind(node.Kind).horizon; horizon != 0 {
		t.Errorf("the quiet kind has its events after %d", horizon)
	}
}

// TestDroppedEventsGo: nothing keeps them alive.
func TestDroppedEventsGo(t *testing.T) {
	var e events
	e.add(&event{})
	list := e.list
	e.dropFirst()
	if list[0] != nil {
		t.Error("the list has it still")
	}
}

// TestRevisionOfLists: a kind may be ahead of progress for a moment.
func TestRevisionOfLists(t *testing.T) {
	c := openCache(t, openStore(t), Options{})
	put(t, c, podKey("default", "a"), pod("a", "web", "n1", 0))
	k := c.kind(pods)
	for progress, want := range map[storage.Revision]storage.Revision{0: 1, 1: 1, 5: 5} {
		if _, got, err := k.current(&matcher{}, progress); got != want || err != nil {
			t.Errorf("progress %d: a list at %d, want %d (%v)", progress, got, want, err)
		}
	}
}

// TestWaitingKeepsNothing: a watcher that waits keeps no object alive.
func TestWaitingKeepsNothing(t *testing.T) {
	c := openCache(t, openStore(t), Options{})
	w := watch(t, c, WatchOptions{})
	put(t, c, podKey("default", "a"), pod("a", "web", "n1", 0))
	next(t, w, 1)
	silent(t, w)
	for _, e := range w.events[:cap(w.events)] {
		if e.Object != nil {
			t.Error("an object is kept")
		}
	}
	for _, e := range w.taken[:cap(w.taken)] {
		if e != nil {
			t.Error("an event is kept")
		}
	}
}
