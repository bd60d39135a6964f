package watchcache

import (
	"fmt"
	"testing"

	"github.com/cadastre/cadastre/internal/lib/testwait"
	"github.com/cadastre/cadastre/internal/storage"
)

// recalled opens a cache and waits until it has recalled the past.
func recalled(t *testing.T, s storage.Store, o Options) *Cache {
	t.Helper()
	c := openCache(t, s, o)
	k := c.kind(pods)
	testwait.For(t, "the window to reach back before the cache was opened", func() bool {
		k.mu.RLock()
		defer k.mu.RUnlock()
		return k.horizon < k.last
	})
	return c
}

// TestRecall: after a restart, watches and lists of the past come from the window, which is as it
// would have been.
func TestRecall(t *testing.T) {
	s := openStore(t)
	first := openCache(t, s, Options{})
	for i := range 300 {
		key := podKey("default", nameOf(i%20))
		put(t, first, key, pod(key.Name, []string{"web", "db"}[i%3/2], "n1", 100))
		if i%7 == 0 {
			remove(t, first, key)
		}
	}
	second := recalled(t, s, Options{})
	if got := second.kind(pods).horizon; got != 0 {
		t.Fatalf("recalled from %d on", got)
	}
	if first, second := first.windowBytes.Load(), second.windowBytes.Load(); second > first || second < first*8/10 {
		t.Errorf("the window has %d bytes, had %d", second, first)
	}
	web := Selection{Labels: labelSelector(t, "app=web")}
	for _, after := range []storage.Revision{0, 1, 50, 200} {
		want, got := watch(t, first, WatchOptions{Selection: web, After: after}), watch(t, second, WatchOptions{Selection: web, After: after})
		if got.old != nil {
			t.Errorf("a watch after %d reads the store", after)
		}
		if want, got := fmt.Sprint(next(t, want, 50)), fmt.Sprint(next(t, got, 50)); want != got {
			t.Errorf("after %d: %s, want %s", after, got, want)
		}
		q := Query{Selection: web, Freshness: Exactly(after)}
		if want, got := names(listed(t, first, q)), names(listed(t, second, q)); want != got {
			t.Errorf("at %d: %s, want %s", after, got, want)
		}
	}
	// Versions are shared between events, and with what is now.
	seen := map[string]*Object{}
	for _, e := range second.kind(pods).all.events.list {
		if before := seen[e.key()]; before != e.before {
			t.Fatalf("%d: the version before is another object", e.revision)
		}
		seen[e.key()] = e.after
	}
	for key, o := range seen {
		if o != second.kind(pods).objects.get(key) {
			t.Errorf("%s: the last version is another object", key)
		}
	}
}

// TestRecallLittle: it goes back as far as it may, and no further.
func TestRecallLittle(t *testing.T) {
	for name, test := range map[string]struct {
		window  int
		compact storage.Revision
		bad     storage.Revision // where something can't be read
	}{
		"little room":     {window: 40_000},
		"history is gone": {compact: 950},
		"unreadable":      {bad: 400},
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
			c := recalled(t, s, Options{WindowBytes: test.window})
			horizon := c.kind(pods).horizon
			if test.bad > 0 && horizon != test.bad+10 || horizon < test.compact || test.window > 0 && c.windowBytes.Load() > int64(test.window) {
				t.Errorf("recalled from %d on, %d bytes", horizon, c.windowBytes.Load())
			}
			if got := next(t, watch(t, c, WatchOptions{After: horizon}), int(1000-horizon)); got[0] != fmt.Sprintf("MODIFIED default/%s@%d", nameOf(int(horizon%10)), horizon+1) {
				t.Error(got[0])
			}
			// What happens meanwhile is not lost.
			put(t, c, podKey("default", "z"), pod("z", "web", "n1", 0))
			if got := next(t, watch(t, c, WatchOptions{After: 999}), 2); got[1] != "ADDED default/z@1001" {
				t.Error(got)
			}
		})
	}
}

// TestRecallTooLate: a window that has moved on is left alone.
func TestRecallTooLate(t *testing.T) {
	k := testKind(nil)
	k.horizon = 10
	earlier := []*event{{kind: k, revision: 4, after: &Object{kind: k, key: "core/pods/default/a"}}}
	k.extend(earlier, 3, 9)
	if k.horizon != 10 || len(k.all.events.list) != 0 {
		t.Error("the window was extended")
	}
	k.extend(earlier, 3, 10)
	if k.horizon != 3 || len(k.all.events.list) != 1 || k.all.events.first != -1 || k.bytes.Load() == 0 {
		t.Error("the window was not extended")
	}
}
