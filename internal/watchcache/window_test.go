package watchcache

import (
	"testing"

	"github.com/cadastre/cadastre/internal/storage"
)

// TestTakeWholeCommits: take returns all events of a commit or none.
func TestTakeWholeCommits(t *testing.T) {
	var e events
	for _, revision := range []storage.Revision{1, 2, 2, 2, 3} {
		e.add(&event{revision: revision, after: &Object{text: "0123456789"}})
	}
	e.dropFirst()
	for _, test := range []struct {
		from             int64
		maxEvents, bytes int
		want             int
	}{{1, 1, 99, 3}, {1, 3, 99, 3}, {1, 4, 99, 4}, {1, 9, 99, 4}, {4, 1, 99, 1}, {5, 1, 99, 0}, {1, 9, 1, 3}, {1, 9, 30, 3}, {1, 9, 31, 4}} {
		if got := e.take(nil, test.from, test.maxEvents, test.bytes); len(got) != test.want {
			t.Errorf("take(%+v) = %d events, want %d", test, len(got), test.want)
		}
	}
	for revision, want := range map[storage.Revision]int64{0: 1, 1: 1, 2: 4, 3: 5, 9: 5} {
		if got := e.after(revision); got != want {
			t.Errorf("after(%d) = %d, want %d", revision, got, want)
		}
	}
}

// TestWindowReleasesOldState: topics and past snapshots contain nothing from before the horizon.
func TestWindowReleasesOldState(t *testing.T) {
	c := openCache(t, openStore(t), Options{WindowBytes: 10_000})
	watch(t, c, WatchOptions{Selection: Selection{Labels: labelSelector(t, "app=web")}})
	watch(t, c, WatchOptions{Selection: Selection{Name: "a"}})
	put(t, c, podKey("default", "b"), pod("b", "web", "n1", 0))
	for range 100 {
		put(t, c, podKey("default", "a"), pod("a", "web", "n1", 1000))
		mustList(t, c, Query{Limit: 1}) // makes the cache retain a snapshot for the next page of this list
		mustList(t, c, Query{Freshness: Exactly(c.progress.revision() - 1)})
		inspectTrimmed(t, c, func(rc *resourceCache) {
			if len(rc.all.events.list) > 9 {
				t.Fatalf("window has %d events, want at most 9", len(rc.all.events.list))
			}
			for _, topic := range rc.topics.byKey {
				if len(topic.events.list) > len(rc.all.events.list) {
					t.Fatalf("topic has %d events of %v, want at most %d, the number of events of the window", len(topic.events.list), topic.key, len(rc.all.events.list))
				}
			}
			for _, state := range rc.past {
				if state.revision < rc.horizon {
					t.Fatalf("past snapshot at revision %d exists, want none before the horizon %d", state.revision, rc.horizon)
				}
			}
			if c.progress.revision() > 10 && (len(rc.past) == 0 || rc.horizon == 0) {
				t.Fatal("precondition failed: want past snapshots and a trimmed window")
			}
		})
	}
	// A new snapshot of a revision before the horizon is not retained.
	rc := c.resource(pods)
	rc.retainSnapshot(rc.horizon-1, tree{})
	if _, known := rc.past.get(rc.horizon - 1); known {
		t.Error("retainSnapshot() retained a snapshot from before the horizon, want it discarded")
	}
}

// TestWindowIsFair: the events of a busy resource do not evict the events of a quiet resource.
func TestWindowIsFair(t *testing.T) {
	c := openCache(t, openStore(t), Options{WindowBytes: 10_000})
	node := Key{Kind: "core/nodes", Name: "n1"}
	put(t, c, node, []byte(`{"metadata":{"name":"n1"}}`))
	put(t, c, node, []byte(`{"metadata":{"name":"n1"}}`))
	for range 100 {
		put(t, c, podKey("default", "a"), pod("a", "web", "n1", 1000))
	}
	inspectTrimmed(t, c, func(*resourceCache) {})
	if horizon := c.resource(node.Kind).horizon; horizon != 0 {
		t.Errorf("horizon of the quiet resource = %d, want 0", horizon)
	}
}

// TestDroppedEventsAreReleased: the queue does not keep a reference to a dropped event.
func TestDroppedEventsAreReleased(t *testing.T) {
	var e events
	e.add(&event{})
	list := e.list
	e.dropFirst()
	if list[0] != nil {
		t.Error("the queue references the dropped event, want it released")
	}
}

// TestRevisionOfLists: a list has the revision of the resource's last event if that revision is greater than progress.
func TestRevisionOfLists(t *testing.T) {
	c := openCache(t, openStore(t), Options{})
	put(t, c, podKey("default", "a"), pod("a", "web", "n1", 0))
	rc := c.resource(pods)
	for progress, want := range map[storage.Revision]storage.Revision{0: 1, 1: 1, 5: 5} {
		if _, got, err := rc.latestSnapshot(&matcher{}, progress); got != want || err != nil {
			t.Errorf("latestSnapshot() at progress %d = revision %d, want %d (%v)", progress, got, want, err)
		}
	}
}

// TestWaitingWatcherReleasesObjects: the buffers of a waiting watcher reference no objects or events.
func TestWaitingWatcherReleasesObjects(t *testing.T) {
	c := openCache(t, openStore(t), Options{})
	w := watch(t, c, WatchOptions{})
	put(t, c, podKey("default", "a"), pod("a", "web", "n1", 0))
	next(t, w, 1)
	wantNoEvent(t, w)
	for _, e := range w.events[:cap(w.events)] {
		if e.Object != nil {
			t.Error("the result buffer references an object, want nil")
		}
	}
	for _, e := range w.taken[:cap(w.taken)] {
		if e != nil {
			t.Error("the topic buffer references an event, want nil")
		}
	}
}
