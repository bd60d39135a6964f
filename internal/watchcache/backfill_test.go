package watchcache

import (
	"fmt"
	"testing"

	"github.com/cadastre/cadastre/internal/lib/testwait"
	"github.com/cadastre/cadastre/internal/storage"
)

// openBackfilled opens a cache and waits for the backfill of its window.
func openBackfilled(t *testing.T, s storage.Store, o Options) *Cache {
	t.Helper()
	c := openCache(t, s, o)
	k := c.resource(pods)
	testwait.For(t, "the window to reach back before the cache was opened", func() bool {
		k.mu.RLock()
		defer k.mu.RUnlock()
		return k.horizon < k.last
	})
	return c
}

// TestBackfill: after a restart, watches and lists at earlier revisions are served from the window, with the same
// results as before.
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
		t.Errorf("window has %d bytes after the restart, %d before", second, first)
	}
	web := Selection{Labels: labelSelector(t, "app=web")}
	for _, after := range []storage.Revision{0, 1, 50, 200} {
		want, got := watch(t, first, WatchOptions{Selection: web, After: after}), watch(t, second, WatchOptions{Selection: web, After: after})
		if got.history != nil {
			t.Errorf("watch after %d reads the store's history, want the window", after)
		}
		if want, got := fmt.Sprint(next(t, want, 50)), fmt.Sprint(next(t, got, 50)); want != got {
			t.Errorf("watch after %d: events %s, want %s", after, got, want)
		}
		q := Query{Selection: web, Freshness: Exactly(after)}
		if want, got := names(listed(t, first, q)), names(listed(t, second, q)); want != got {
			t.Errorf("list at %d = %s, want %s", after, got, want)
		}
	}
	// Versions are shared between events, and with the current objects.
	seen := map[string]*Object{}
	for _, e := range second.resource(pods).all.events.list {
		if before := seen[e.key()]; before != e.before {
			t.Fatalf("event %d: the version before is not shared with the previous event", e.revision)
		}
		seen[e.key()] = e.after
	}
	for key, o := range seen {
		if o != second.resource(pods).objects.get(key) {
			t.Errorf("%s: the last version is not shared with the current object", key)
		}
	}
}

// TestBackfillLimits: the backfill stops at the size limit, at the compacted revision and at an unreadable value.
func TestBackfillLimits(t *testing.T) {
	for name, test := range map[string]struct {
		window  int
		compact storage.Revision
		bad     storage.Revision // the revision of an unreadable value
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
				t.Errorf("horizon after the backfill = %d, window has %d bytes", horizon, c.windowBytes.Load())
			}
			if got := next(t, watch(t, c, WatchOptions{After: horizon}), int(1000-horizon)); got[0] != fmt.Sprintf("MODIFIED default/%s@%d", nameOf(int(horizon%10)), horizon+1) {
				t.Error(got[0])
			}
			// New events follow the backfilled ones.
			put(t, c, podKey("default", "z"), pod("z", "web", "n1", 0))
			if got := next(t, watch(t, c, WatchOptions{After: 999}), 2); got[1] != "ADDED default/z@1001" {
				t.Error(got)
			}
		})
	}
}

// TestBackfillTooLate: a window whose horizon has moved during the backfill is not extended.
func TestBackfillTooLate(t *testing.T) {
	k := testKind(nil)
	k.horizon = 10
	earlier := []*event{{resource: k, revision: 4, after: &Object{resource: k, key: "core/pods/default/a"}}}
	k.prependEvents(earlier, 3, 9)
	if k.horizon != 10 || len(k.all.events.list) != 0 {
		t.Error("prependEvents extended a window whose horizon has moved")
	}
	k.prependEvents(earlier, 3, 10)
	if k.horizon != 3 || len(k.all.events.list) != 1 || k.all.events.first != -1 || k.bytes.Load() == 0 {
		t.Error("prependEvents did not extend the window")
	}
}
