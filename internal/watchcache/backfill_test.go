package watchcache

import (
	"fmt"
	"testing"

	"github.com/cadastre/cadastre/internal/lib/testwait"
	"github.com/cadastre/cadastre/internal/storage"
)

// openBackfilled opens a cache and waits until the backfill of its event window has finished.
func openBackfilled(t *testing.T, s storage.Store, o Options) *Cache {
	t.Helper()
	c := openCache(t, s, o)
	rc := c.resource(pods)
	testwait.For(t, "the window to reach back before the cache was opened", func() bool {
		rc.mu.RLock()
		defer rc.mu.RUnlock()
		return rc.horizon < rc.last
	})
	return c
}

// TestBackfill: after a restart, watches and lists at earlier revisions are served from the event window, with the same
// results as before the restart.
func TestBackfill(t *testing.T) {
	s := openStore(t)
	first := openCache(t, s, Options{})
	for i := range 300 {
		key := podKey("default", nameOf(i%20))
		put(t, first, key, pod(key.Name, []string{"web", "db"}[i%3/2], "n1", 100))
		if i%7 == 0 {
			remove(t, first, key)
		}
	}
	second := openBackfilled(t, s, Options{})
	if got := second.resource(pods).horizon; got != 0 {
		t.Fatalf("horizon after the backfill = %d, want 0", got)
	}
	if first, second := first.windowBytes.Load(), second.windowBytes.Load(); second > first || second < first*8/10 {
		t.Errorf("size of the window after the restart = %d bytes, want %d as before", second, first)
	}
	web := Selection{Labels: labelSelector(t, "app=web")}
	for _, after := range []storage.Revision{0, 1, 50, 200} {
		want, got := watch(t, first, WatchOptions{Selection: web, After: after}), watch(t, second, WatchOptions{Selection: web, After: after})
		if got.history != nil {
			t.Errorf("watch after revision %d reads the store's history, want it to read the event window", after)
		}
		if want, got := fmt.Sprint(next(t, want, 50)), fmt.Sprint(next(t, got, 50)); want != got {
			t.Errorf("watch after revision %d: events %s, want %s", after, got, want)
		}
		q := Query{Selection: web, Freshness: Exactly(after)}
		if want, got := names(mustList(t, first, q)), names(mustList(t, second, q)); want != got {
			t.Errorf("list at revision %d = %s, want %s", after, got, want)
		}
	}
	// Consecutive events of an object share its versions, and the last event shares the current object.
	seen := map[string]*Object{}
	for _, e := range second.resource(pods).all.events.list {
		if before := seen[e.key()]; before != e.before {
			t.Fatalf("event at revision %d: its version before the change is a copy, want the object of the previous event", e.revision)
		}
		seen[e.key()] = e.after
	}
	for key, o := range seen {
		if o != second.resource(pods).objects.get(key) {
			t.Errorf("%s: the object of the last event is a copy, want the current object", key)
		}
	}
}

// TestBackfillLimits: the backfill, which goes back in history, ends at the size limit, the compacted revision or an
// unreadable value, whichever it reaches first.
func TestBackfillLimits(t *testing.T) {
	for name, test := range map[string]struct {
		window  int
		compact storage.Revision
		bad     storage.Revision // the revision at which an unreadable value is written; 0 means none
	}{
		"small window": {window: 40_000},
		"compacted":    {compact: 950},
		"unreadable":   {bad: 400},
	} {
		t.Run(name, func(t *testing.T) {
			s := openStore(t)
			for i := range storage.Revision(1000) {
				key, value := podKey("default", nameOf(int(i%10))), pod(nameOf(int(i%10)), "web", "n1", 1000)
				expected := max(0, i+1-10)
				if i+1 == test.bad {
					value = []byte("rubbish")
				}
				if _, err := s.Commit(t.Context(), storage.Write{Key: key.String(), Expected: expected, Value: value}); err != nil {
					t.Fatal(err)
				}
			}
			if test.compact > 0 {
				if err := s.Compact(t.Context(), test.compact); err != nil {
					t.Fatal(err)
				}
			}
			c := openBackfilled(t, s, Options{WindowBytes: test.window})
			horizon := c.resource(pods).horizon
			if test.bad > 0 && horizon != test.bad+10 || horizon < test.compact || test.window > 0 && c.windowBytes.Load() > int64(test.window) {
				t.Errorf("horizon after the backfill = %d, size of the window = %d bytes, want both within the limits of %+v", horizon, c.windowBytes.Load(), test)
			}
			if got := next(t, watch(t, c, WatchOptions{After: horizon}), int(1000-horizon)); got[0] != fmt.Sprintf("MODIFIED default/%s@%d", nameOf(int(horizon%10)), horizon+1) {
				t.Errorf("first event = %s, want the MODIFIED event at revision %d", got[0], horizon+1)
			}
			// Events of new commits follow the backfilled events.
			put(t, c, podKey("default", "z"), pod("z", "web", "n1", 0))
			if got := next(t, watch(t, c, WatchOptions{After: 999}), 2); got[1] != "ADDED default/z@1001" {
				t.Errorf("second event = %s, want ADDED default/z@1001", got[1])
			}
		})
	}
}

// TestBackfillTooLate: the backfill does not extend a window that was trimmed while the backfill was reading.
func TestBackfillTooLate(t *testing.T) {
	rc := testKind(nil)
	rc.horizon = 10
	earlier := []*event{{resource: rc, revision: 4, after: &Object{resource: rc, key: "core/pods/default/a"}}}
	rc.prependEvents(earlier, 3, 9)
	if rc.horizon != 10 || len(rc.all.events.list) != 0 {
		t.Error("prependEvents() extended a window whose horizon has moved, want the window unchanged")
	}
	rc.prependEvents(earlier, 3, 10)
	if rc.horizon != 3 || len(rc.all.events.list) != 1 || rc.all.events.first != -1 || rc.bytes.Load() == 0 {
		t.Error("prependEvents() did not extend a window whose horizon has not moved")
	}
}
