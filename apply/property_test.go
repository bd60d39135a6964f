package apply

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/internal/lib/fastdoc"
	"github.com/cadastre/cadastre/schema"
)

// This file checks what must hold on any history. Applying twice, and the fast
// engine against the plain one, are in differential_test.go.

// eachHistory plays random histories at one version and shows every step that
// succeeds, with the object before it.
func eachHistory(t *testing.T, options Options, change func(g generator, w *world, s *step),
	see func(g generator, e *Engine, before Object, s step, result Result) error) {
	t.Helper()
	for seed := *firstSeed; seed < *firstSeed+uint64(*histories/4+1); seed++ {
		g := newGenerator(seed)
		w := newWorld(g)
		o := options
		o.Versions = OneVersion("v1", w.types["v1"])
		e := mustEngine(o)
		var live Object
		configs := map[string]document.Value{}
		for n := range 12 {
			s := w.step(g, live, configs, []string{"v1"}, false)
			s.r.Time = s.r.Time.Add(time.Duration(n) * time.Minute)
			config := s.doc
			if change != nil {
				change(g, w, &s)
			}
			result, err := s.play(e, live)
			if err != nil {
				continue
			}
			if err := see(g, e, live, s, result); err != nil {
				t.Fatalf("seed %d, step %d: %v\n%v\nlive %s", seed, n, err, s, dump(live))
			}
			if !s.update {
				configs[s.r.Manager] = config
			}
			live = result.Object
		}
	}
}

func (s step) play(e *Engine, live Object) (Result, error) {
	if s.update {
		return e.Update(live, s.doc, s.r)
	}
	return e.Apply(live, s.doc, s.r)
}

// TestEntriesRoundTrip: FieldsV1 of every entry that the engine makes reads back to
// the same set and the same text, here and upstream.
func TestEntriesRoundTrip(t *testing.T) {
	eachHistory(t, Options{}, nil, func(_ generator, _ *Engine, _ Object, _ step, result Result) error {
		for _, entry := range result.Object.Entries {
			fields, err := entry.Fields()
			if err != nil || fields.FieldsV1() != entry.FieldsV1 {
				return fmt.Errorf("%s: %v\n%s\n%s", entry.Manager, err, entry.FieldsV1, fields.FieldsV1())
			}
			theirs, err := smdSet(entry.FieldsV1).ToJSON()
			if err != nil || string(theirs) != entry.FieldsV1 {
				return fmt.Errorf("%s: upstream: %v\n%s\n%s", entry.Manager, err, entry.FieldsV1, theirs)
			}
		}
		whole := result.Object
		whole.Document = whole.Document.With("metadata", document.NewMap())
		read, err := ReadObject(whole.AppendJSON(nil))
		if err != nil || dump(read) != dump(whole) {
			return fmt.Errorf("the object does not read back: %v\n%s\n%s", err, dump(whole), dump(read))
		}
		return nil
	})
}

// TestInputsStay: neither the live object nor what is sent is ever changed.
func TestInputsStay(t *testing.T) {
	eachHistory(t, Options{Unset: true}, withMarkers, func(_ generator, e *Engine, before Object, s step, result Result) error {
		liveText, docText, resultText := dump(before), s.doc.String(), dump(result.Object)
		entries := slices.Clone(before.Entries)
		for _, force := range []bool{false, true} {
			s.r.Force = force
			_, _ = s.play(e, before)
			_, _ = e.Extract(before, s.r)
		}
		if dump(before) != liveText || s.doc.String() != docText || !slices.Equal(entries, before.Entries) {
			return errors.New("an input changed")
		}
		// What shares parts with the result may go on being used.
		if dump(result.Object) != resultText {
			return errors.New("an earlier result changed")
		}
		return nil
	})
}

// TestReaderIsUsedAgain: from bytes to bytes, every step has the same result in memory that
// is used again and again as it has in new memory.
func TestReaderIsUsedAgain(t *testing.T) {
	var reader reusingReader
	eachHistory(t, Options{Unset: true}, withMarkers, func(_ generator, e *Engine, before Object, s step, _ Result) error {
		reader.Reset()
		want, wantErr := s.playBytes(e, before, ReadObject[string], readBeside)
		got, err := s.playBytes(e, before, reader.Read, reader.ReadBeside)
		if got != want || (err == nil) != (wantErr == nil) {
			return fmt.Errorf("in used memory: %v, not %v\n%s\nnot\n%s", err, wantErr, got, want)
		}
		return nil
	})
}

// readBeside reads an object that shares its unchanged parts with another one.
func readBeside(text string, base Object) (Object, error) {
	doc, err := fastdoc.ParseJSONWithBase(text, anySize, base.Document, fastdoc.FieldsV1Path...)
	if err != nil {
		return Object{}, err
	}
	return SplitObject(doc)
}

// reusingReader reads objects into memory that it reuses.
type reusingReader struct{ fastdoc.Reader }

func (r *reusingReader) Read(text string) (Object, error) { return r.ReadBeside(text, Object{}) }

func (r *reusingReader) ReadBeside(text string, base Object) (Object, error) {
	doc, err := r.ParseJSON(text, anySize, base.Document, fastdoc.FieldsV1Path...)
	if err != nil {
		return Object{}, err
	}
	return SplitObject(doc)
}

// playBytes plays a step from bytes to bytes.
func (s step) playBytes(e *Engine, before Object, read func(string) (Object, error), beside func(string, Object) (Object, error)) (string, error) {
	var live Object
	if !before.Document.IsAbsent() {
		var err error
		if live, err = read(before.JSON()); err != nil {
			return "", err
		}
	}
	sent, err := beside(s.doc.JSON(), live)
	if err != nil {
		return "", err
	}
	s.doc = sent.Document
	result, err := s.play(e, live)
	return fmt.Sprintf("%v %s", result.NoOp, result.Object.JSON()), err
}

// TestPanicLeavesNothingBehind: a request that panics, here because what it was given is no
// longer valid, does not show in those that follow.
func TestPanicLeavesNothingBehind(t *testing.T) {
	e := mustEngine(Options{Versions: OneVersion("v1", schema.Untyped)})
	read := func(text string) document.Value {
		v, err := document.ParseJSON(text)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	var reader fastdoc.Reader
	stale := func() document.Value {
		v, err := reader.ParseJSON(`{"a":{"leftover":1,"z":{"y":{"x":[1,2,3,4,5,6,7]}}}}`, document.Limits{}, document.Value{})
		if err != nil {
			t.Fatal(err)
		}
		part := v.Get("a")
		reader.Reset()
		if _, err := reader.ParseJSON(`1`, document.Limits{}, document.Value{}); err != nil {
			t.Fatal(err)
		}
		return part
	}
	panics := 0
	attempt := func(play func()) {
		defer func() {
			if recover() != nil {
				panics++
			}
		}()
		play()
	}
	for range 20 {
		bad := document.NewMap(document.Field{Name: "a", Value: read(`{"leftover":1}`)}, document.Field{Name: "b", Value: stale()})
		attempt(func() { _, _ = e.Update(Object{}, bad, Request{Manager: "m1", Version: "v1"}) })
		attempt(func() { _, _ = e.Apply(Object{}, bad, Request{Manager: "m1", Version: "v1"}) })
		for _, result := range []func() (Result, error){
			func() (Result, error) {
				return e.Update(Object{}, read(`{"c":1}`), Request{Manager: "m2", Version: "v1"})
			},
			func() (Result, error) {
				return e.Apply(Object{}, read(`{"c":1}`), Request{Manager: "m2", Version: "v1"})
			},
		} {
			r, err := result()
			if err != nil || r.Object.Entries[0].FieldsV1 != `{"f:c":{}}` {
				t.Fatalf("after a panic: %v\n%s", err, dump(r.Object))
			}
		}
	}
	if panics == 0 {
		t.Error("nothing panicked, so that nothing was tested")
	}
}

// TestExtractIsNoOp: applying an extract changes nothing, whatever happened before.
func TestExtractIsNoOp(t *testing.T) {
	for _, unset := range []bool{false, true} {
		change := withMarkers
		if !unset {
			change = nil
		}
		t.Run(fmt.Sprintf("unset=%v", unset), func(t *testing.T) {
			eachHistory(t, Options{Unset: unset}, change, func(_ generator, e *Engine, _ Object, _ step, result Result) error {
				for _, entry := range result.Object.Entries {
					if entry.Operation != Apply || !expressible(e, result.Object.Document, entry) {
						continue
					}
					r := Request{Manager: entry.Manager, Version: "v1", Time: entry.Time.Add(time.Hour)}
					config, err := e.Extract(result.Object, r)
					if err != nil {
						return err
					}
					again, err := e.Apply(result.Object, config, r)
					if err != nil || !again.NoOp {
						return fmt.Errorf("the extract of %s is no no-op: %v\n%v\nwas %s\nis %s", entry.Manager, err, config, dump(result.Object), dump(again.Object))
					}
				}
				return nil
			})
		})
	}
}

// expressible reports whether there is a configuration that owns what an entry has and
// changes nothing. There is none for
//
//   - an empty granular list: it was null before others emptied it
//   - a container of which only absent fields are owned: markers don't ask for what is
//     around them
//   - a field that is unset in an item that others removed, or removed and made anew
func expressible(e *Engine, doc document.Value, entry Entry) bool {
	root, _ := e.options.Versions.Type("v1")
	fields, _ := entry.Fields()
	value := func(p fieldset.Path) document.Value { return valueAt(versioned{doc, root, "v1"}, p) }
	for p := range fields.All() {
		below := fields.At(p)
		switch v := value(p); {
		case v.Kind() == document.List && v.Len() == 0 && below.IsEmpty():
			return false
		case !v.IsAbsent() && !below.IsEmpty() && !slices.ContainsFunc(below.Paths(), func(rest fieldset.Path) bool {
			return !value(slices.Concat(p, rest)).IsAbsent()
		}):
			return false
		}
		for i := range len(p) - 1 {
			if item := p[:i+1]; p[i].Kind() == fieldset.Key && (value(item).IsAbsent() || !fields.Has(item)) {
				return false
			}
		}
	}
	return true
}

// TestUnsetChangesNothingWithoutMarkers: a configuration without markers has the same
// result with the option on and off.
func TestUnsetChangesNothingWithoutMarkers(t *testing.T) {
	eachHistory(t, Options{}, nil, func(_ generator, e *Engine, before Object, s step, result Result) error {
		o := e.options
		o.Unset = true
		o.Default = func(document.Value) document.Value { panic("no defaults without markers") }
		with, err := s.play(mustEngine(o), before)
		if err != nil || dump(with.Object) != dump(result.Object) {
			return fmt.Errorf("with the option: %v\n%s\nwithout:\n%s", err, dump(with.Object), dump(result.Object))
		}
		return nil
	})
}

// TestUnsetProperties: what is unset is absent and mine alone, and unsetting twice is
// a no-op.
func TestUnsetProperties(t *testing.T) {
	marked := 0
	eachHistory(t, Options{Unset: true}, withMarkers, func(_ generator, e *Engine, before Object, s step, result Result) error {
		if s.update {
			return nil
		}
		root, _ := e.options.Versions.Type("v1")
		_, unset, err := splitMarkers(root, s.doc)
		if err != nil {
			return err
		}
		for p := range unset.All() {
			marked++
			if v := valueAt(versioned{result.Object.Document, root, "v1"}, p); !v.IsAbsent() {
				return fmt.Errorf("%v is unset, but has the value %v", p, v)
			}
			for _, entry := range result.Object.Entries {
				fields, _ := entry.Fields()
				below := fields.At(p)
				if mine := entry.Manager == s.r.Manager && entry.Operation == Apply; mine && (!fields.Has(p) || !below.IsEmpty()) {
					return fmt.Errorf("%v is unset, but its manager owns\n%v", p, fields)
				}
			}
		}
		again, err := e.Apply(result.Object, s.doc, s.r)
		if tracked := len(result.Object.Entries) > 0; err != nil || tracked && !again.NoOp {
			return fmt.Errorf("unsetting twice is no no-op: %v\n%s\n%s", err, dump(result.Object), dump(again.Object))
		}
		plain := e.options
		plain.plain = true
		other, err := s.play(mustEngine(plain), before)
		if err != nil || dump(other.Object) != dump(result.Object) {
			return fmt.Errorf("the plain engine differs: %v\n%s\n%s", err, dump(result.Object), dump(other.Object))
		}
		again, err = s.play(mustEngine(plain), result.Object)
		if tracked := len(result.Object.Entries) > 0; err != nil || tracked && !again.NoOp {
			return fmt.Errorf("unsetting twice is no no-op for the plain engine: %v\n%s\n%s", err, dump(result.Object), dump(again.Object))
		}
		return nil
	})
	if marked == 0 {
		t.Error("no history had a marker")
	}
}

// TestUnsetConflicts: applying without force fails exactly if a marker takes, or a
// value changes, what others own.
func TestUnsetConflicts(t *testing.T) {
	eachHistory(t, Options{Unset: true}, func(g generator, w *world, s *step) {
		withMarkers(g, w, s)
		s.r.Force = true
	}, func(_ generator, e *Engine, before Object, s step, result Result) error {
		if s.update {
			return nil
		}
		root, _ := e.options.Versions.Type("v1")
		_, unset, _ := splitMarkers(root, s.doc)
		removed := result.Changes().Removed.Covered(unset)
		s.r.Force = false
		_, err := s.play(e, before)
		var conflict *ConflictError
		conflicts := errors.As(err, &conflict)
		if err != nil && !conflicts {
			return err
		}
		owners := before.Entries
		if len(owners) == 0 {
			return nil // what was there gets an owner; checked elsewhere
		}
		want := fieldset.Set{}
		for _, entry := range owners {
			if entry.sameManager(Entry{Manager: s.r.Manager, Operation: Apply}) {
				continue
			}
			fields, _ := entry.Fields()
			want = want.Union(fields.Intersection(result.Changes().set().Union(removed)))
		}
		got := fieldset.Set{}
		if conflicts {
			for _, c := range conflict.Conflicts {
				got = got.Insert(c.Path)
			}
		}
		if !got.Equal(want) {
			return fmt.Errorf("conflicts\n%vwant\n%v", got, want)
		}
		return nil
	})
}

// withMarkers puts unset markers in the place of some values of a configuration.
func withMarkers(g generator, w *world, s *step) {
	if !s.update {
		s.doc = g.mark(w.types["v1"], s.doc)
	}
}

func (g generator) mark(t *schema.Type, v document.Value) document.Value {
	switch {
	case v.Kind() == document.Map && t.Map != nil && !t.Map.Atomic:
		var fields []document.Field
		for name, field := range v.Fields() {
			child, _ := t.Map.TypeOf(name)
			switch {
			case name == "k" || name == "j":
			case g.chance(12):
				field = marker
			default:
				field = g.mark(child, field)
			}
			fields = append(fields, document.Field{Name: name, Value: field})
		}
		return document.NewMap(fields...)
	case v.Kind() == document.List && t.List != nil && t.List.Relationship == schema.Keyed:
		var items []document.Value
		for _, item := range v.Items() {
			if g.chance(20) {
				items = append(items, marker.With("k", item.Get("k")).With("j", item.Get("j")))
			} else {
				items = append(items, g.mark(t.List.Item, item))
			}
		}
		return document.NewList(items...)
	}
	return v
}

// TestUnrelatedManagersCommute: when managers write different fields, the order of
// their requests matters neither for the document nor for what everybody owns.
func TestUnrelatedManagersCommute(t *testing.T) {
	for seed := *firstSeed; seed < *firstSeed+uint64(*histories/4+1); seed++ {
		g := newGenerator(seed)
		w := newWorld(g)
		root := w.types["v1"]
		// Every manager has root fields of its own.
		configs := make([]document.Value, 3)
		whole := withoutEmptyLists(root, g.value(root, 0, false)) // they have no owner
		for i := range configs {
			var fields []document.Field
			for n, name := range []string{"a", "b", "c", "d", "e"} {
				if n%len(configs) == i {
					fields = append(fields, document.Field{Name: name, Value: whole.Get(name)})
				}
			}
			configs[i] = document.NewMap(fields...)
		}
		var first string
		for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 0, 2}} {
			var live Object
			for _, i := range order {
				r := Request{Manager: fmt.Sprintf("m%d", i), Version: "v1"}
				result, err := w.fast.Apply(live, configs[i], r)
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				live = result.Object
			}
			if first == "" {
				first = dump(live)
			} else if dump(live) != first {
				t.Fatalf("seed %d: in the order %v\n%s\nnot\n%s", seed, order, dump(live), first)
			}
		}
	}
}
