package watchcache

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cadastre/cadastre/internal/storage"
)

// TestSelections: for each kind of selection, an object yields ADDED when it starts to match, MODIFIED while it matches and
// DELETED when it stops matching.
func TestSelections(t *testing.T) {
	c := openCache(t, openStore(t), Options{})
	always := []string{"ADDED default/a@1", "MODIFIED default/a@2", "MODIFIED default/a@3", "MODIFIED default/a@4", "DELETED default/a@5"}
	cases := []struct {
		name string
		Selection
		want []string
	}{
		{"all", Selection{}, always},
		{"namespace", Selection{Namespace: "default"}, always},
		{"other namespace", Selection{Namespace: "other"}, nil},
		{"name", Selection{Name: "a"}, always},
		{"other name", Selection{Name: "b", Namespace: "default"}, nil},
		{"name by field", Selection{Fields: fieldSelector(t, "metadata.name=a,metadata.namespace=default")}, always},
		{"two names", Selection{Name: "a", Fields: fieldSelector(t, "metadata.name=b")}, nil},
		{"not this name", Selection{Fields: fieldSelector(t, "metadata.name!=a")}, nil},
		{"label", Selection{Labels: labelSelector(t, "app=web")}, []string{"ADDED default/a@1", "MODIFIED default/a@2", "DELETED default/a@3"}},
		{"label in namespace", Selection{Namespace: "default", Labels: labelSelector(t, "app=db")}, []string{"ADDED default/a@3", "DELETED default/a@4"}},
		{"label not", Selection{Labels: labelSelector(t, "app!=web")}, []string{"ADDED default/a@3", "MODIFIED default/a@4", "DELETED default/a@5"}},
		{"label among", Selection{Labels: labelSelector(t, "app in (web,db)")}, []string{"ADDED default/a@1", "MODIFIED default/a@2", "MODIFIED default/a@3", "DELETED default/a@4"}},
		{"label exists", Selection{Labels: labelSelector(t, "app")}, always},
		{"field", Selection{Fields: fieldSelector(t, "spec.nodeName=n2")}, []string{"ADDED default/a@2", "MODIFIED default/a@3", "DELETED default/a@4"}},
		{"field and label", Selection{Fields: fieldSelector(t, "spec.nodeName=n2"), Labels: labelSelector(t, "app=db")}, []string{"ADDED default/a@3", "DELETED default/a@4"}},
		{"field not", Selection{Fields: fieldSelector(t, "spec.nodeName!=n1")}, []string{"ADDED default/a@2", "MODIFIED default/a@3", "DELETED default/a@4"}},
	}
	var early, late []*Watcher
	for _, test := range cases {
		early = append(early, watch(t, c, WatchOptions{Selection: test.Selection}))
	}
	put(t, c, podKey("default", "a"), pod("a", "web", "n1", 0))
	put(t, c, podKey("default", "a"), pod("a", "web", "n2", 0))
	put(t, c, podKey("default", "a"), pod("a", "db", "n2", 0))
	put(t, c, podKey("default", "a"), pod("a", "cache", "n1", 0))
	remove(t, c, podKey("default", "a"))
	for _, test := range cases {
		late = append(late, watch(t, c, WatchOptions{Selection: test.Selection}))
	}
	for i, test := range cases {
		for when, w := range map[string]*Watcher{"early": early[i], "late": late[i]} {
			if got := next(t, w, len(test.want)); !slices.Equal(got, test.want) {
				t.Errorf("%s, %s watch: events %v, want %v", test.name, when, got, test.want)
			}
			wantNoEvent(t, w)
		}
	}
}

// TestDeletedHasLastMatch: if an object stops matching, the DELETED event contains its last matching version, and all
// watchers share that object.
func TestDeletedHasLastMatch(t *testing.T) {
	c := openCache(t, openStore(t), Options{})
	put(t, c, podKey("default", "a"), pod("a", "web", "n1", 0))
	put(t, c, podKey("default", "a"), pod("a", "db", "n2", 0))
	remove(t, c, podKey("default", "a"))
	var ended []*Object
	for range 2 {
		w := watch(t, c, WatchOptions{Selection: Selection{Labels: labelSelector(t, "app=web")}, After: 1})
		events, err := w.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got := string(events[0].Object.AppendJSON(nil))
		if want := plainJSON(string(pod("a", "web", "n1", 0)), "2").JSON(); events[0].Type != Deleted || got != want {
			t.Errorf("event = %v %s, want DELETED %s", events[0].Type, got, want)
		}
		ended = append(ended, events[0].Object)
	}
	if ended[0] != ended[1] {
		t.Error("the DELETED events of two watchers contain different objects, want the same one")
	}
}

func TestInitialState(t *testing.T) {
	c := openCache(t, openStore(t), Options{})
	for _, name := range []string{"b", "a", "c"} {
		put(t, c, podKey("default", name), pod(name, "web", "n1", 0))
	}
	put(t, c, podKey("other", "d"), pod("d", "db", "n1", 0))
	w := watch(t, c, WatchOptions{Selection: Selection{Labels: labelSelector(t, "app=web")}, InitialState: true})
	put(t, c, podKey("default", "e"), pod("e", "web", "n1", 0))
	want := []string{"ADDED default/a@2", "ADDED default/b@1", "ADDED default/c@3", "INITIAL-END 4", "ADDED default/e@5"}
	if got := next(t, w, 5); !slices.Equal(got, want) {
		t.Errorf("events %v, want %v", got, want)
	}
	empty := watch(t, c, WatchOptions{Selection: Selection{Name: "absent"}, InitialState: true, Freshness: NotOlderThan(5)})
	if got := next(t, empty, 1); got[0] != "INITIAL-END 5" {
		t.Errorf("events = %v, want INITIAL-END 5", got)
	}
}

// TestLargeInitialState: a large initial state is delivered in parts, all from one snapshot.
func TestLargeInitialState(t *testing.T) {
	s := openStore(t)
	var writes []storage.Write
	for i := range 3000 {
		key := podKey("default", nameOf(i))
		writes = append(writes, storage.Write{Key: key.String(), Value: pod(key.Name, "web", "n1", 0)})
	}
	if _, err := s.Commit(t.Context(), writes...); err != nil {
		t.Fatal(err)
	}
	c := openCache(t, s, Options{})
	w := watch(t, c, WatchOptions{InitialState: true})
	first, err := w.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := len(first)
	put(t, c, podKey("default", "zzz"), pod("zzz", "web", "n1", 0))
	remove(t, c, podKey("default", nameOf(2999)))
	for got < 3000+1+2 {
		events, err := w.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got += len(events)
		if last := events[len(events)-1]; last.Type == InitialEnd && (got != 3001 || last.Revision != 1) {
			t.Errorf("initial state ended after %d events at revision %d, want 3001 at 1", got, last.Revision)
		}
	}
	if got != 3003 {
		t.Errorf("%d events were delivered, want 3003", got)
	}
}

func nameOf(i int) string {
	return "pod-" + string(rune('a'+i/676%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i%26)) + strings.Repeat("x", i/17576)
}

// TestBookmarks: bookmarks are sent when a watch is idle, and report the progress of all resources.
func TestBookmarks(t *testing.T) {
	c := openCache(t, openStore(t), Options{})
	w := watch(t, c, WatchOptions{Selection: Selection{Namespace: "default"}, Bookmarks: 5 * time.Millisecond})
	put(t, c, podKey("default", "a"), pod("a", "web", "n1", 0))
	if got := next(t, w, 1); got[0] != "ADDED default/a@1" {
		t.Errorf("first event = %s, want ADDED default/a@1", got[0])
	}
	wantNoEvent(t, w) // the event has reported that revision already, so there must be no bookmark
	if _, _, err := c.Commit(t.Context(), storage.Write{Key: "core/nodes/n1", Value: []byte(`{"metadata":{"name":"n1"}}`)}); err != nil {
		t.Fatal(err)
	}
	if got := next(t, w, 1); got[0] != "BOOKMARK 2" {
		t.Errorf("first event = %s, want BOOKMARK 2", got[0])
	}
	wantNoEvent(t, w) // the last bookmark has reported that revision already, so there must be no further one
	put(t, c, podKey("other", "b"), pod("b", "web", "n1", 0))
	if got := next(t, w, 1); got[0] != "BOOKMARK 3" {
		t.Errorf("first event = %s, want BOOKMARK 3", got[0])
	}
}

// TestSlowWatcher: a watcher fails with ErrTooOld if its next event was dropped from the window; a watcher whose selection
// has no events does not fail.
func TestSlowWatcher(t *testing.T) {
	c := openCache(t, openStore(t), Options{WindowBytes: 64 << 10})
	slow := watch(t, c, WatchOptions{})
	starting := watch(t, c, WatchOptions{InitialState: true})
	idle := watch(t, c, WatchOptions{Selection: Selection{Labels: labelSelector(t, "app=db")}})
	for range 200 {
		put(t, c, podKey("default", "a"), pod("a", "web", "n1", 1000))
	}
	for name, w := range map[string]*Watcher{"slow": slow, "starting": starting} {
		if _, err := w.Next(t.Context()); !errors.Is(err, ErrTooOld) {
			t.Errorf("%s watcher: Next() = %v, want ErrTooOld", name, err)
		}
	}
	if starting.initial.Load() != nil {
		t.Error("a watcher that failed with ErrTooOld retains its initial state")
	}
	put(t, c, podKey("default", "b"), pod("b", "db", "n1", 0))
	if got := next(t, idle, 1); got[0] != "ADDED default/b@201" {
		t.Errorf("first event = %s, want ADDED default/b@201", got[0])
	}
	inspectTrimmed(t, c, func(rc *resourceCache) {
		if bytes := rc.bytes.Load(); len(rc.all.events.list) > 60 || c.windowBytes.Load() != bytes {
			t.Errorf("window has %d events with %d bytes, want at most 60 events", len(rc.all.events.list), bytes)
		}
		for _, topic := range rc.topics.byKey {
			if len(topic.events.list) > 1 {
				t.Errorf("topic %v has %d events, want at most 1", topic.key, len(topic.events.list))
			}
		}
	})
}

// TestHistoryWatch: a watch that starts before the event window reads the store's history, and then continues with the
// window.
func TestHistoryWatch(t *testing.T) {
	s := openStore(t)
	c := openCache(t, s, Options{WindowBytes: 16 << 10})
	for i := range 1000 {
		put(t, c, podKey("default", nameOf(i%10)), pod(nameOf(i%10), []string{"web", "db"}[i/10%2], "n1", 1000))
	}
	w := watch(t, c, WatchOptions{Selection: Selection{Labels: labelSelector(t, "app=db")}, After: 5})
	for revision := storage.Revision(11); revision <= 1000; {
		events, err := w.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			want := Added
			if int(revision-1)/10%2 == 0 {
				want = Deleted
			}
			if e.Revision != revision || e.Type != want {
				t.Fatalf("event = %s, want %v at revision %d", eventText(e), want, revision)
			}
			revision++
		}
	}
	put(t, c, podKey("default", "new"), pod("new", "db", "n1", 0))
	if got := next(t, w, 1); got[0] != "ADDED default/new@1001" || w.history != nil {
		t.Errorf("first event = %s, want ADDED default/new@1001, from the event window", got[0])
	}
	// The first call of Next of a watch whose selection has no events in the history continues with the window.
	var before storage.Revision
	inspectTrimmed(t, c, func(rc *resourceCache) { before = rc.horizon - 1 })
	quiet := watch(t, c, WatchOptions{After: before, Selection: Selection{Name: "absent"}})
	wantNoEvent(t, quiet)
	if quiet.history != nil {
		t.Error("watcher still reads the history, want the window")
	}
	if err := s.Compact(t.Context(), 100); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Watch(t.Context(), WatchOptions{Selection: Selection{Kind: pods}, After: 50}); !errors.Is(err, ErrTooOld) {
		t.Errorf("Watch(after 50) = %v, want ErrTooOld", err)
	}
}

// TestFutureWatch: a watch after a future revision delivers only later events.
func TestFutureWatch(t *testing.T) {
	c := openCache(t, openStore(t), Options{})
	w := watch(t, c, WatchOptions{After: 2})
	for range 3 {
		put(t, c, podKey("default", "a"), pod("a", "web", "n1", 0))
	}
	if got := next(t, w, 1); got[0] != "MODIFIED default/a@3" {
		t.Errorf("first event = %s, want MODIFIED default/a@3", got[0])
	}
}

func TestWatchEnds(t *testing.T) {
	s := openStore(t)
	c := openCache(t, s, Options{})
	w := watch(t, c, WatchOptions{})
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := w.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Next() = %v, want context.DeadlineExceeded", err)
	}
	ended := waitInBackground(t, w)
	c.Close()
	if err := <-ended; !errors.Is(err, ErrClosed) {
		t.Errorf("Next() = %v, want ErrClosed", err)
	}
	if _, err := c.Watch(t.Context(), WatchOptions{Selection: Selection{Kind: pods}}); !errors.Is(err, ErrClosed) {
		t.Errorf("Watch() = %v, want ErrClosed", err)
	}
	if _, err := c.Get(t.Context(), podKey("default", "a"), Any); !errors.Is(err, ErrClosed) {
		t.Errorf("Get() = %v, want ErrClosed", err)
	}
	w.Close()
	w.Close()
	if topics := len(c.resource(pods).topics.byKey); topics != 0 {
		t.Errorf("%d topics are left after Close, want none", topics)
	}
}

// TestTopicRemovedWithLastWatcher: a topic exists as long as it has a subscription.
func TestTopicRemovedWithLastWatcher(t *testing.T) {
	c := openCache(t, openStore(t), Options{})
	web := WatchOptions{Selection: Selection{Labels: labelSelector(t, "app=web")}}
	first, second := watch(t, c, web), watch(t, c, web)
	for _, w := range []*Watcher{first, second} {
		if topics := c.resource(pods).topics; len(topics.byKey) != 1 || topics.labels["app"] != 1 {
			t.Errorf("topics = %+v, want one for label app", topics)
		}
		w.Close()
	}
	if topics := c.resource(pods).topics; len(topics.byKey) != 0 || len(topics.labels) != 0 {
		t.Errorf("topics after Close = %+v, want none", topics)
	}
}

func TestUnknownField(t *testing.T) {
	c := openCache(t, openStore(t), Options{})
	_, err := c.Watch(t.Context(), WatchOptions{Selection: Selection{Kind: pods, Fields: fieldSelector(t, "spec.color=red")}})
	var unknown *UnknownFieldError
	if !errors.As(err, &unknown) || !strings.Contains(err.Error(), "spec.nodeName") {
		t.Error(err)
	}
}

// TestIdleWatchersAreSmall: a waiting watcher releases buffers that have grown for large batches.
func TestIdleWatchersAreSmall(t *testing.T) {
	c := openCache(t, openStore(t), Options{})
	var writes []storage.Write
	for i := range 2000 {
		writes = append(writes, storage.Write{Key: podKey("default", nameOf(i)).String(), Value: pod(nameOf(i), "web", "n1", 0)})
	}
	large := watch(t, c, WatchOptions{})
	if _, _, err := c.Commit(t.Context(), writes...); err != nil {
		t.Fatal(err)
	}
	initial := watch(t, c, WatchOptions{InitialState: true})
	next(t, large, 2000)
	next(t, initial, 2001)
	for _, w := range []*Watcher{large, initial} {
		wantNoEvent(t, w)
		if cap(w.events) > maxIdleBuffer || cap(w.taken) > maxIdleBuffer {
			t.Errorf("cap(w.events) = %d, cap(w.taken) = %d, want at most maxIdleBuffer", cap(w.events), cap(w.taken))
		}
	}
}

// TestNextAfterEnd: after the watch has ended, every call of Next returns the error that ended it.
func TestNextAfterEnd(t *testing.T) {
	c := openCache(t, openStore(t), Options{WindowBytes: 1000})
	closed := watch(t, c, WatchOptions{Selection: Selection{Namespace: "a"}})
	closed.Close()
	slow := watch(t, c, WatchOptions{})
	for range 20 {
		put(t, c, podKey("a", "x"), pod("x", "web", "n1", 0))
	}
	for range 2 {
		if _, err := closed.Next(t.Context()); !errors.Is(err, ErrClosed) {
			t.Errorf("Next() = %v, want ErrClosed", err)
		}
		if _, err := slow.Next(t.Context()); !errors.Is(err, ErrTooOld) {
			t.Errorf("Next() = %v, want ErrTooOld", err)
		}
	}
}

// TestCloseDuringHistory: closing the cache ends a watch that waits for the store's history.
func TestCloseDuringHistory(t *testing.T) {
	s := openStore(t)
	if _, err := s.Commit(t.Context(), storage.Write{Key: podKey("default", "a").String(), Value: pod("a", "web", "n1", 0)}); err != nil {
		t.Fatal(err)
	}
	c := openCache(t, delayedStore{s, make(chan struct{})}, Options{WindowBytes: -1})
	w := watch(t, c, WatchOptions{})
	if w.history == nil {
		t.Fatal("precondition failed: want a watcher that reads the store's history")
	}
	ended := waitInBackground(t, w)
	c.Close()
	if err := <-ended; !errors.Is(err, ErrClosed) {
		t.Errorf("Next() = %v, want ErrClosed", err)
	}
}
