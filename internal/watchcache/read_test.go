package watchcache

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/cadastre/cadastre/internal/storage"
)

// names formats a list as text: NAMESPACE/NAME@REVISION of each object, then the revision of the list.
func names(l List) string {
	var b strings.Builder
	for _, o := range l.Objects {
		fmt.Fprintf(&b, "%s/%s@%d ", o.Namespace(), o.Name(), o.Revision())
	}
	fmt.Fprintf(&b, "at %d", l.Revision)
	if l.More {
		fmt.Fprintf(&b, ", %d more", l.Remaining)
	}
	return b.String()
}

func mustList(t testing.TB, c *Cache, q Query) List {
	t.Helper()
	q.Kind = pods
	l, err := c.List(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestGet(t *testing.T) {
	c := openCache(t, openStore(t), Options{})
	put(t, c, podKey("default", "a"), pod("a", "web", "n1", 0))
	o, err := c.Get(t.Context(), podKey("default", "a"), Latest)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(o.AppendJSON(nil)), plainJSON(string(pod("a", "web", "n1", 0)), "1").JSON(); got != want {
		t.Errorf("AppendJSON() = %s, want %s", got, want)
	}
	for _, key := range []Key{podKey("default", "b"), podKey("", "a"), {Kind: "core/nodes", Name: "a"}, {}} {
		if _, err := c.Get(t.Context(), key, Latest); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("Get(%v) = %v, want ErrNotFound", key, err)
		}
	}
}

func TestList(t *testing.T) {
	c := openCache(t, openStore(t), Options{})
	for _, key := range []string{"b/x", "a/y", "a/x", "a-b/x", "c/z"} {
		namespace, name := splitNamespacedName(key)
		put(t, c, podKey(namespace, name), pod(name, "app-"+namespace, "n-"+name, 0))
	}
	put(t, c, Key{Kind: "core/podsets", Namespace: "a", Name: "x"}, pod("x", "web", "n1", 0))
	for _, test := range []struct {
		Query
		want string
	}{
		{Query{}, "a-b/x@4 a/x@3 a/y@2 b/x@1 c/z@5 at 6"},
		{Query{Limit: 2}, "a-b/x@4 a/x@3 at 6, 3 more"},
		{Query{Limit: 5}, "a-b/x@4 a/x@3 a/y@2 b/x@1 c/z@5 at 6"},
		{Query{Limit: 2, After: "core/pods/a/x"}, "a/y@2 b/x@1 at 6, 1 more"},
		{Query{After: "core/pods/b/x"}, "c/z@5 at 6"},
		{Query{After: "core/pods/zzz"}, "at 6"},
		{Query{Selection: Selection{Namespace: "a"}}, "a/x@3 a/y@2 at 6"},
		{Query{Selection: Selection{Namespace: "a"}, Limit: 1}, "a/x@3 at 6, 1 more"},
		{Query{Selection: Selection{Namespace: "none"}}, "at 6"},
		{Query{Selection: Selection{Name: "x"}, Limit: 1}, "a-b/x@4 at 6, -1 more"},
		{Query{Selection: Selection{Name: "x"}}, "a-b/x@4 a/x@3 b/x@1 at 6"},
		{Query{Selection: Selection{Labels: labelSelector(t, "app=app-a")}}, "a/x@3 a/y@2 at 6"},
		{Query{Selection: Selection{Labels: labelSelector(t, "app notin (app-a,app-b)")}}, "a-b/x@4 c/z@5 at 6"},
		{Query{Selection: Selection{Labels: labels.Nothing()}}, "at 6"},
		{Query{Selection: Selection{Fields: fields.Nothing()}}, "at 6"},
		{Query{Selection: Selection{Labels: labels.Everything(), Fields: fields.Everything()}, Limit: 4}, "a-b/x@4 a/x@3 a/y@2 b/x@1 at 6, 1 more"},
		{Query{Selection: Selection{Fields: fieldSelector(t, "spec.nodeName=n-x"), Namespace: "b"}}, "b/x@1 at 6"},
		{Query{Selection: Selection{Fields: fieldSelector(t, "metadata.name=x,metadata.name=y")}}, "at 6"},
		{Query{Selection: Selection{Fields: fieldSelector(t, "metadata.namespace=a")}}, "a/x@3 a/y@2 at 6"},
		{Query{Selection: Selection{Fields: fieldSelector(t, "metadata.name=")}}, "at 6"},
		{Query{Freshness: Exactly(3)}, "a/x@3 a/y@2 b/x@1 at 3"},
		{Query{Freshness: Exactly(6)}, "a-b/x@4 a/x@3 a/y@2 b/x@1 c/z@5 at 6"},
	} {
		if got := names(mustList(t, c, test.Query)); got != test.want {
			t.Errorf("List(%+v) = %s, want %s", test.Query, got, test.want)
		}
	}
}

// TestPages: all pages of a list come from the same snapshot, even if objects change between the pages.
func TestPages(t *testing.T) {
	for name, window := range map[string]int{"from the window": 0, "from the store's history": 1} {
		t.Run(name, func(t *testing.T) {
			s := openStore(t)
			c := openCache(t, s, Options{WindowBytes: window})
			for i := range 20 {
				put(t, c, podKey("default", nameOf(i)), pod(nameOf(i), "web", "n1", 0))
			}
			want := mustList(t, c, Query{})
			var got List
			for q := (Query{Limit: 3}); ; {
				page := mustList(t, c, q)
				got.Objects = append(got.Objects, page.Objects...)
				got.Revision = page.Revision
				if !page.More {
					break
				}
				q.After, q.Freshness = page.Objects[len(page.Objects)-1].Key(), Exactly(page.Revision)
				put(t, c, podKey("default", nameOf(len(got.Objects)+1)), pod(nameOf(len(got.Objects)+1), "db", "n1", 0))
				put(t, c, podKey("default", "new"), pod("new", "web", "n1", 0))
				remove(t, c, podKey("default", nameOf(19-len(got.Objects)/3)))
			}
			if names(got) != names(want) {
				t.Errorf("pages = %s\nwant %s", names(got), names(want))
			}
			if window == 0 {
				return
			}
			if err := s.Compact(t.Context(), 22); err != nil {
				t.Fatal(err)
			}
			if _, err := c.List(t.Context(), Query{Selection: Selection{Kind: pods}, Freshness: Exactly(20)}); !errors.Is(err, ErrTooOld) {
				t.Errorf("List(Exactly(20)) = %v, want ErrTooOld", err)
			}
		})
	}
}

// delayedStore is a store whose watches return a batch only when the test sends to release. It simulates a store that other
// processes write to, so the cache lags behind it.
type delayedStore struct {
	storage.Store
	release chan struct{}
}

type delayedWatcher struct {
	storage.Watcher
	release chan struct{}
}

func (s delayedStore) Watch(ctx context.Context, prefix string, after storage.Revision) (storage.Watcher, error) {
	w, err := s.Store.Watch(ctx, prefix, after)
	return delayedWatcher{w, s.release}, err
}

func (w delayedWatcher) Next(ctx context.Context) (storage.Batch, error) {
	select {
	case <-w.release:
		return w.Watcher.Next(ctx)
	case <-ctx.Done():
		return storage.Batch{}, ctx.Err()
	}
}

// TestFreshness: a read waits until the state that its Freshness guarantees is reached, and no longer.
func TestFreshness(t *testing.T) {
	s := delayedStore{openStore(t), make(chan struct{})}
	c := openCache(t, s, Options{FutureWait: 20 * time.Millisecond, WindowBytes: -1})
	key := podKey("default", "a")
	// The commit goes to the store directly, as if another process had made it.
	if _, err := s.Commit(t.Context(), storage.Write{Key: key.String(), Value: pod("a", "web", "n1", 0)}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Get(t.Context(), key, Any); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("Get() with Any = %v, want ErrNotFound", err)
	}
	if _, err := c.Get(t.Context(), key, NotOlderThan(0)); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("Get() with NotOlderThan(0) = %v, want ErrNotFound", err)
	}
	_, err := c.Get(t.Context(), key, NotOlderThan(1))
	if tooNew := (*TooNewError)(nil); !errors.As(err, &tooNew) || *tooNew != (TooNewError{Requested: 1, Now: 0}) {
		t.Errorf("Get() with NotOlderThan(1) = %v, want a TooNewError", err)
	}
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := c.Get(short, key, Latest); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Get() with Latest and an ended context = %v, want DeadlineExceeded", err)
	}
	answered := make(chan error)
	go func() {
		_, err := c.Get(t.Context(), key, Latest)
		answered <- err
	}()
	time.Sleep(2 * c.options.FutureWait) // longer than FutureWait, which must not limit a Latest read
	select {
	case err := <-answered:
		t.Errorf("Get() with Latest = %v before the reflector reached the revision, want it to wait", err)
	case s.release <- struct{}{}:
	}
	if err := <-answered; err != nil {
		t.Errorf("Get() with Latest: error = %v, want nil", err)
	}
	for name, f := range map[string]Freshness{"not older": NotOlderThan(1), "exactly": Exactly(1), "any": Any} {
		l, err := c.List(t.Context(), Query{Selection: Selection{Kind: pods}, Freshness: f})
		if err != nil || names(l) != "default/a@1 at 1" {
			t.Errorf("List() with %s = %s, %v, want default/a@1 at 1", name, names(l), err)
		}
	}
	c.progress.mu.Lock()
	defer c.progress.mu.Unlock()
	if waiting := len(c.progress.waiting); waiting > 0 {
		t.Errorf("number of registered waiters after all reads = %d, want 0", waiting)
	}
}

// TestReadYourWrites: a read with Freshness Any returns the last write of the same client, or a later one.
func TestReadYourWrites(t *testing.T) {
	c := openCache(t, openStore(t), Options{})
	done := make(chan error)
	for i := range 8 {
		go func() {
			done <- func() error {
				key, expected := podKey("default", nameOf(i)), storage.Revision(0)
				for range 200 {
					_, revision, err := c.Commit(t.Context(), storage.Write{Key: key.String(), Expected: expected, Value: pod(key.Name, "web", "n1", 0)})
					if err != nil {
						return err
					}
					o, err := c.Get(t.Context(), key, Any)
					if err != nil {
						return err
					}
					if o.Revision() != revision {
						return fmt.Errorf("Get() = revision %d, want the written revision %d", o.Revision(), revision)
					}
					expected = revision
				}
				return nil
			}()
		}()
	}
	for range 8 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func TestCommitRejectsInvalidObjects(t *testing.T) {
	s := openStore(t)
	c := openCache(t, s, Options{})
	for key, value := range map[string]string{
		"core/pods/default/a":   `{"metadata":{"name":"b"}}`,
		"core/pods/default/a/b": `{"metadata":{"name":"b"}}`,
		"core/pods/":            `{"metadata":{"name":""}}`,
		"core/pods//a":          `{"metadata":{"name":"a"}}`,
		"core/pods":             `{"metadata":{"name":"pods"}}`,
		"nothing":               `{"metadata":{"name":"nothing"}}`,
		"core/pods/default/c":   `[]`,
	} {
		if _, _, err := c.Commit(t.Context(), storage.Write{Key: key, Value: []byte(value)}); err == nil {
			t.Errorf("Commit(%s, %s) = nil error, want an error", key, value)
		}
	}
	if revision, err := s.Revision(t.Context()); revision != 0 || err != nil {
		t.Error(revision, err)
	}
}

// TestUnreadableObjects: an unreadable object makes lists fail instead of being omitted, and watchers receive no DELETED
// event for it.
func TestUnreadableObjects(t *testing.T) {
	s := openStore(t)
	bad := storage.Write{Key: podKey("default", "bad").String(), Value: []byte("rubbish")}
	if _, err := s.Commit(t.Context(), bad); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Commit(t.Context(), storage.Write{Key: "stray", Value: []byte("rubbish")}); err != nil {
		t.Fatal(err)
	}
	c := openCache(t, s, Options{})
	put(t, c, podKey("default", "good"), pod("good", "web", "n1", 0))
	put(t, c, podKey("other", "good"), pod("good", "web", "n1", 0))
	unreadable := func(name string, err error) {
		t.Helper()
		if u := (*UnreadableError)(nil); !errors.As(err, &u) || u.Key != bad.Key {
			t.Errorf("%s: error = %v, want an UnreadableError", name, err)
		}
	}
	all := Selection{Kind: pods}
	_, err := c.List(t.Context(), Query{Selection: all})
	unreadable("list", err)
	_, err = c.List(t.Context(), Query{Selection: all, Freshness: Exactly(4)})
	unreadable("list exactly", err)
	_, err = c.Get(t.Context(), podKey("default", "bad"), Latest)
	unreadable("get", err)
	_, err = c.Watch(t.Context(), WatchOptions{Selection: all, InitialState: true})
	unreadable("watch", err)
	if got := names(mustList(t, c, Query{Selection: Selection{Namespace: "other"}})); got != "other/good@4 at 4" {
		t.Errorf("List() = %s, want other/good@4 at 4", got)
	}

	w := watch(t, c, WatchOptions{After: 4})
	if _, err := s.Commit(t.Context(), storage.Write{Key: podKey("other", "good").String(), Expected: 4, Value: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Next(t.Context()); !errors.Is(err, ErrTooOld) {
		t.Errorf("Next() = %v, want ErrTooOld", err)
	}
	// An unreadable object can be deleted or replaced.
	if _, _, err := c.Commit(t.Context(), storage.Write{Key: bad.Key, Expected: 1}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.Commit(t.Context(), storage.Write{Key: podKey("other", "good").String(), Expected: 5, Value: pod("good", "web", "n1", 0)}); err != nil {
		t.Fatal(err)
	}
	if got := names(mustList(t, c, Query{})); got != "default/good@3 other/good@7 at 7" {
		t.Errorf("List() = %s, want default/good@3 other/good@7 at 7", got)
	}
	// Lists and watches at revisions before the replacement still fail.
	for _, then := range []storage.Revision{4, 5, 6} {
		if l, err := c.List(t.Context(), Query{Selection: all, Freshness: Exactly(then)}); err == nil {
			t.Errorf("List(Exactly(%d)) = %s, want an error", then, names(l))
		}
	}
	if _, err := watch(t, c, WatchOptions{After: 4}).Next(t.Context()); !errors.Is(err, ErrTooOld) {
		t.Errorf("Next() = %v, want ErrTooOld", err)
	}
}

func TestKeys(t *testing.T) {
	for _, text := range []string{"core/pods/default/a", "core/nodes/n1", "apps.example.org/things/x/y"} {
		if key, err := ParseKey(text); err != nil || key.String() != text {
			t.Errorf("ParseKey(%s) = %+v, %v, want a key whose String() is the text", text, key, err)
		}
	}
	for _, text := range []string{"", "/", "a", "a/b", "a/b/", "/b/c", "a//c", "a/b//d", "a/b/c/", "a/b/c/d/e"} {
		if key, err := ParseKey(text); err == nil {
			t.Errorf("ParseKey(%s) = %+v, want an error", text, key)
		}
	}
}

// TestObjectBecomesUnreadable: if the new value of an object is unreadable, Get does not return the old value.
func TestObjectBecomesUnreadable(t *testing.T) {
	s := openStore(t)
	c := openCache(t, s, Options{})
	put(t, c, podKey("default", "a"), pod("a", "web", "n1", 0))
	if _, err := s.Commit(t.Context(), storage.Write{Key: podKey("default", "a").String(), Expected: 1, Value: []byte("rubbish")}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Get(t.Context(), podKey("default", "a"), Latest); err == nil {
		t.Error("Get() = nil error, want an UnreadableError")
	}
}

// TestListUntilDone checks that a list ends when its context ends, since comparing all objects with a selector can take long.
func TestListUntilDone(t *testing.T) {
	c := openCache(t, openStore(t), Options{})
	for i := range 5 * doneInterval {
		put(t, c, podKey("a", fmt.Sprint("p", i)), pod(fmt.Sprint("p", i), "web", "n1", 0))
	}
	for _, matches := range []bool{true, false} {
		ctx, cancel := context.WithCancel(t.Context())
		compared := 0
		_, err := c.List(ctx, Query{Selection: Selection{Kind: pods, Match: func(*Object) bool { compared++; cancel(); return matches }}})
		if !errors.Is(err, context.Canceled) || compared > 2*prefetchBatch {
			t.Errorf("List() until its context ends: compared %d objects, error %v, want at most %d and context.Canceled", compared, err, 2*prefetchBatch)
		}
	}
}
