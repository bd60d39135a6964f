package watchcache

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cadastre/cadastre/internal/storage"
)

// TestFormComputedOnce: concurrent callers of As share one computation of a form.
func TestFormComputedOnce(t *testing.T) {
	o, err := newObject(testKind(nil), "core/pods/default/web", []byte(exampleObject(500)), 1)
	if err != nil {
		t.Fatal(err)
	}
	var made atomic.Int64
	length := NewForm(func(o *Object) (any, int, error) { made.Add(1); return len(o.Text()), 8, nil })
	failing := NewForm(func(*Object) (any, int, error) { return nil, 0, errors.New("conversion failed") })
	var wait sync.WaitGroup
	for range 64 {
		wait.Go(func() {
			if v, err := o.As(length); err != nil || v != len(o.Text()) {
				t.Error(v, err)
			}
			if _, err := o.As(failing); err == nil {
				t.Error("As(failing) = nil error, want an error")
			}
		})
	}
	wait.Wait()
	if made.Load() != 1 {
		t.Errorf("form was computed %d times, want 1", made.Load())
	}
}

// TestFormPanics: after a panic in the conversion of a form, As returns an error.
func TestFormPanics(t *testing.T) {
	o, err := newObject(testKind(nil), "core/pods/default/web", []byte(`{"metadata":{"name":"web"}}`), 1)
	if err != nil {
		t.Fatal(err)
	}
	bad := NewForm(func(*Object) (any, int, error) { panic("conversion panicked") })
	func() {
		defer func() { _ = recover() }()
		_, _ = o.As(bad)
	}()
	if v, err := o.As(bad); err == nil {
		t.Errorf("As() after a panic = %v, nil, want an error", v)
	}
}

// TestFormErrorIsNotCached: the next call of As retries a failed conversion.
func TestFormErrorIsNotCached(t *testing.T) {
	o, err := newObject(testKind(nil), "core/pods/default/web", []byte(`{"metadata":{"name":"web"}}`), 1)
	if err != nil {
		t.Fatal(err)
	}
	down := errors.New("connection refused")
	failing := NewForm(func(*Object) (any, int, error) { return 1, 0, down })
	if _, err := o.As(failing); err == nil {
		t.Error("As() = nil error, want an error")
	}
	if len(o.resource.forms.cached) != 0 || o.forms.Load() != nil {
		t.Error("LacksForm() = false after a failed conversion, want true")
	}
	down = nil
	if v, err := o.As(failing); err != nil || v != 1 {
		t.Errorf("As() = %v, %v, want 1", v, err)
	}
}

// TestKeepForm: Keep caches and counts a form that the caller has computed, unless the object's form is already cached.
func TestKeepForm(t *testing.T) {
	o, err := newObject(testKind(nil), "core/pods/default/web", []byte(`{"metadata":{"name":"web"}}`), 1)
	if err != nil {
		t.Fatal(err)
	}
	form := NewForm(func(*Object) (any, int, error) { return "made", 0, nil })
	if !o.LacksForm(form) {
		t.Error("LacksForm() = false before Keep, want true")
	}
	o.Keep(form, "first", 1000)
	o.Keep(form, "second", 1000)
	if v, err := o.As(form); err != nil || v != "first" || o.LacksForm(form) {
		t.Errorf("As() = %v, %v, want \"first\"", v, err)
	}
	if cached := o.resource.forms.cached; len(cached) != 1 {
		t.Errorf("%d forms are registered, want 1", len(cached))
	}
}

// TestFormEntriesAreLimited: the number of registered forms is limited even if their values have size 0 or their
// objects have been garbage collected.
func TestFormEntriesAreLimited(t *testing.T) {
	rc := testKind(nil)
	empty := NewForm(func(*Object) (any, int, error) { return nil, 0, nil })
	for range 100_000 {
		o, err := newObject(rc, "core/pods/default/web", []byte(`{"metadata":{"name":"web"}}`), 1)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = o.As(empty)
	}
	if len(rc.forms.cached) > rc.forms.limit/formOverhead {
		t.Errorf("%d forms are registered, want at most %d", len(rc.forms.cached), rc.forms.limit/formOverhead)
	}
}

func TestParsed(t *testing.T) {
	o, err := newObject(testKind(nil), "core/pods/default/web", []byte(exampleObject(500)), 1)
	if err != nil {
		t.Fatal(err)
	}
	v, err := o.Parsed()
	if err != nil || v.JSON() != o.Text() || len(v.Entries) != 1 || v.Entries[0].Manager != "ci" {
		t.Errorf("Parsed() = managed fields entries %+v, %v, want one entry of field manager ci", v.Entries, err)
	}
	bad, err := newObject(testKind(nil), "core/pods/default/web", []byte(`{"metadata":{"name":"web"},"spec":nonsense}`), 1)
	if err != nil {
		t.Fatal(err)
	}
	var unreadable *UnreadableError
	if _, err := bad.Parsed(); !errors.As(err, &unreadable) {
		t.Errorf("Parsed() = %v, want an UnreadableError", err)
	}
}

// countWithForms returns the number of objects that have a cached form.
func countWithForms(objects []*Object) (count int) {
	for _, o := range objects {
		if o.forms.Load() != nil {
			count++
		}
	}
	return count
}

func TestFormEviction(t *testing.T) {
	used := uint64(0)
	f := &forms{limit: 1010 * 1000, memory: func() (uint64, uint64) { return used, 1000 }}
	rc := newResourceCache("core/pods", nil, f, new(atomic.Int64), 0)
	large := NewForm(func(*Object) (any, int, error) { return "large", 100 * 1000, nil })
	var objects []*Object
	for i := range 100 {
		o, err := newObject(rc, fmt.Sprintf("core/pods/default/p%d", i), fmt.Appendf(nil, `{"metadata":{"name":"p%d"}}`, i), 1)
		if err != nil {
			t.Fatal(err)
		}
		objects = append(objects, o)
	}
	for _, o := range objects {
		if _, err := o.As(large); err != nil {
			t.Fatal(err)
		}
		if _, err := objects[0].As(large); err != nil { // object 0 is used in every step, so its form must not be evicted
			t.Fatal(err)
		}
		if count := countWithForms(objects); count > 10 || count*(100*1000+formOverhead) != f.bytes {
			t.Fatalf("%d forms with %d bytes are cached, want at most 10 with %d", count, f.bytes, count*(100*1000+formOverhead))
		}
	}
	hot := objects[0]
	if _, err := hot.Parsed(); err != nil { // caches another form of the same object
		t.Fatal(err)
	}
	before := hot.forms.Load().find(large)
	for _, o := range objects[10:30] {
		_, _ = hot.As(large)
		_, _ = hot.Parsed()
		_, _ = o.As(large)
	}
	if hot.forms.Load().find(large) != before {
		t.Error("evicting one form of an object also evicted a form that is in use")
	}
	if objects[0].forms.Load() == nil || objects[29].forms.Load() == nil || objects[50].forms.Load() != nil {
		t.Error("LacksForm() is wrong, want the forms of objects 0 and 29 cached, and the form of object 50 evicted")
	}
	if v, err := objects[50].As(large); v != "large" || err != nil {
		t.Error(v, err)
	}
	f.evictIfMemoryShort()
	if count := countWithForms(objects); count == 0 {
		t.Error("forms were evicted although memory is not short, want all cached")
	}
	used = 950
	f.evictIfMemoryShort()
	if count := countWithForms(objects); count > 0 || f.bytes != 0 || len(f.cached) != 0 {
		t.Errorf("%d forms with %d bytes are cached although memory is short, want none", count, f.bytes)
	}
}

// TestFormsDoNotRetainObjects: the cache of forms does not prevent the garbage collection of an object.
func TestFormsDoNotRetainObjects(t *testing.T) {
	rc := testKind(nil)
	gone := make(chan bool)
	func() {
		o, err := newObject(rc, "core/pods/default/web", []byte(exampleObject(500)), 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := o.Parsed(); err != nil {
			t.Fatal(err)
		}
		runtime.AddCleanup(o, func(c chan bool) { close(c) }, gone)
	}()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		runtime.GC()
		select {
		case <-gone:
			if len(rc.forms.cached) != 1 {
				t.Error("precondition failed: the number of registered forms of objects is not 1")
			}
			return
		default:
		}
	}
	t.Error("object was not garbage collected, want its cached forms not to keep it alive")
}

// TestWatchersShareForms: an event is encoded once per format, for any number of watchers and selections, because all
// watchers receive the same object.
func TestWatchersShareForms(t *testing.T) {
	c := openCache(t, openStore(t), Options{})
	var made atomic.Int64
	counted := NewForm(func(*Object) (any, int, error) { made.Add(1); return new(int), 8, nil })
	selections := []Selection{{}, {Namespace: "default"}, {Name: "a"}, {Labels: labelSelector(t, "app=web")}, {Fields: fieldSelector(t, "spec.nodeName=n1")}}
	var watchers []*Watcher
	for i := range 60 {
		watchers = append(watchers, watch(t, c, WatchOptions{Selection: selections[i%len(selections)]}))
	}
	const writes = 4
	for i := range writes - 1 {
		put(t, c, podKey("default", "a"), pod("a", "web", "n1", i))
	}
	remove(t, c, podKey("default", "a"))
	type encodings struct {
		object  *Object
		encoded any
	}
	byRevision := map[storage.Revision]encodings{}
	for i, w := range watchers {
		for received := 0; received < writes; {
			events, err := w.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range events {
				received++
				encoded, err := e.Object.As(counted)
				if err != nil {
					t.Fatal(err)
				}
				got := encodings{e.Object, encoded}
				if first, ok := byRevision[e.Revision]; ok && first != got {
					t.Fatalf("watcher %d: object or encoding at revision %d is a copy, want those of the first watcher", i, e.Revision)
				}
				byRevision[e.Revision] = got
			}
		}
	}
	if made.Load() != writes {
		t.Errorf("form was computed %d times for %d events, want once per event", made.Load(), writes)
	}
}
