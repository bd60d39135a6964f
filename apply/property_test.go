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

// This file tests properties that hold for every history of requests. differential_test.go tests idempotence, and
// compares the fast engine with the plain engine.

// eachHistory runs random histories at one version. It calls change, unless it is nil, before each step to modify the
// step, and check after each step that succeeds. before is the object before the step.
func eachHistory(t *testing.T, options Options, change func(g generator, w *randomKind, s *step),
	check func(g generator, e *Engine, before Object, s step, result Result) error) {
	t.Helper()
	for seed := *firstSeed; seed < *firstSeed+uint64(*histories/4+1); seed++ {
		g := newGenerator(seed)
		w := newRandomKind(g)
		engineOptions := options
		engineOptions.Versions = OneVersion("v1", w.types["v1"])
		e := mustEngine(engineOptions)
		var live Object
		configs := map[string]document.Value{}
		for n := range 12 {
			s := w.step(g, live, configs, []string{"v1"}, false)
			s.request.Time = s.request.Time.Add(time.Duration(n) * time.Minute)
			config := s.doc
			if change != nil {
				change(g, w, &s)
			}
			result, err := s.run(e, live)
			if err != nil {
				continue
			}
			if err := check(g, e, live, s, result); err != nil {
				t.Fatalf("seed %d, step %d: %v\n%v\nlive %s", seed, n, err, s, formatObject(live))
			}
			if !s.update {
				configs[s.request.Manager] = config
			}
			live = result.Object
		}
	}
}

// run sends the request to an engine.
func (s step) run(e *Engine, live Object) (Result, error) {
	if s.update {
		return e.Update(live, s.doc, s.request)
	}
	return e.Apply(live, s.doc, s.request)
}

// TestEntriesRoundTrip: the engine and structured-merge-diff decode and encode FieldsV1 of every entry that the engine
// returns to the same text, and the object survives a round trip through JSON.
func TestEntriesRoundTrip(t *testing.T) {
	eachHistory(t, Options{}, nil, func(_ generator, _ *Engine, _ Object, _ step, result Result) error {
		for _, entry := range result.Object.Entries {
			fields, err := entry.Fields()
			if err != nil || fields.FieldsV1() != entry.FieldsV1 {
				return fmt.Errorf("FieldsV1 of %s does not round-trip: error %v\n%s\n%s", entry.Manager, err, entry.FieldsV1, fields.FieldsV1())
			}
			upstream, err := smdSet(entry.FieldsV1).ToJSON()
			if err != nil || string(upstream) != entry.FieldsV1 {
				return fmt.Errorf("FieldsV1 of %s does not round-trip through structured-merge-diff: error %v\n%s\n%s", entry.Manager, err, entry.FieldsV1, upstream)
			}
		}
		object := result.Object
		object.Document = object.Document.With("metadata", document.NewMap())
		read, err := ReadObject(object.AppendJSON(nil))
		if err != nil || formatObject(read) != formatObject(object) {
			return fmt.Errorf("the object does not round-trip: %v\n%s\n%s", err, formatObject(object), formatObject(read))
		}
		return nil
	})
}

// TestInputsAreNotModified: a request modifies neither the live object, nor the document of the request, nor earlier
// results that share memory with them.
func TestInputsAreNotModified(t *testing.T) {
	eachHistory(t, Options{Unset: true}, addMarkers, func(_ generator, e *Engine, before Object, s step, result Result) error {
		liveText, docText, resultText := formatObject(before), s.doc.String(), formatObject(result.Object)
		entries := slices.Clone(before.Entries)
		for _, force := range []bool{false, true} {
			s.request.Force = force
			_, _ = s.run(e, before)
			_, _ = e.Extract(before, s.request)
		}
		if formatObject(before) != liveText || s.doc.String() != docText || !slices.Equal(entries, before.Entries) {
			return errors.New("the request modified the live object or its document, want both unchanged")
		}
		// Later requests that share parts with the result must not modify it.
		if formatObject(result.Object) != resultText {
			return errors.New("the request modified an earlier result, want it unchanged")
		}
		return nil
	})
}

// TestReusedReaderMemory: decoding into reused memory returns the same results as decoding into new memory.
func TestReusedReaderMemory(t *testing.T) {
	var reader reusingReader
	eachHistory(t, Options{Unset: true}, addMarkers, func(_ generator, e *Engine, before Object, s step, _ Result) error {
		reader.Reset()
		want, wantErr := s.runBytes(e, before, ReadObject[string], readSharing)
		got, err := s.runBytes(e, before, reader.Read, reader.ReadSharing)
		if got != want || (err == nil) != (wantErr == nil) {
			return fmt.Errorf("with reused memory: error = %v, want %v; result\n%s\nwant\n%s", err, wantErr, got, want)
		}
		return nil
	})
}

// readSharing parses text to an object that shares its unchanged parts with base.
func readSharing(text string, base Object) (Object, error) {
	doc, err := fastdoc.ParseJSONWithBase(text, unlimitedSize, base.Document, fastdoc.FieldsV1Path...)
	if err != nil {
		return Object{}, err
	}
	return SplitObject(doc)
}

// reusingReader reads objects into memory that is reused after Reset.
type reusingReader struct{ fastdoc.Reader }

func (r *reusingReader) Read(text string) (Object, error) { return r.ReadSharing(text, Object{}) }

func (r *reusingReader) ReadSharing(text string, base Object) (Object, error) {
	doc, err := r.ParseJSON(text, unlimitedSize, base.Document, fastdoc.FieldsV1Path...)
	if err != nil {
		return Object{}, err
	}
	return SplitObject(doc)
}

// runBytes runs a step whose live object and document are decoded from JSON, and returns the encoded result.
func (s step) runBytes(e *Engine, before Object, read func(string) (Object, error), readSharing func(string, Object) (Object, error)) (string, error) {
	var live Object
	if !before.Document.IsAbsent() {
		var err error
		if live, err = read(before.JSON()); err != nil {
			return "", err
		}
	}
	sent, err := readSharing(s.doc.JSON(), live)
	if err != nil {
		return "", err
	}
	s.doc = sent.Document
	result, err := s.run(e, live)
	return fmt.Sprintf("%v %s", result.NoOp, result.Object.JSON()), err
}

// TestPanicDoesNotCorruptPools: a request that panics, here because its document refers to reused memory, does not
// affect later requests through pooled builders.
func TestPanicDoesNotCorruptPools(t *testing.T) {
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
				t.Fatalf("request after a panic: error %v, object\n%s", err, formatObject(r.Object))
			}
		}
	}
	if panics == 0 {
		t.Error("no request panicked, want at least one")
	}
}

// TestApplyingExtractIsNoOp: applying the extracted configuration is a no-op after any history.
func TestApplyingExtractIsNoOp(t *testing.T) {
	for _, unset := range []bool{false, true} {
		change := addMarkers
		if !unset {
			change = nil
		}
		t.Run(fmt.Sprintf("unset=%v", unset), func(t *testing.T) {
			eachHistory(t, Options{Unset: unset}, change, func(_ generator, e *Engine, _ Object, _ step, result Result) error {
				for _, entry := range result.Object.Entries {
					if entry.Operation != Apply || !isExpressible(e, result.Object.Document, entry) {
						continue
					}
					r := Request{Manager: entry.Manager, Version: "v1", Time: entry.Time.Add(time.Hour)}
					config, err := e.Extract(result.Object, r)
					if err != nil {
						return err
					}
					again, err := e.Apply(result.Object, config, r)
					if err != nil || !again.NoOp {
						return fmt.Errorf("applying the extract of %s is not a no-op: %v\n%v\nbefore %s\nafter %s", entry.Manager, err, config, formatObject(result.Object), formatObject(again.Object))
					}
				}
				return nil
			})
		})
	}
}

// isExpressible reports whether a configuration exists that owns exactly the fields of an entry and changes nothing.
// There is no such configuration if the entry owns
//
//   - an empty granular list: it was applied as null, and other managers emptied it
//   - only absent fields of a container: markers do not create their container
//   - an unset field in a list item that another manager removed, or removed and created again
func isExpressible(e *Engine, doc document.Value, entry Entry) bool {
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

// TestUnsetOptionWithoutMarkers: a configuration without markers has the same result with the option Unset on and
// off, and Default is not called.
func TestUnsetOptionWithoutMarkers(t *testing.T) {
	eachHistory(t, Options{}, nil, func(_ generator, e *Engine, before Object, s step, result Result) error {
		o := e.options
		o.Unset = true
		o.Default = func(document.Value) document.Value { panic("Default called without markers") }
		with, err := s.run(mustEngine(o), before)
		if err != nil || formatObject(with.Object) != formatObject(result.Object) {
			return fmt.Errorf("with the option Unset: error %v\n%s\nwithout the option:\n%s", err, formatObject(with.Object), formatObject(result.Object))
		}
		return nil
	})
}

// TestUnsetProperties: an unset field is absent, its applier owns the field and nothing below it, and unsetting again
// is a no-op, in both engines.
func TestUnsetProperties(t *testing.T) {
	marked := 0
	eachHistory(t, Options{Unset: true}, addMarkers, func(_ generator, e *Engine, before Object, s step, result Result) error {
		if s.update {
			return nil
		}
		root, _ := e.options.Versions.Type("v1")
		_, unset, err := splitMarkers(root, s.doc, false)
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
				if isApplier := entry.Manager == s.request.Manager && entry.Operation == Apply; isApplier && (!fields.Has(p) || !below.IsEmpty()) {
					return fmt.Errorf("%v is unset, but its manager owns\n%v", p, fields)
				}
			}
		}
		again, err := e.Apply(result.Object, s.doc, s.request)
		if tracked := len(result.Object.Entries) > 0; err != nil || tracked && !again.NoOp {
			return fmt.Errorf("unsetting again is not a no-op: %v\n%s\n%s", err, formatObject(result.Object), formatObject(again.Object))
		}
		plain := e.options
		plain.plain = true
		other, err := s.run(mustEngine(plain), before)
		if err != nil || formatObject(other.Object) != formatObject(result.Object) {
			return fmt.Errorf("the engines differ: error of the plain engine %v\nfast:\n%s\nplain:\n%s", err, formatObject(result.Object), formatObject(other.Object))
		}
		again, err = s.run(mustEngine(plain), result.Object)
		if tracked := len(result.Object.Entries) > 0; err != nil || tracked && !again.NoOp {
			return fmt.Errorf("unsetting again is not a no-op in the plain engine: %v\n%s\n%s", err, formatObject(result.Object), formatObject(again.Object))
		}
		return nil
	})
	if marked == 0 {
		t.Error("no history contains an unset marker, want at least one")
	}
}

// TestUnsetConflicts: an apply without force fails exactly if a marker removes, or a value changes, fields that other
// managers own.
func TestUnsetConflicts(t *testing.T) {
	eachHistory(t, Options{Unset: true}, func(g generator, w *randomKind, s *step) {
		addMarkers(g, w, s)
		s.request.Force = true
	}, func(_ generator, e *Engine, before Object, s step, result Result) error {
		if s.update {
			return nil
		}
		root, _ := e.options.Versions.Type("v1")
		_, unset, _ := splitMarkers(root, s.doc, false)
		removed := result.Changes().Removed.Covered(unset)
		s.request.Force = false
		_, err := s.run(e, before)
		var conflict *ConflictError
		conflicts := errors.As(err, &conflict)
		if err != nil && !conflicts {
			return err
		}
		owners := before.Entries
		if len(owners) == 0 {
			return nil // before-first-apply is tested by TestBeforeFirstApply
		}
		want := fieldset.Set{}
		for _, entry := range owners {
			if entry.sameManager(Entry{Manager: s.request.Manager, Operation: Apply}) {
				continue
			}
			fields, _ := entry.Fields()
			want = want.Union(fields.Intersection(result.Changes().addedOrModified().Union(removed)))
		}
		got := fieldset.Set{}
		if conflicts {
			for _, c := range conflict.Conflicts {
				got = got.Insert(c.Path)
			}
		}
		if !got.Equal(want) {
			return fmt.Errorf("conflicts =\n%vwant\n%v", got, want)
		}
		return nil
	})
}

// addMarkers replaces some values of the configuration in s with unset markers.
func addMarkers(g generator, w *randomKind, s *step) {
	if !s.update {
		s.doc = g.withMarkers(w.types["v1"], s.doc)
	}
}

// withMarkers returns v with some of its fields and items replaced with unset markers.
func (g generator) withMarkers(t *schema.Type, v document.Value) document.Value {
	switch {
	case v.Kind() == document.Map && t.Map != nil && !t.Map.Atomic:
		var fields []document.Field
		for name, field := range v.Fields() {
			child, _ := t.Map.TypeOf(name)
			switch {
			case name == "k" || name == "j":
			case g.chance(12):
				field = unsetMarker
			default:
				field = g.withMarkers(child, field)
			}
			fields = append(fields, document.Field{Name: name, Value: field})
		}
		return document.NewMap(fields...)
	case v.Kind() == document.List && t.List != nil && t.List.Relationship == schema.Keyed:
		var items []document.Value
		for _, item := range v.Items() {
			if g.chance(20) {
				items = append(items, unsetMarker.With("k", item.Get("k")).With("j", item.Get("j")))
			} else {
				items = append(items, g.withMarkers(t.List.Item, item))
			}
		}
		return document.NewList(items...)
	}
	return v
}

// TestDisjointAppliersCommute: if managers apply disjoint fields, the order of their requests affects neither the
// document nor the field sets.
func TestDisjointAppliersCommute(t *testing.T) {
	for seed := *firstSeed; seed < *firstSeed+uint64(*histories/4+1); seed++ {
		g := newGenerator(seed)
		w := newRandomKind(g)
		root := w.types["v1"]
		// Each manager has a separate set of root fields.
		configs := make([]document.Value, 3)
		complete := withoutEmptyLists(root, g.value(root, 0, false)) // without empty lists, which have no owner
		for i := range configs {
			var fields []document.Field
			for n, name := range []string{"a", "b", "c", "d", "e"} {
				if n%len(configs) == i {
					fields = append(fields, document.Field{Name: name, Value: complete.Get(name)})
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
				first = formatObject(live)
			} else if formatObject(live) != first {
				t.Fatalf("seed %d: order %v:\n%s\nwant\n%s", seed, order, formatObject(live), first)
			}
		}
	}
}

// valueAt returns the value at a path, absent if there is none.
func valueAt(v versioned, p fieldset.Path) document.Value {
	t, doc := v.t, v.doc
	for _, e := range p {
		if t == nil {
			t = schema.Untyped
		}
		doc = childOf(doc, selectInSetOrder(nil, t, doc, fieldset.New(fieldset.Path{e})), e, 0)
		t, _ = childType(t, e)
	}
	return doc
}
