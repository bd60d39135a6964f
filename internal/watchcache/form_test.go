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

// TestFormOnce: a form is made once, however many ask at the same time.
func TestFormOnce(t *testing.T) {
	o, err := newObject(testKind(nil), "core/pods/default/web", []byte(exampleObject(500)), 1)
	if err != nil {
		t.Fatal(err)
	}
	var made atomic.Int64
	length := NewForm(func(o *Object) (any, int, error) { made.Add(1); return len(o.Text()), 8, nil })
	failing := NewForm(func(*Object) (any, int, error) { return nil, 0, errors.New("can't be had") })
	var wait sync.WaitGroup
	for range 64 {
		wait.Go(func() {
			if v, err := o.As(length); err != nil || v != len(o.Text()) {
				t.Error(v, err)
			}
			if _, err := o.As(failing); err == nil {
				t.Error("expected an error")
			}
		})
	}
	wait.Wait()
	if made.Load() != 1 {
		t.Errorf("made %d times", made.Load())
	}
}

// TestFormPanics: whoever asks again gets an error, not nothing.
func TestFormPanics(t *testing.T) {
	o, err := newObject(testKind(nil), "core/pods/default/web", []byte(`{"metadata":{"name":"web"}}`), 1)
	if err != nil {
		t.Fatal(err)
	}
	bad := NewForm(func(*Object) (any, int, error) { panic("a mistake") })
	func() {
		defer func() { _ = recover() }()
		_, _ = o.As(bad)
	}()
	if v, err := o.As(bad); err == nil {
		t.Errorf("%v, want an error", v)
	}
}

// TestFormsThatFail: what could not be made is tried again.
func TestFormsThatFail(t *testing.T) {
	o, err := newObject(testKind(nil), "core/pods/default/web", []byte(`{"metadata":{"name":"web"}}`), 1)
	if err != nil {
		t.Fatal(err)
	}
	down := errors.New("nobody answers")
	failing := NewForm(func(*Object) (any, int, error) { return 1, 0, down })
	if _, err := o.As(failing); err == nil {
		t.Error("expected an error")
	}
	if len(o.kind.forms.kept) != 0 || o.forms.Load() != nil {
		t.Error("what could not be made is kept")
	}
	down = nil
	if v, err := o.As(failing); err != nil || v != 1 {
		t.Errorf("received %v, %v", v, err)
	}
}

// TestFormsThatAreKept: a form that somebody else has made is kept and counted as if the object had been asked for it, unless it
// has one.
func TestFormsThatAreKept(t *testing.T) {
	o, err := newObject(testKind(nil), "core/pods/default/web", []byte(`{"metadata":{"name":"web"}}`), 1)
	if err != nil {
		t.Fatal(err)
	}
	form := NewForm(func(*Object) (any, int, error) { return "made", 0, nil })
	if !o.Lacks(form) {
		t.Error("the object has what nobody has made")
	}
	o.Keep(form, "brought", 1000)
	o.Keep(form, "brought later", 1000)
	if v, err := o.As(form); err != nil || v != "brought" || o.Lacks(form) {
		t.Errorf("received %v, %v", v, err)
	}
	if kept := o.kind.forms.kept; len(kept) != 1 {
		t.Errorf("%d forms are counted, expected 1", len(kept))
	}
}

// TestFormsAreCounted, even those that take no memory or belong to objects that are gone.
func TestFormsAreCounted(t *testing.T) {
	k := testKind(nil)
	empty := NewForm(func(*Object) (any, int, error) { return nil, 0, nil })
	for range 100_000 {
		o, err := newObject(k, "core/pods/default/web", []byte(`{"metadata":{"name":"web"}}`), 1)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = o.As(empty)
	}
	if len(k.forms.kept) > k.forms.limit/formOverhead {
		t.Errorf("%d forms are known", len(k.forms.kept))
	}
}

func TestParsed(t *testing.T) {
	o, err := newObject(testKind(nil), "core/pods/default/web", []byte(exampleObject(500)), 1)
	if err != nil {
		t.Fatal(err)
	}
	v, err := o.Parsed()
	if err != nil || v.JSON() != o.Text() || len(v.Entries) != 1 || v.Entries[0].Manager != "ci" {
		t.Errorf("%+v, %v", v.Entries, err)
	}
	bad, err := newObject(testKind(nil), "core/pods/default/web", []byte(`{"metadata":{"name":"web"},"spec":nonsense}`), 1)
	if err != nil {
		t.Fatal(err)
	}
	var unreadable *UnreadableError
	if _, err := bad.Parsed(); !errors.As(err, &unreadable) {
		t.Errorf("%v, want an UnreadableError", err)
	}
}

// formed returns how many objects have a form.
func formed(objects []*Object) (count int) {
	for _, o := range objects {
		if o.forms.Load() != nil {
			count++
		}
	}
	return count
}

func TestFormsAreLetGo(t *testing.T) {
	used := uint64(0)
	f := &forms{limit: 1010 * 1000, memory: func() (uint64, uint64) { return used, 1000 }}
	k := newKind("core/pods", nil, f, new(atomic.Int64), 0)
	large := NewForm(func(*Object) (any, int, error) { return "large", 100 * 1000, nil })
	var objects []*Object
	for i := range 100 {
		o, err := newObject(k, fmt.Sprintf("core/pods/default/p%d", i), fmt.Appendf(nil, `{"metadata":{"name":"p%d"}}`, i), 1)
		if err != nil {
			t.Fatal(err)
		}
		objects = append(objects, o)
	}
	for _, o := range objects {
		if _, err := o.As(large); err != nil {
			t.Fatal(err)
		}
		if _, err := objects[0].As(large); err != nil { // somebody asks for this one all the time
			t.Fatal(err)
		}
		if count := formed(objects); count > 10 || count*(100*1000+formOverhead) != f.bytes {
			t.Fatalf("%d forms, %d bytes", count, f.bytes)
		}
	}
	hot := objects[0]
	if _, err := hot.Parsed(); err != nil { // another form of the same object
		t.Fatal(err)
	}
	before := hot.forms.Load().find(large)
	for _, o := range objects[10:30] {
		_, _ = hot.As(large)
		_, _ = hot.Parsed()
		_, _ = o.As(large)
	}
	if hot.forms.Load().find(large) != before {
		t.Error("a form that is in use was let go since another one was")
	}
	if objects[0].forms.Load() == nil || objects[29].forms.Load() == nil || objects[50].forms.Load() != nil {
		t.Error("the wrong ones were let go")
	}
	if v, err := objects[50].As(large); v != "large" || err != nil {
		t.Error(v, err)
	}
	f.relieve()
	if count := formed(objects); count == 0 {
		t.Error("forms are let go although there is memory")
	}
	used = 950
	f.relieve()
	if count := formed(objects); count > 0 || f.bytes != 0 || len(f.kept) != 0 {
		t.Errorf("%d forms are kept although memory is short, %d bytes", count, f.bytes)
	}
}

// TestFormsKeepNothingAlive: an object that nobody needs is gone, with its forms.
func TestFormsKeepNothingAlive(t *testing.T) {
	k := testKind(nil)
	gone := make(chan bool)
	func() {
		o, err := newObject(k, "core/pods/default/web", []byte(exampleObject(500)), 1)
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
			if len(k.forms.kept) != 1 {
				t.Error("the test tests nothing")
			}
			return
		default:
		}
	}
	t.Error("an object is kept alive by its forms")
}

// TestWatchersShareForms: an event is encoded once a format, however many watch and whatever each wants of it: all get one
// object, and an encoding has managedFields in a place of their own.
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
		for told := 0; told < writes; {
			events, err := w.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range events {
				told++
				encoded, err := e.Object.As(counted)
				if err != nil {
					t.Fatal(err)
				}
				got := encodings{e.Object, encoded}
				if first, ok := byRevision[e.Revision]; ok && first != got {
					t.Fatalf("watcher %d has an object or an encoding of its own at revision %d", i, e.Revision)
				}
				byRevision[e.Revision] = got
			}
		}
	}
	if made.Load() != writes {
		t.Errorf("a format was made %d times of %d events", made.Load(), writes)
	}
}
