package apply

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/schema"
)

// testVersions is testKind at several versions. At v2, the field number is called amount, and the names of items and
// the keys of the map are in upper case. All other versions equal v1. The Go map contains the existing versions.
type testVersions map[string]*schema.Type

// newTestVersions returns a testVersions with v1, v2 and the versions in further, which equal v1.
func newTestVersions(further ...string) testVersions {
	s, err := schema.LoadTypes(parse(strings.Replace(testTypes, "name: number,", "name: amount,", 1)))
	if err != nil {
		panic(err)
	}
	second, _ := s.Type("thing")
	v := testVersions{"v1": testKind, "v2": second}
	for _, version := range further {
		v[version] = testKind
	}
	return v
}

func (v testVersions) Type(version string) (*schema.Type, bool) {
	t, ok := v[version]
	return t, ok
}

func (v testVersions) Convert(doc document.Value, from, to string) (document.Value, error) {
	if from == to || v[from] == nil || v[to] == nil {
		panic("convert from " + from + " to " + to)
	}
	if !doc.Get("flag").IsAbsent() && doc.Get("text").Text() == "can't convert" {
		return doc, errors.New("flag can't be converted")
	}
	switch {
	case to == "v2":
		return convertNames(doc.Without("number").With("amount", doc.Get("number")), strings.ToUpper), nil
	case from == "v2":
		return convertNames(doc.Without("amount").With("number", doc.Get("amount")), strings.ToLower), nil
	}
	return doc, nil
}

// convertNames returns doc with change applied to the names of its list items and to the keys of its map.
func convertNames(doc document.Value, change func(string) string) document.Value {
	if items := doc.Get("items"); items.Kind() == document.List {
		var changed []document.Value
		for _, item := range items.Items() {
			changed = append(changed, item.With("name", document.NewString(change(item.Get("name").Text()))))
		}
		doc = doc.With("items", document.NewList(changed...))
	}
	if m := doc.Get("map"); m.Kind() == document.Map {
		var changed []document.Field
		for name, value := range m.Fields() {
			changed = append(changed, document.Field{Name: change(name), Value: value})
		}
		doc = doc.With("map", document.NewMap(changed...))
	}
	return doc
}

// convertTo converts the live object to the given version and makes that the version of later requests.
func (s *script) convertTo(version string) {
	s.Helper()
	doc, err := s.fast.options.Versions.Convert(s.live.Document, s.version, version)
	if err != nil {
		s.Fatal(err)
	}
	s.live.Document, s.version = doc, version
}

// TestConvertBetweenVersions: "Can convert structured-merge-diff typed objects between API versions." (KEP-555)
// Entries keep the version at which they were written.
func TestConvertBetweenVersions(t *testing.T) {
	s := newScript(t, Options{Versions: newTestVersions()})
	s.apply("m1", `{number: 1, text: x}`)
	s.convertTo("v2")
	s.apply("m2", `{amount: 1, flag: true}`)
	s.want(`{amount: 1, text: x, flag: true}`)
	s.wantOwners("m1 .number .text", "m2@v2 .amount .flag")
	s.conflict("m3", `amount: 2`, ".amount m2@v2", ".number m1")
	s.force("m3", `amount: 2`)
	s.wantOwners("m1 .text", "m2@v2 .flag", "m3@v2 .amount")
	s.convertTo("v1")
	s.apply("m3", `text: x`) // m3 applied at another version before
	s.want(`{text: x, flag: true}`)
	s.wantOwners("m1 .text", "m2@v2 .flag", "m3 .text")
	s.update("m3", `{text: z, flag: true}`)
	s.wantOwners("m2@v2 .flag", "m3/Update .text")
	s.convertTo("v2")
	s.update("m3", `{text: w, flag: false}`)
	s.wantOwners("m3/Update@v2 .text .flag")
}

// TestConversionChangesKeys: "Apply works when the object conversion changes value of
// map keys." (KEP-555)
func TestConversionChangesKeys(t *testing.T) {
	s := newScript(t, Options{Versions: newTestVersions()})
	s.apply("m1", `{map: {a: 1, b: 1}, items: [{name: a, value: 1}, {name: b, value: 1}]}`)
	s.convertTo("v2")
	s.apply("m2", `{map: {B: 1, C: 1}, items: [{name: B, value: 1}]}`)
	s.want(`{map: {A: 1, B: 1, C: 1}, items: [{name: A, value: 1}, {name: B, value: 1}]}`)
	s.wantOwners(`m1 .map.a .map.b .items[name="a"]{,.name,.value} .items[name="b"]{,.name,.value}`,
		`m2@v2 .map.B .map.C .items[name="B"]{,.name,.value}`)
	s.conflict("m2", `map: {A: 2}`, ".map.a m1")
	s.convertTo("v1")
	s.apply("m1", `{map: {a: 1}, items: [{name: a, value: 1}]}`)
	s.want(`{map: {a: 1, b: 1, c: 1}, items: [{name: a, value: 1}, {name: b, value: 1}]}`)
	s.apply("m2", ``)
	s.want(`{map: {a: 1}, items: [{name: a, value: 1}]}`)
	s.wantOwners(`m1 .map.a .items[name="a"]{,.name,.value}`)
}

// TestObsoleteVersions: "Apply works when unknown/obsolete versions are present in
// managedFields (for when APIs are deprecated)." (KEP-555)
func TestObsoleteVersions(t *testing.T) {
	s := newScript(t, Options{Versions: newTestVersions("v0")})
	s.version = "v0"
	s.apply("old", `{number: 1, text: x}`)
	s.update("old", `{number: 1, text: x, flag: true}`)
	s.version = "v1"
	s.apply("m1", `number: 1`)
	withoutV0 := Options{Versions: newTestVersions()}
	s.fast = mustEngine(withoutV0)
	withoutV0.plain = true
	s.plain = mustEngine(withoutV0)
	s.wantOwners("old@v0 .number .text", "old/Update@v0 .flag", "m1 .number")

	t.Run("dropped", func(t *testing.T) {
		s := *s
		s.T = t
		s.apply("m1", `{number: 2}`) // no conflict with entries of a removed version
		s.wantOwners("m1 .number")
		s.want(`{number: 2, text: x, flag: true}`) // fields of dropped entries are not pruned
	})
	t.Run("dropped by updates", func(t *testing.T) {
		s := *s
		s.T = t
		s.update("u", `{number: 2, text: x, flag: true}`)
		s.wantOwners("u/Update .number")
	})
	t.Run("the applier of a dropped entry applies again", func(t *testing.T) {
		s := *s
		s.T = t
		s.apply("old", `number: 1`) // drops the former entry of old, so its field text is not pruned
		s.want(`{number: 1, text: x, flag: true}`)
		s.wantOwners("m1 .number", "old .number")
	})
	t.Run("only removed versions", func(t *testing.T) {
		s := *s
		s.T = t
		s.live.Entries = s.live.Entries[:0:0]
		s.live.Entries = append(s.live.Entries, Entry{Manager: "old", Operation: Apply, APIVersion: "v0", FieldsV1: `{"f:text":{}}`})
		s.apply("m1", `number: 2`)
		s.wantOwners("m1 .number")
	})
	t.Run("request at a removed version", func(t *testing.T) {
		_, err := s.fast.Apply(s.live, parse(`number: 1`), Request{Manager: "m", Version: "v0"})
		if !errors.Is(err, ErrVersionGone) {
			t.Errorf("Apply() error = %v, want ErrVersionGone", err)
		}
		_, err = s.fast.Update(s.live, parse(`number: 1`), Request{Manager: "m", Version: "v0"})
		if !errors.Is(err, ErrVersionGone) {
			t.Errorf("Update() error = %v, want ErrVersionGone", err)
		}
		_, err = s.fast.Extract(s.live, Request{Manager: "m", Version: "v0"})
		if !errors.Is(err, ErrVersionGone) {
			t.Errorf("Extract() error = %v, want ErrVersionGone", err)
		}
	})
}

// TestConversionFails: a conversion error is returned with both versions.
func TestConversionFails(t *testing.T) {
	s := newScript(t, Options{Versions: newTestVersions()})
	s.apply("m1", `number: 1`)
	s.convertTo("v2")
	s.apply("m2", `amount: 1`)
	_, err := s.tryApply("m2", `{amount: 1, flag: true, text: "can't convert"}`, false)
	if err == nil || !strings.Contains(err.Error(), "flag can't be converted") || !strings.Contains(err.Error(), "from v2 to v1") {
		t.Errorf("Apply() error = %v, want the conversion error with both versions", err)
	}
}

// TestUnsetAcrossVersions: markers conflict with entries at other versions; the conflict has the path at the version
// of the entry.
func TestUnsetAcrossVersions(t *testing.T) {
	s := newScript(t, Options{Versions: newTestVersions(), Unset: true})
	s.apply("m1", `{number: 1, map: {a: 1}}`)
	s.convertTo("v2")
	s.conflict("m2", `{amount: {k8s_io__value: unset}, map: {A: {k8s_io__value: unset}}}`, ".map.a m1", ".number m1")
	s.force("m2", `{amount: {k8s_io__value: unset}, map: {A: {k8s_io__value: unset}}}`)
	s.want(`map: {}`)
	s.wantOwners("m2@v2 .amount .map.A")
	s.convertTo("v1")
	s.conflict("m1", `number: 1`, ".amount m2@v2")
	s.apply("m3", `number: {k8s_io__value: unset}`)
	s.wantOwners("m2@v2 .amount .map.A", "m3 .number")
}

// TestTopologyChanged: a field set that was written for another topology is adapted to the current topology.
func TestTopologyChanged(t *testing.T) {
	const text = `
types:
- name: thing
  map:
    fields:
    - {name: number, type: {scalar: numeric}}
    - {name: struct, type: {map: {fields: [{name: a, type: {scalar: numeric}}, {name: b, type: {scalar: numeric}}], elementRelationship: RELATION}}}
    - {name: map, type: {map: {elementType: {scalar: numeric}, elementRelationship: RELATION}}}
`
	load := func(relation string) *Engine {
		s, err := schema.LoadTypes(parse(strings.ReplaceAll(text, "RELATION", relation)))
		if err != nil {
			t.Fatal(err)
		}
		root, _ := s.Type("thing")
		return mustEngine(Options{Versions: OneVersion("v1", root)})
	}
	granular, atomic := load("separable"), load("atomic")
	applyThenSwitch := func(t *testing.T, first, then *Engine) *script {
		s := newScript(t)
		s.oracle = nil // testOracle has only one schema
		s.fast, s.plain = first, first
		s.apply("m1", `{struct: {a: 1, b: 1}, map: {x: 1}}`)
		s.fast, s.plain = then, then
		return s
	}
	t.Run("granular to atomic", func(t *testing.T) {
		s := applyThenSwitch(t, granular, atomic)
		s.apply("m2", `number: 1`)
		s.wantOwners("m1 .struct .map", "m2 .number")
		s.conflict("m2", `{struct: {a: 1, b: 2}, map: {z: 1}}`, ".map m1", ".struct m1")
		s.apply("m1", `struct: {a: 1}`)
		s.want(`{struct: {a: 1}, number: 1}`)
	})
	t.Run("atomic to granular", func(t *testing.T) {
		s := applyThenSwitch(t, atomic, granular)
		s.wantOwners("m1 .struct .map")
		s.apply("m1", `{struct: {a: 1, b: 1}, map: {x: 1}}`)
		s.wantOwners("m1 .struct.a .struct.b .map.x")
		s.conflict("m2", `{struct: {a: 2}, map: {x: 2}}`, ".map.x m1", ".struct.a m1")
	})
}

// TestReconcile adapts field sets to the topology of testKind.
func TestReconcile(t *testing.T) {
	for _, c := range []struct{ name, set, want string }{
		{"nothing to do", ".number .struct.a .map.x", ".number .struct.a .map.x"},
		{"atomic struct", ".atomicStruct.a .atomicStruct.inner.b .number", ".atomicStruct .number"},
		{"atomic map", ".atomicMap.a", ".atomicMap"},
		{"atomic list", `.list[="a"] .structList[a=1].b`, ".list .structList"},
		{"atomic item", `.atomicItems[name="a"].value .atomicItems[name="a"]`, `.atomicItems[name="a"]`},
		{"untyped", ".free.a.b .free.c[0]", ".free.a.b .free.c[0]"},
		{"undeclared", ".nope.a", ".nope.a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			set := pathSet(c.set)
			got := reconcile(set, testKind)
			if !got.Equal(pathSet(c.want)) {
				t.Errorf("reconcile() =\n%vwant\n%v", got, pathSet(c.want))
			}
			if again := reconcile(got, testKind); !again.Equal(got) {
				t.Errorf("second reconcile() =\n%vwant the result of the first\n%v", again, got)
			}
		})
	}
}

func TestOneVersion(t *testing.T) {
	v := OneVersion("v1", testKind)
	if got, ok := v.Type("v1"); !ok || got != testKind {
		t.Errorf("Type(v1) = %p, %v, want testKind (%p), true", got, ok, testKind)
	}
	if _, ok := v.Type("v2"); ok {
		t.Error("Type(v2): ok = true, want false")
	}
	if _, err := v.Convert(document.NewMap(), "v1", "v2"); !errors.Is(err, ErrVersionGone) {
		t.Errorf("Convert() error = %v, want ErrVersionGone", err)
	}
	if _, err := New(Options{}); err == nil || !strings.Contains(err.Error(), "OneVersion") {
		t.Errorf("New() without Versions: error = %v, want it to contain \"OneVersion\"", err)
	}
}

// TestResultReportsDroppedEntries: Result.Dropped contains the entries whose version no longer exists.
func TestResultReportsDroppedEntries(t *testing.T) {
	obsolete := Entry{Manager: "old", Operation: Update, APIVersion: "v0", FieldsV1: `{"f:number":{}}`}
	live := Object{Document: parse(`{number: 1}`), Entries: []Entry{obsolete}}
	for _, plain := range []bool{false, true} {
		result, err := mustEngine(Options{plain: plain}).Apply(live, parse(`{text: a}`), Request{Manager: "me", Version: "v1"})
		if err != nil {
			t.Fatal(err)
		}
		if len(result.Dropped) != 1 || result.Dropped[0] != obsolete {
			t.Errorf("plain=%v: Dropped = %v, want %v", plain, result.Dropped, obsolete)
		}
	}
}

// failingVersions is a kind with two versions between which every conversion fails.
type failingVersions struct{ err error }

func (failingVersions) Type(version string) (*schema.Type, bool) {
	return testKind, version == "v1" || version == "v2"
}

func (f failingVersions) Convert(document.Value, string, string) (document.Value, error) {
	return document.Value{}, f.err
}

// TestNoOpSkipsConversion: a no-op does not convert documents, so it succeeds even if conversion fails.
func TestNoOpSkipsConversion(t *testing.T) {
	live := Object{Document: parse(`{number: 1, text: a}`), Entries: []Entry{
		{Manager: "me", Operation: Apply, APIVersion: "v1", FieldsV1: `{"f:number":{}}`},
		{Manager: "other", Operation: Apply, APIVersion: "v2", FieldsV1: `{"f:text":{}}`},
	}}
	for _, err := range []error{errors.New("down"), ErrVersionGone} {
		for _, plain := range []bool{false, true} {
			e := mustEngine(Options{Versions: failingVersions{err}, plain: plain})
			updated, updateErr := e.Update(live, live.Document, Request{Manager: "u", Version: "v1"})
			if updateErr != nil || !updated.NoOp {
				t.Errorf("update, plain=%v, conversion error %v: NoOp = %v, error = %v; want a no-op", plain, err, updated.NoOp, updateErr)
			}
			applied, applyErr := e.Apply(live, parse(`{number: 1}`), Request{Manager: "me", Version: "v1"})
			if applyErr != nil || !applied.NoOp {
				t.Errorf("apply, plain=%v, conversion error %v: NoOp = %v, error = %v; want a no-op", plain, err, applied.NoOp, applyErr)
			}
		}
	}
}

// TestConversionToRemovedVersion: if the object changes, an entry is dropped and reported if conversion to its version
// is no longer possible. It neither conflicts nor prevents pruning.
func TestConversionToRemovedVersion(t *testing.T) {
	other := Entry{Manager: "other", Operation: Apply, APIVersion: "v2", FieldsV1: `{"f:text":{}}`}
	own := Entry{Manager: "me", Operation: Apply, APIVersion: "v1", FieldsV1: `{"f:number":{},"f:text":{}}`}
	live := Object{Document: parse(`{number: 1, text: a}`), Entries: []Entry{own, other}}
	for _, plain := range []bool{false, true} {
		e := mustEngine(Options{Versions: failingVersions{ErrVersionGone}, plain: plain})
		for verb, do := range map[string]func() (Result, error){
			"apply": func() (Result, error) {
				return e.Apply(live, parse(`{number: 2}`), Request{Manager: "me", Version: "v1"})
			},
			"update": func() (Result, error) {
				return e.Update(live, parse(`{number: 2}`), Request{Manager: "you", Version: "v1"})
			},
		} {
			result, err := do()
			if err != nil || len(result.Dropped) != 1 || result.Dropped[0] != other || slices.Contains(result.Object.Entries, other) {
				t.Errorf("%s, plain=%v: Dropped = %v, Entries = %v, error = %v; want the entry of manager other dropped", verb, plain, result.Dropped, result.Object.Entries, err)
			}
			if got := result.Object.Document.JSON(); got != `{"number":2}` {
				t.Errorf("%s, plain=%v: document = %s, want {\"number\":2}", verb, plain, got)
			}
		}
	}
}

// TestUnavailableConversion: if conversion to the version of an entry is unavailable, an update keeps the entry and
// reports it in Result.Kept; an apply fails, because it could miss conflicts.
func TestUnavailableConversion(t *testing.T) {
	other := Entry{Manager: "other", Operation: Apply, APIVersion: "v2", FieldsV1: `{"f:text":{}}`}
	live := Object{Document: parse(`{number: 1, text: a}`), Entries: []Entry{other}}
	down := fmt.Errorf("the webhook is down: %w", ErrConversionUnavailable)
	for _, plain := range []bool{false, true} {
		e := mustEngine(Options{Versions: failingVersions{down}, plain: plain})
		updated, err := e.Update(live, parse(`{number: 2, text: a}`), Request{Manager: "me", Version: "v1"})
		if err != nil || !slices.Contains(updated.Object.Entries, other) || len(updated.Object.Entries) != 2 || len(updated.Kept) != 1 {
			t.Errorf("update, plain=%v: Entries = %v, Kept = %v, error = %v; want two entries, one of them kept", plain, updated.Object.Entries, updated.Kept, err)
		}
		if _, err := e.Apply(live, parse(`{number: 2}`), Request{Manager: "me", Version: "v1"}); !errors.Is(err, ErrConversionUnavailable) {
			t.Errorf("apply, plain=%v: error = %v, want ErrConversionUnavailable", plain, err)
		}
	}
}

// droppingVersions is testKind at v1 and v2. v2 has neither text nor flag: conversion to v2 drops these fields, as the
// conversion strategy None of CustomResourceDefinitions does for fields that a version does not declare.
type droppingVersions struct{}

func (droppingVersions) Type(string) (*schema.Type, bool) { return testKind, true }

func (droppingVersions) Convert(doc document.Value, _, to string) (document.Value, error) {
	doc = doc.With("apiVersion", document.NewString(to))
	if to == "v2" {
		doc = doc.Without("text").Without("flag")
	}
	return doc, nil
}

// TestPruneWithLossyOwnerVersion: pruning removes only released fields. A field stays although the version of some
// entry does not have it, whether the applier applies it, another manager owns it, or no manager owns it.
func TestPruneWithLossyOwnerVersion(t *testing.T) {
	for _, before := range []Entry{
		{APIVersion: "v1", FieldsV1: `{"f:map":{"f:k":{}},"f:number":{},"f:text":{}}`},
		{APIVersion: "v2", FieldsV1: `{"f:map":{"f:k":{}},"f:number":{}}`},
	} {
		for _, plain := range []bool{false, true} {
			t.Run(fmt.Sprintf("applied at %s, plain %t", before.APIVersion, plain), func(t *testing.T) {
				engine, err := New(Options{Versions: droppingVersions{}, plain: plain})
				if err != nil {
					t.Fatal(err)
				}
				before.Manager, before.Operation = "alice", Apply
				live := Object{
					Document: parse(`{apiVersion: v1, number: 1, text: a, flag: true, map: {k: 1}}`),
					Entries: []Entry{
						before,
						{Manager: "bob", Operation: Apply, APIVersion: "v2", FieldsV1: `{"f:number":{}}`},
						{Manager: "carol", Operation: Update, APIVersion: "v1", FieldsV1: `{"f:flag":{}}`},
					},
				}
				for config, want := range map[string]string{
					`{text: a}`:              `{apiVersion: v1, number: 1, text: a, flag: true}`,
					`{text: b, map: {z: 2}}`: `{apiVersion: v1, number: 1, text: b, flag: true, map: {z: 2}}`,
					`{number: 1, text: a}`:   `{apiVersion: v1, number: 1, text: a, flag: true}`,
				} {
					result, err := engine.Apply(live, parse(config), Request{Manager: "alice", Version: "v1"})
					if err != nil {
						t.Fatal(err)
					}
					if got := result.Object.Document; !document.Equal(got, parse(want)) {
						t.Errorf("%s: Apply() = %s, want %s", config, got, want)
					}
				}
			})
		}
	}
}

// TestPruneWithThirdVersionOwner: a field that is owned at a third version stays, even if another version at which
// there is an entry does not have the field.
func TestPruneWithThirdVersionOwner(t *testing.T) {
	engine := mustEngine(Options{Versions: droppingVersions{}})
	live := Object{
		Document: parse(`{apiVersion: v1, number: 1, text: a}`),
		Entries: []Entry{
			{Manager: "alice", Operation: Apply, APIVersion: "v1", FieldsV1: `{"f:number":{},"f:text":{}}`},
			{Manager: "bob", Operation: Apply, APIVersion: "v2", FieldsV1: `{"f:number":{}}`},
			{Manager: "carol", Operation: Apply, APIVersion: "v3", FieldsV1: `{"f:text":{}}`},
		},
	}
	result, err := engine.Apply(live, parse(`{flag: true}`), Request{Manager: "alice", Version: "v1"})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := result.Object.Document, parse(`{apiVersion: v1, flag: true, number: 1, text: a}`); !document.Equal(got, want) {
		t.Errorf("Apply() = %s, want %s", got, want)
	}
}
