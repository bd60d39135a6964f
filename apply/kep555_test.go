package apply

import (
	"errors"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/schema"
)

// KEP-555, Server-Side Apply: its statements, and the tests that prove them.
//
//	Motivation
//	  "... surprise!", five times                                   TestMotivationScenarios
//	Unit tests in structured-merge-diff
//	  Merge typed objects of the same type with a schema            TestMerge
//	  Merge deduced typed objects without a schema                  TestMergeUntyped
//	  Convert a typed value to a field set                          TestFieldsOf
//	  Diff two typed values                                         TestCompare
//	  Validate a typed value against its schema                     TestValidate
//	  Get correct conflicts when applying                           TestConflicts
//	  Apply works for deduced typed objects                         TestApplyUntyped
//	  Apply works for leaf fields with scalar values                TestApplyLeaves
//	  Apply works for items in associative lists of scalars         TestApplySets
//	  Apply works for items in associative lists with keys          TestApplyKeyedLists
//	  Apply works for nested schemas, including recursive schemas   TestApplyNested
//	  Apply works for multiple appliers                             TestApplyMultipleAppliers
//	  Apply works when the object conversion changes value of
//	  map keys                                                      TestConversionChangesKeys
//	  Apply works when unknown/obsolete versions are present        TestObsoleteVersions
//	Unit tests
//	  Apply strips certain fields from managers                     TestUntrackedFields
//	  ManagedFields API can be round tripped                        TestManagedFieldsRoundTrip
//	  Manager identifiers are encoded as json                       TestEntryIdentity (we compare entries, not their JSON)
//	  Managers are sorted by operation, timestamp, manager name     TestEntryOrder
//	  Conflicts will be returned as readable status errors          TestConflictMessage
//	  Fields API can be round tripped                               TestFieldsV1RoundTrip
//	  Fields API conversion catches errors                          TestFieldsV1Errors
//	  Path elements can be round tripped                            TestPathElements/round_trip
//	  Path element conversion will ignore unknown qualifiers        TestPathElements/unknown
//	  Path element conversion will fail for invalid values          TestPathElements/invalid
//	  Can convert both built-in objects and CRDs to typed objects   TestBuiltInAndCustomKinds
//	  Can convert typed objects between API versions                TestConvertBetweenVersions
//	Integration tests
//	  Creating an object with apply works                           TestApplyCreates
//	  Create is blocked on apply if uid is provided                 applytest/scripts/create/with-uid.txtar
//	  Apply has conflicts when changing fields set by Update,
//	  and is able to force                                          TestApplyAfterUpdate
//	  There are no changes to the managedFields API                 TestManagedFieldsEncoding
//	  ManagedFields has no entries for managers who manage nothing  TestEmptyEntriesAreRemoved
//	  Apply works with custom resources                             TestBuiltInAndCustomKinds
//	  Run kubectl apply tests with server-side flag enabled         test/clients/kubectls

// TestMotivationScenarios runs the five scenarios of KEP-555's motivation.
func TestMotivationScenarios(t *testing.T) {
	t.Run("POST, then change and apply", func(t *testing.T) {
		s := newScript(t)
		s.update("poster", `{number: 1, text: x}`)
		s.conflict("poster", `{number: 2, text: x}`, ".number poster/Update")
		s.force("poster", `{number: 2, text: x}`)
		s.want(`{number: 2, text: x}`)
	})
	t.Run("apply, then edit, then apply again", func(t *testing.T) {
		s := newScript(t)
		s.apply("ci", `{number: 1, text: x}`)
		s.update("kubectl-edit", `{number: 5, text: x}`)
		s.conflict("ci", `{number: 1, text: x}`, ".number kubectl-edit/Update")
		s.apply("ci", `text: z`) // omitting the field leaves it to the editor
		s.want(`{number: 5, text: z}`)
	})
	t.Run("GET, edit locally, then apply", func(t *testing.T) {
		s := newScript(t)
		s.apply("ci", `{number: 1, text: x}`)
		s.apply("ops", `{number: 1, text: x, flag: true}`) // ops applies all fields of the live object and one more field
		s.want(`{number: 1, text: x, flag: true}`)
		s.wantOwners("ci .number .text", "ops .number .text .flag")
	})
	t.Run("tweak some annotations, then apply", func(t *testing.T) {
		s := newScript(t)
		s.apply("ci", `{metadata: {labels: {app: web}}, number: 1}`)
		s.update("kubectl-label", `{metadata: {labels: {app: web, team: a}}, number: 1}`)
		s.apply("ci", `{metadata: {labels: {app: web}}, number: 2}`)
		s.want(`{metadata: {labels: {app: web, team: a}}, number: 2}`)
	})
	t.Run("Alice applies something, then Bob applies something", func(t *testing.T) {
		s := newScript(t)
		s.apply("alice", `struct: {a: 1}`)
		s.apply("bob", `struct: {b: 2}`)
		s.want(`struct: {a: 1, b: 2}`)
		s.wantOwners("alice .struct.a", "bob .struct.b")
	})
}

// mergeCase is a live value, a configuration, and the expected result of merging the configuration into the live value.
type mergeCase struct{ name, live, config, want string }

var mergeCases = []mergeCase{
	{"nothing into nothing", ``, ``, ``},
	{"into nothing", ``, `number: 1`, `number: 1`},
	{"nothing into something", `number: 1`, ``, `number: 1`},
	{"other scalar", `number: 1`, `number: 2`, `number: 2`},
	{"other field", `number: 1`, `text: x`, `{number: 1, text: x}`},
	{"null", `number: 1`, `number: null`, `number: null`},
	{"over null", `number: null`, `number: 1`, `number: 1`},
	{"null merged into a struct keeps the struct", `struct: {a: 1}`, `struct: null`, `struct: {a: 1}`},
	{"struct over null", `struct: null`, `struct: {a: 1}`, `struct: {a: 1}`},
	{"struct", `struct: {a: 1}`, `struct: {b: 2}`, `struct: {a: 1, b: 2}`},
	{"empty struct", `struct: {a: 1}`, `struct: {}`, `struct: {a: 1}`},
	{"atomic struct", `atomicStruct: {a: 1}`, `atomicStruct: {b: 2}`, `atomicStruct: {b: 2}`},
	{"map", `map: {a: 1, b: 1}`, `map: {b: 2, c: 2}`, `map: {a: 1, b: 2, c: 2}`},
	{"atomic map", `atomicMap: {a: 1}`, `atomicMap: {b: 2}`, `atomicMap: {b: 2}`},
	{"atomic list", `list: [a, b]`, `list: [c]`, `list: [c]`},
	{"emptied atomic list", `list: [a, b]`, `list: []`, `list: []`},
	{"set", `set: [a, b]`, `set: [b, c]`, `set: [a, b, c]`},
	{"empty set", `set: [a]`, `set: []`, `set: [a]`},
	{"list-map", `items: [{name: a, value: 1}]`, `items: [{name: a, tags: [x]}, {name: b}]`, `items: [{name: a, value: 1, tags: [x]}, {name: b}]`},
	{"list-map of atomic items", `atomicItems: [{name: a, value: 1}]`, `atomicItems: [{name: a}]`, `atomicItems: [{name: a}]`},
	{"defaulted key", `ports: [{port: 1, alias: x}]`, `ports: [{port: 1, protocol: TCP}]`, `ports: [{port: 1, protocol: TCP, alias: x}]`},
	{"deep", `tree: {child: {value: 1}}`, `tree: {child: {child: {value: 2}}}`, `tree: {child: {value: 1, child: {value: 2}}}`},
}

// listOrders tests the order of merged lists: applied items are in the order of the configuration, other items keep
// their position.
var listOrders = []mergeCase{
	{"applied order wins", `set: [a, b, c]`, `set: [c, a]`, `set: [b, c, a]`},
	{"reversed", `set: [a, b, c]`, `set: [c, b, a]`, `set: [c, b, a]`},
	{"other items keep their position", `set: [x, a, w, b, z]`, `set: [a, b]`, `set: [x, a, w, b, z]`},
	{"other items around a moved item", `set: [x, a, w, b, z]`, `set: [b, a]`, `set: [x, w, b, z, a]`},
	{"new items at the end", `set: [x]`, `set: [a, b]`, `set: [x, a, b]`},
	{"new item in front of a shared one", `set: [a, x]`, `set: [b, a]`, `set: [b, a, x]`},
	{"new item between shared ones", `set: [a, x, b]`, `set: [a, c, b]`, `set: [a, x, c, b]`},
	{"no common items", `set: [x, w, z]`, `set: [a]`, `set: [x, w, z, a]`},
	{"items", `items: [{name: a, value: 1}, {name: b}, {name: c}]`, `items: [{name: c}, {name: a}]`, `items: [{name: b}, {name: c}, {name: a, value: 1}]`},
}

// TestMerge: "Merge typed objects of the same type with a schema."
func TestMerge(t *testing.T) {
	for _, c := range append(mergeCases, listOrders...) {
		t.Run(c.name, func(t *testing.T) {
			live, config, want := parse(c.live), parse(c.config), parse(c.want)
			var m merger
			if got := m.merge(testKind, live, config); !document.Equal(got, want) {
				t.Errorf("merge() =\n%v\nwant\n%v", got, want)
			}
			a, _ := testOracle.typed(live, "v1")
			b, err := testOracle.typed(config, "v1")
			if err != nil {
				t.Fatal(err)
			}
			merged, err := a.Merge(b)
			if err != nil {
				t.Fatal(err)
			}
			if upstream := fromTyped(merged); !document.Equal(upstream, want) {
				t.Errorf("structured-merge-diff: Merge() = %v, want %v", upstream, want)
			}
		})
	}
}

// TestMergeSharesUnchangedParts: parts that merging does not change are shared with the live document.
func TestMergeSharesUnchangedParts(t *testing.T) {
	live := parse(`{struct: {a: 1}, map: {a: 1}, items: [{name: a, value: 1}, {name: b, value: 2}], number: 1}`)
	var m merger
	if got := m.merge(testKind, live, parse(`{number: 1.0, items: [{name: a, value: 1}]}`)); !document.Same(got, live) {
		t.Error("merging equal values returns a new document, want the live document")
	}
	got := m.merge(testKind, live, parse(`items: [{name: b, value: 3}]`))
	if !document.Same(got.Get("struct"), live.Get("struct")) || !document.Same(got.Get("items").At(0), live.Get("items").At(0)) {
		t.Error("the merged document copies unchanged parts, want it to share them with the live document")
	}
}

// TestMergeUntyped: "Merge deduced typed objects without a schema (for CRDs)."
func TestMergeUntyped(t *testing.T) {
	for _, c := range []mergeCase{
		{"maps are granular", `{a: {b: 1, c: 1}}`, `{a: {c: 2, d: 2}}`, `{a: {b: 1, c: 2, d: 2}}`},
		{"lists are atomic", `{a: [1, 2]}`, `{a: [3]}`, `{a: [3]}`},
		{"maps in lists are atomic", `{a: [{b: 1}]}`, `{a: [{c: 1}]}`, `{a: [{c: 1}]}`},
		{"map to list", `{a: {b: 1}}`, `{a: [1]}`, `{a: [1]}`},
		{"list to map", `{a: [1]}`, `{a: {b: 1}}`, `{a: {b: 1}}`},
		{"scalar to map", `{a: 1}`, `{a: {b: 1}}`, `{a: {b: 1}}`},
		{"map to scalar", `{a: {b: 1}}`, `{a: 1}`, `{a: 1}`},
		{"null over a map", `{a: {b: 1}}`, `{a: null}`, `{a: {b: 1}}`},
		{"empty map over a map", `{a: {b: 1}}`, `{a: {}}`, `{a: {b: 1}}`},
		{"empty list over a list", `{a: [1]}`, `{a: []}`, `{a: []}`},
		{"kinds of scalars", `{a: 1, b: x, c: true}`, `{a: x, b: true, c: 1}`, `{a: x, b: true, c: 1}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScript(t)
			s.live = Object{Document: parse("free: " + c.live), Entries: []Entry{{Manager: "none", Operation: Apply, APIVersion: "v1", FieldsV1: `{"f:text":{}}`}}}
			s.apply("m1", "free: "+c.config)
			s.want("free: " + c.want)
		})
	}
}

// TestFieldsOf: "Convert a typed value to a field set."
func TestFieldsOf(t *testing.T) {
	for _, c := range []struct{ name, doc, want string }{
		{"nothing", ``, ``},
		{"scalars", `{number: 1, text: x, flag: false}`, ".number .text .flag"},
		{"null", `number: null`, ".number"},
		{"null struct", `struct: null`, ".struct"},
		{"struct", `struct: {a: 1, inner: {b: 2}}`, ".struct.a .struct.inner.b"},
		{"empty struct", `struct: {}`, ".struct"},
		{"atomic struct", `atomicStruct: {a: 1}`, ".atomicStruct"},
		{"map", `map: {a: 1}`, ".map.a"},
		{"map of structs", `structs: {x: {a: 1}}`, ".structs.x .structs.x.a"},
		{"atomic map", `atomicMap: {a: 1}`, ".atomicMap"},
		{"atomic list", `list: [a]`, ".list"},
		{"empty atomic list", `list: []`, ".list"},
		{"set", `set: [a, b]`, `.set[="a"] .set[="b"]`},
		{"empty set", `set: []`, ``},
		{"numbers", `numbers: [1, 2.5]`, `.numbers[=1] .numbers[=2.5]`},
		{"list-map", `items: [{name: a, value: 1}]`, `.items[name="a"]{,.name,.value}`},
		{"two keys", `ports: [{port: 1, protocol: UDP}]`, `.ports[port=1,protocol="UDP"]{,.port,.protocol}`},
		{"defaulted key", `ports: [{port: 1}]`, `.ports[port=1,protocol="TCP"]{,.port}`},
		{"atomic item", `atomicItems: [{name: a, value: 1}]`, `.atomicItems[name="a"]`},
		{"nested lists", `items: [{name: a, tags: [x]}]`, `.items[name="a"]{,.name,.tags[="x"]}`},
		{"untyped", `free: {a: {b: [1]}, c: 1}`, ".free.a .free.a.b .free.c"},
		{"recursive", `tree: {forest: [{name: oak, tree: {value: 1}}]}`, `.tree.forest[name="oak"]{,.name,.tree.value}`},
		{"set with a duplicate", `set: [a, b, a]`, `.set[="a"] .set[="b"]`},
		{"list-map with a duplicate", `items: [{name: a, value: 1}, {name: b}, {name: a, tags: [x]}]`, `.items[name="a"] .items[name="b"]{,.name}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc := parse(c.doc)
			if got, want := fieldsOf(testKind, doc), pathSet(c.want); !got.Equal(want) {
				t.Errorf("fieldsOf() =\n%vwant\n%v", got, want)
			}
			upstream, err := testOracle.typed(doc, "v1", typed.AllowDuplicates)
			if err != nil {
				t.Fatal(err)
			}
			set, err := upstream.ToFieldSet()
			if err != nil {
				t.Fatal(err)
			}
			text, _ := set.ToJSON()
			if got := fieldsOf(testKind, doc).FieldsV1(); got != string(text) {
				t.Errorf("field set of the engine =\n%s\nfield set of structured-merge-diff =\n%s", got, text)
			}
		})
	}
}

// TestCompare: "Diff two typed values."
func TestCompare(t *testing.T) {
	for _, c := range []struct{ name, before, after, added, modified, removed string }{
		{"nothing", `number: 1`, `number: 1`, "", "", ""},
		{"number spellings", `number: 1`, `number: 1.0`, "", "", ""},
		{"added", ``, `number: 1`, ".number", "", ""},
		{"modified", `number: 1`, `number: 2`, "", ".number", ""},
		{"removed", `number: 1`, ``, "", "", ".number"},
		{"to null", `number: 1`, `number: null`, "", ".number", ""},
		{"null to absent", `number: null`, ``, "", "", ".number"},
		{"struct", `struct: {a: 1, b: 1}`, `struct: {b: 2, inner: {a: 1}}`, ".struct.inner .struct.inner.a", ".struct.b", ".struct.a"},
		{"whole struct", ``, `struct: {a: 1}`, ".struct .struct.a", "", ""},
		{"atomic struct", `atomicStruct: {a: 1}`, `atomicStruct: {a: 2}`, "", ".atomicStruct", ""},
		{"map", `map: {a: 1, b: 1}`, `map: {b: 2, c: 2}`, ".map.c", ".map.b", ".map.a"},
		{"atomic list", `list: [a]`, `list: [a, b]`, "", ".list", ""},
		{"order of an atomic list", `list: [a, b]`, `list: [b, a]`, "", ".list", ""},
		{"set", `set: [a, b]`, `set: [b, c]`, `.set[="c"]`, "", `.set[="a"]`},
		{"order of a set", `set: [a, b]`, `set: [b, a]`, "", "", ""},
		{"list-map", `items: [{name: a, value: 1}, {name: b}]`, `items: [{name: a, value: 2}, {name: c}]`,
			`.items[name="c"]{,.name}`, `.items[name="a"].value`, `.items[name="b"]{,.name}`},
		{"defaulted key", `ports: [{port: 1}]`, `ports: [{port: 1, protocol: TCP}]`, `.ports[port=1,protocol="TCP"].protocol`, "", ""},
		{"untyped map to list", `free: {a: 1}`, `free: [1]`, "", ".free", ".free.a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			before, after := parse(c.before), parse(c.after)
			got := new(Engine).compare(testKind, before, after)
			if !got.Added.Equal(pathSet(c.added)) || !got.Modified.Equal(pathSet(c.modified)) || !got.Removed.Equal(pathSet(c.removed)) {
				t.Errorf("compare():\nAdded\n%vModified\n%vRemoved\n%vwant added %q, modified %q, removed %q",
					got.Added, got.Modified, got.Removed, c.added, c.modified, c.removed)
			}
			a, _ := testOracle.typed(before, "v1")
			b, _ := testOracle.typed(after, "v1")
			upstream, err := a.Compare(b)
			if err != nil {
				t.Fatal(err)
			}
			if upstream.Added.String() != strings.TrimSuffix(got.Added.String(), "\n") ||
				upstream.Modified.String() != strings.TrimSuffix(got.Modified.String(), "\n") ||
				upstream.Removed.String() != strings.TrimSuffix(got.Removed.String(), "\n") {
				t.Errorf("structured-merge-diff: Compare() =\n%v\nwant the result of compare():\nAdded\n%vModified\n%vRemoved\n%v", upstream, got.Added, got.Modified, got.Removed)
			}
		})
	}
}

// TestValidate: "Validate a typed value against it's schema."
func TestValidate(t *testing.T) {
	for _, c := range []struct {
		name, config string
		paths        []string
		parts        []string
	}{
		{"string for a number", `number: x`, []string{".number"}, []string{"expected a number", `string "x"`}},
		{"number for a string", `text: 1`, []string{".text"}, []string{"expected a string", "number 1"}},
		{"number for a boolean", `flag: 1`, []string{".flag"}, []string{"expected a boolean"}},
		{"map for any scalar", `any: {a: 1}`, []string{".any"}, []string{"expected a string, number or boolean", `map {"a":1}`}},
		{"list for a map", `map: [1]`, []string{".map"}, []string{"expected a map", "list [1]"}},
		{"map for a list", `list: {a: 1}`, []string{".list"}, []string{"expected a list"}},
		{"scalar for a struct", `struct: 1`, []string{".struct"}, []string{"expected a map"}},
		{"undeclared field", `nope: 1`, []string{".nope"}, []string{"not declared in schema"}},
		{"undeclared field, deep", `struct: {inner: {nope: 1}}`, []string{".struct.inner.nope"}, []string{"not declared in schema"}},
		{"in an atomic struct", `atomicStruct: {a: x}`, []string{".atomicStruct.a"}, []string{"expected a number"}},
		{"in an atomic list", `structList: [{a: 1}, {a: x}]`, []string{".structList[1].a"}, []string{"expected a number"}},
		{"in a map", `map: {a: x}`, []string{".map.a"}, []string{"expected a number"}},
		{"in an item", `items: [{name: a, value: x}]`, []string{`.items[name="a"].value`}, []string{"expected a number"}},
		{"item without its key", `items: [{value: 1}]`, []string{".items[0]"}, []string{"with the key name", "add the key"}},
		{"item that is not a map", `items: [a]`, []string{".items[0]"}, []string{"expected a map with the key name", `string "a"`}},
		{"null item", `items: [null]`, []string{".items[0]"}, []string{"null"}},
		{"map in a set", `set: [{a: 1}]`, []string{".set[0]"}, []string{"the list is a set"}},
		{"null in a set", `set: [null]`, []string{".set[0]"}, []string{"null"}},
		{"number in a set of strings", `set: [1]`, []string{".set[=1]"}, []string{"expected a string"}},
		{"several", `{number: x, text: 1, flag: x}`, []string{".flag", ".number", ".text"}, []string{"3 problems"}},
		{"another version", `apiVersion: v2`, []string{".apiVersion"}, []string{`"v1"`, `"v2"`}},
		{"managedFields", `metadata: {managedFields: []}`, []string{".metadata.managedFields"}, []string{"remove it"}},
		{"not an object", `[1]`, []string{""}, []string{"expected an object"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			newScript(t).invalid("m1", c.config, c.paths, c.parts...)
		})
	}
	t.Run("no manager", func(t *testing.T) {
		_, err := newScript(t).tryApply("", `number: 1`, false)
		if err == nil || !strings.Contains(err.Error(), "Request.Manager must be set") {
			t.Errorf("Apply() error = %v, want an error about the missing field manager", err)
		}
	})
	t.Run("long values are truncated in errors", func(t *testing.T) {
		_, err := newScript(t).tryApply("m1", "number: "+strings.Repeat("x", 10_000), false)
		if len(err.Error()) > 300 {
			t.Errorf("len(Error()) = %d, want at most 300", len(err.Error()))
		}
	})
	t.Run("many problems are bounded", func(t *testing.T) {
		_, err := newScript(t).tryApply("m1", "structList: ["+strings.Repeat("{a: x}, ", 1000)+"]", false)
		var invalid *InvalidError
		if !errors.As(err, &invalid) || len(invalid.Fields) != maxProblems {
			t.Errorf("Apply() error = %v, want %d problems", err, maxProblems)
		}
	})
	t.Run("null is valid for every field", func(t *testing.T) {
		s := newScript(t)
		s.apply("m1", `{number: null, struct: null, map: {a: null}, list: null, set: null, items: null, free: null}`)
	})
}

// TestApplyUntyped: "Apply works for deduced typed objects."
func TestApplyUntyped(t *testing.T) {
	s := newScript(t)
	s.apply("m1", `free: {a: 1, b: {c: 1}, l: [1, {x: 1}]}`)
	s.wantOwners("m1 .free.a .free.b .free.b.c .free.l")
	s.apply("m2", `free: {b: {d: 1}}`)
	s.want(`free: {a: 1, b: {c: 1, d: 1}, l: [1, {x: 1}]}`)
	s.conflict("m2", `free: {b: {c: 2}, l: [1]}`, ".free.b.c m1", ".free.l m1")
	s.apply("m1", `free: {a: 1, b: {}}`)
	s.want(`free: {a: 1, b: {d: 1}}`)
	s.wantOwners("m1 .free.a .free.b", "m2 .free.b .free.b.d")
	s.apply("m2", ``)
	s.want(`free: {a: 1, b: {}}`)
	// A map replaces the number, which m1 applied before.
	s.apply("m1", `free: {a: {x: 1}}`)
	s.want(`free: {a: {x: 1}}`)
}

// TestApplyLeaves: "Apply works for leaf fields with scalar values."
func TestApplyLeaves(t *testing.T) {
	s := newScript(t)
	s.apply("default", `{number: 1, text: x, flag: true}`)
	s.wantOwners("default .number .text .flag")
	s.apply("default", `{number: 2, text: x, flag: false}`)
	s.want(`{number: 2, text: x, flag: false}`)
	s.noOp("default", `{number: 2, text: x, flag: false}`)
	s.apply("default", `text: x`)
	s.want(`text: x`)
	s.wantOwners("default .text")
	s.apply("default", ``)
	s.want(``)
	s.wantOwners()
}

// TestApplySets: "Apply works for items in associative lists of scalars."
func TestApplySets(t *testing.T) {
	t.Run("released items are pruned", func(t *testing.T) {
		s := newScript(t)
		s.apply("m1", `set: [a, b, c]`)
		s.apply("m1", `set: [a, c]`)
		s.want(`set: [a, c]`)
		s.wantOwners(`m1 .set[="a"] .set[="c"]`)
	})
	t.Run("items are shared", func(t *testing.T) {
		s := newScript(t)
		s.apply("m1", `set: [a, b]`)
		s.apply("m2", `set: [b, c]`)
		s.want(`set: [a, b, c]`)
		s.apply("m1", `set: []`)
		s.want(`set: [b, c]`)
		s.wantOwners(`m2 .set[="b"] .set[="c"]`)
	})
	t.Run("never a conflict", func(t *testing.T) {
		s := newScript(t)
		s.apply("m1", `set: [a, b]`)
		s.apply("m2", `set: [b, a]`)
		s.want(`set: [b, a]`)
		s.wantOwners(`m1 .set[="a"] .set[="b"]`, `m2 .set[="a"] .set[="b"]`)
	})
	t.Run("numbers by value", func(t *testing.T) {
		s := newScript(t)
		s.apply("m1", `numbers: [1, 2]`)
		s.apply("m2", `numbers: [1.0, 3]`)
		s.want(`numbers: [1, 2, 3]`)
	})
	t.Run("unowned items are pruned with the list, as upstream", func(t *testing.T) {
		s := newScript(t)
		s.live = Object{Document: parse(`set: [x]`), Entries: []Entry{{Manager: "m0", Operation: Apply, APIVersion: "v1", FieldsV1: `{"f:number":{}}`}}}
		s.apply("m1", `set: [a]`)
		s.want(`set: [x, a]`)
		s.apply("m1", ``)
		s.want(``)
	})
}

// TestApplyKeyedLists: "Apply works for items in associative lists with keys."
func TestApplyKeyedLists(t *testing.T) {
	t.Run("released items are pruned", func(t *testing.T) {
		s := newScript(t)
		s.apply("m1", `items: [{name: a, value: 1}, {name: b, value: 2}, {name: c, value: 3}]`)
		s.apply("m1", `items: [{name: c, value: 3}, {name: a, value: 1}]`)
		s.want(`items: [{name: c, value: 3}, {name: a, value: 1}]`)
		s.wantOwners(`m1 .items[name="a"]{,.name,.value} .items[name="c"]{,.name,.value}`)
	})
	t.Run("fields of items have separate owners", func(t *testing.T) {
		s := newScript(t)
		s.apply("m1", `items: [{name: a, value: 1}]`)
		s.apply("m2", `items: [{name: a, tags: [x]}]`)
		s.want(`items: [{name: a, value: 1, tags: [x]}]`)
		s.conflict("m2", `items: [{name: a, value: 2}]`, `.items[name="a"].value m1`)
		s.apply("m1", ``)
		s.want(`items: [{name: a, tags: [x]}]`)
		s.wantOwners(`m2 .items[name="a"]{,.name,.tags[="x"]}`)
		s.apply("m2", ``)
		s.wantOwners()
	})
	t.Run("an item is pruned although another manager owns a field in it", func(t *testing.T) {
		s := newScript(t)
		s.apply("m1", `items: [{name: a, value: 1}]`)
		s.update("m2", `items: [{name: a, value: 1, tags: [x]}]`)
		s.apply("m1", ``)
		// m2 owns the item's tag but not the item, because the update by m2 changed only a field of the item.
		s.want(`items: []`)
		s.wantOwners()
	})
	t.Run("two keys", func(t *testing.T) {
		s := newScript(t)
		s.apply("m1", `ports: [{port: 53, protocol: UDP, alias: u}, {port: 53, protocol: TCP, alias: t}]`)
		s.apply("m2", `ports: [{port: 53, protocol: UDP}]`)
		s.apply("m1", `ports: [{port: 53, protocol: TCP, alias: t}]`)
		s.want(`ports: [{port: 53, protocol: UDP}, {port: 53, protocol: TCP, alias: t}]`)
	})
	t.Run("defaulted key", func(t *testing.T) {
		s := newScript(t)
		s.apply("m1", `ports: [{port: 80, alias: a}]`)
		s.apply("m2", `ports: [{port: 80, protocol: TCP}]`)
		s.want(`ports: [{port: 80, protocol: TCP, alias: a}]`)
		s.wantOwners(`m1 .ports[port=80,protocol="TCP"]{,.port,.alias}`, `m2 .ports[port=80,protocol="TCP"]{,.port,.protocol}`)
		s.conflict("m2", `ports: [{port: 80, alias: b}]`, `.ports[port=80,protocol="TCP"].alias m1`)
	})
	t.Run("null key is a key", func(t *testing.T) {
		s := newScript(t)
		s.apply("m1", `ports: [{port: 80, protocol: null}]`)
		s.wantOwners(`m1 .ports[port=80,protocol=null]{,.port,.protocol}`)
	})
}

// TestApplyNested: "Apply works for nested schemas, including recursive schemas."
func TestApplyNested(t *testing.T) {
	s := newScript(t)
	s.apply("m1", `tree: {value: 1, child: {value: 2, child: {value: 3}}}`)
	s.apply("m2", `tree: {child: {forest: [{name: oak, tree: {value: 4}}, {name: elm}]}}`)
	s.want(`tree: {value: 1, child: {value: 2, child: {value: 3}, forest: [{name: oak, tree: {value: 4}}, {name: elm}]}}`)
	s.conflict("m1", `tree: {child: {forest: [{name: oak, tree: {value: 5}}]}}`, `.tree.child.forest[name="oak"].tree.value m2`)
	s.apply("m1", `tree: {value: 1}`)
	s.want(`tree: {value: 1, child: {forest: [{name: oak, tree: {value: 4}}, {name: elm}]}}`)
	s.apply("m2", `tree: {child: {forest: [{name: elm}]}}`)
	s.want(`tree: {value: 1, child: {forest: [{name: elm}]}}`)
	s.apply("m2", ``)
	s.want(`tree: {value: 1}`)
	s.wantOwners("m1 .tree.value")
	t.Run("emptied containers are pruned", func(t *testing.T) {
		s := newScript(t)
		s.apply("m1", `struct: {inner: {inner: {a: 1}}}`)
		s.apply("m1", ``)
		s.want(``)
	})
	t.Run("containers that are applied empty stay", func(t *testing.T) {
		s := newScript(t)
		s.apply("m1", `struct: {inner: {a: 1}}`)
		s.apply("m1", `struct: {inner: {}}`)
		s.want(`struct: {inner: {}}`)
		s.wantOwners("m1 .struct.inner")
	})
	t.Run("map entries", func(t *testing.T) {
		s := newScript(t)
		s.apply("m1", `structs: {x: {a: 1}, z: {a: 1}}`)
		s.apply("m2", `structs: {x: {b: 1}}`)
		s.apply("m1", ``)
		s.want(`structs: {x: {b: 1}}`)
	})
}

// TestApplyMultipleAppliers: "Apply works for multiple appliers."
func TestApplyMultipleAppliers(t *testing.T) {
	t.Run("equal values are shared", func(t *testing.T) {
		s := newScript(t)
		s.apply("m1", `number: 1`)
		s.apply("m2", `number: 1`)
		s.wantOwners("m1 .number", "m2 .number")
		s.conflict("m1", `number: 2`, ".number m2")
		s.apply("m2", ``)
		s.want(`number: 1`)
		s.apply("m1", `number: 2`)
		s.wantOwners("m1 .number")
	})
	t.Run("different spellings of a number are equal", func(t *testing.T) {
		s := newScript(t)
		s.apply("m1", `number: 1`)
		s.apply("m2", `number: 1.0`)
		if got := s.live.Document.String(); got != `{"number":1}` {
			t.Errorf("document = %s, want the live spelling 1", got)
		}
	})
	t.Run("released by one manager after another", func(t *testing.T) {
		s := newScript(t)
		all := `{number: 1, items: [{name: a, value: 1}], map: {x: 1}, set: [e]}`
		for _, m := range []string{"m1", "m2", "m3"} {
			s.apply(m, all)
		}
		s.apply("m1", ``)
		s.apply("m2", ``)
		s.want(all)
		s.apply("m3", ``)
		s.wantOwners()
		s.want(``)
	})
	t.Run("force and share again", func(t *testing.T) {
		s := newScript(t)
		s.apply("m1", `{number: 1, text: x}`)
		s.force("m2", `number: 2`)
		s.wantOwners("m1 .text", "m2 .number")
		s.conflict("m1", `{number: 1, text: x}`, ".number m2")
		s.apply("m1", `{number: 2, text: x}`)
		s.wantOwners("m1 .number .text", "m2 .number")
	})
	t.Run("subresources have separate entries", func(t *testing.T) {
		s := newScript(t)
		s.apply("m1", `number: 1`)
		s.subresource = "status"
		s.apply("m1", `status: {a: 1}`)
		s.wantOwners("m1 .number", "m1:status .status.a")
		s.want(`{number: 1, status: {a: 1}}`)
		s.conflict("m1", `number: 2`, ".number m1")
	})
}

// TestApplyCreates: "Creating an object with apply works ..."
func TestApplyCreates(t *testing.T) {
	s := newScript(t)
	config := `{apiVersion: v1, kind: Thing, metadata: {name: web, namespace: default, labels: {app: web}}, number: 1}`
	result := s.apply("ci", config)
	s.want(config)
	s.wantOwners("ci .metadata.labels.app .number")
	if result.NoOp || !result.Changes().Added.Has(mustPath(".number")) || !result.Changes().Removed.IsEmpty() {
		t.Errorf("NoOp = %v, Changes() = %v, want added fields only", result.NoOp, result.Changes())
	}
	if e := s.entry("ci"); !e.Time.Equal(s.now) {
		t.Errorf("Time = %v, want %v", e.Time, s.now)
	}
	t.Run("nothing at all", func(t *testing.T) {
		s := newScript(t)
		if result := s.apply("ci", ``); result.NoOp {
			t.Error("creating an empty object is a no-op, want a change")
		}
		s.wantOwners()
	})
}

// TestApplyAfterUpdate: "Apply has conflicts when changing fields set by Update, and
// is able to force."
func TestApplyAfterUpdate(t *testing.T) {
	s := newScript(t)
	s.apply("m1", `{number: 1, items: [{name: a, value: 1}]}`)
	s.update("kubectl-scale", `{number: 3, items: [{name: a, value: 1}]}`)
	s.wantOwners(`m1 .items[name="a"]{,.name,.value}`, "kubectl-scale/Update .number")
	s.conflict("m1", `{number: 5, items: [{name: a, value: 1}]}`, ".number kubectl-scale/Update")
	s.force("m1", `{number: 5, items: [{name: a, value: 1}]}`)
	s.want(`{number: 5, items: [{name: a, value: 1}]}`)
	s.wantOwners(`m1 .number .items[name="a"]{,.name,.value}`)
}

// TestEmptyEntriesAreRemoved: "ManagedFields has no entries for managers who manage no
// fields."
func TestEmptyEntriesAreRemoved(t *testing.T) {
	s := newScript(t)
	s.apply("m1", `number: 1`)
	s.apply("m2", `text: x`)
	s.update("m3", `{number: 1, text: x, flag: true}`)
	s.force("m2", `{number: 2, text: x, flag: false}`)
	s.wantOwners("m2 .number .text .flag")
	s.update("m3", `{number: 3, text: z, flag: true}`)
	s.wantOwners("m3/Update .number .text .flag")
	s.update("m4", ``)
	s.wantOwners()
	t.Run("empty entries that were read", func(t *testing.T) {
		s := newScript(t)
		s.live = Object{Document: parse(`number: 1`), Entries: []Entry{
			{Manager: "idle", Operation: Apply, APIVersion: "v1", FieldsV1: "{}"},
			{Manager: "m1", Operation: Apply, APIVersion: "v1", FieldsV1: `{"f:number":{}}`}}}
		for range 3 { // repeated, so that the field sets are in the engine's cache
			s := *s
			s.apply("m1", `number: 2`)
			s.wantOwners("m1 .number")
		}
	})
	t.Run("only the identity of the object", func(t *testing.T) {
		s := newScript(t)
		s.apply("m1", `{apiVersion: v1, kind: Thing, metadata: {name: x}}`)
		s.wantOwners()
	})
}

// TestEntryIdentity: "Manager identifiers passed to structured-merge-diff are encoded as json." The engine compares
// the identity of entries instead: an applier has one entry per subresource, independent of the version; a manager
// with operation Update has one entry per subresource and version.
func TestEntryIdentity(t *testing.T) {
	base := Entry{Manager: "m", Operation: Apply, APIVersion: "v1"}
	update := Entry{Manager: "m", Operation: Update, APIVersion: "v1"}
	for _, c := range []struct {
		name string
		a, b Entry
		want bool
	}{
		{"itself", base, base, true},
		{"another time", base, Entry{Manager: "m", Operation: Apply, APIVersion: "v1", Time: time.Now()}, true},
		{"another set", base, Entry{Manager: "m", Operation: Apply, APIVersion: "v1", FieldsV1: `{"f:x":{}}`}, true},
		{"applier at another version", base, Entry{Manager: "m", Operation: Apply, APIVersion: "v2"}, true},
		{"another operation", base, update, false},
		{"another name", base, Entry{Manager: "n", Operation: Apply, APIVersion: "v1"}, false},
		{"another subresource", base, Entry{Manager: "m", Operation: Apply, APIVersion: "v1", Subresource: "status"}, false},
		{"updater itself", update, update, true},
		{"updater at another version", update, Entry{Manager: "m", Operation: Update, APIVersion: "v2"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.a.sameManager(c.b) != c.want || c.b.sameManager(c.a) != c.want {
				t.Errorf("sameManager() = %v, want %v", !c.want, c.want)
			}
		})
	}
}

// TestEntryOrder: "Managers will be sorted by operation, then timestamp, then manager
// name."
func TestEntryOrder(t *testing.T) {
	at := func(second int) time.Time { return time.Unix(int64(1_700_000_000+second), 0) }
	want := []Entry{
		{Manager: "z", Operation: Apply, APIVersion: "v1"}, // entries without a time sort first
		{Manager: "b", Operation: Apply, APIVersion: "v1", Time: at(1)},
		{Manager: "a", Operation: Apply, APIVersion: "v1", Time: at(2)},
		{Manager: "b", Operation: Apply, APIVersion: "v1", Time: at(2)},
		{Manager: "a", Operation: Update, APIVersion: "v1", Time: at(0)},
		{Manager: "a", Operation: Update, APIVersion: "v2", Time: at(0)},
		{Manager: "a", Operation: Update, APIVersion: "v2", Subresource: "status", Time: at(0)},
		{Manager: "a", Operation: Update, APIVersion: "v1", Time: at(1)},
	}
	for seed := range uint64(20) {
		got := append([]Entry(nil), want...)
		newGenerator(seed).Shuffle(len(got), func(i, j int) { got[i], got[j] = got[j], got[i] })
		SortEntries(got)
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("seed %d: entry %d = %v, want %v", seed, i, got[i], want[i])
			}
		}
	}
}

// TestFieldsV1RoundTrip: "Fields API can be round tripped through the
// structured-merge-diff format."
func TestFieldsV1RoundTrip(t *testing.T) {
	for _, text := range []string{
		`{}`,
		`{"f:spec":{}}`,
		`{"f:spec":{".":{},"f:replicas":{}}}`,
		`{"f:metadata":{"f:labels":{"f:app.kubernetes.io/name":{}}}}`,
		`{"f:items":{"k:{\"name\":\"a\"}":{".":{},"f:name":{}},"k:{\"port\":1,\"protocol\":\"TCP\"}":{}}}`,
		`{"f:set":{"v:\"a\"":{},"v:1":{},"v:true":{}}}`,
		`{"f:list":{"i:0":{},"i:1":{"f:a":{}}}}`,
	} {
		e := Entry{FieldsV1: text}
		fields, err := e.Fields()
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		upstream, err := smdSet(text).ToJSON()
		if err != nil {
			t.Fatal(err)
		}
		if got := fields.FieldsV1(); got != string(upstream) {
			t.Errorf("%s: FieldsV1() =\n%s, upstream\n%s", text, got, upstream)
		}
	}
}

// TestFieldsV1Errors: "Fields API conversion to and from the structured-merge-diff
// format catches errors."
func TestFieldsV1Errors(t *testing.T) {
	for _, text := range []string{``, `[]`, `"x"`, `{`, `{"f:a":`, `{"f:a":1}`, `{"a":{}}`, `{"k:{":{}}`, `{"v:":{}}`, `{"i:x":{}}`, `{"f:a":{}}x`} {
		if fields, err := (Entry{FieldsV1: text}).Fields(); err == nil {
			t.Errorf("%s: Fields() = %v, want an error", text, fields)
		}
	}
}

// TestPathElements: "Path elements can be round tripped ...", "Path element conversion
// will ignore unknown qualifiers", "Path element conversion will fail if a known
// qualifier's value is invalid".
func TestPathElements(t *testing.T) {
	t.Run("round trip", func(t *testing.T) {
		for _, text := range []string{"i:0", "i:1234", "f:", "f:spec", "f:more-complicated-string",
			`k:{"name":"my-container"}`, `k:{"port":"8080","protocol":"TCP"}`, `k:{"optionalField":null}`,
			`v:"some-string"`, "v:1234", `v:true`} {
			e, err := fieldset.ParseElement(text)
			if err != nil {
				t.Errorf("%s: %v", text, err)
				continue
			}
			again, err := fieldset.ParseFieldsV1(fieldset.New(fieldset.Path{e}).FieldsV1())
			if err != nil || !again.Has(fieldset.Path{e}) {
				t.Errorf("path element %s does not round-trip: got %v, error %v", text, again, err)
			}
		}
	})
	t.Run("unknown", func(t *testing.T) {
		fields, err := Entry{FieldsV1: `{"r:Hello":{},"f:a":{"x:y":{"f:b":{}},"f:c":{}}}`}.Fields()
		if err != nil || !fields.Equal(pathSet(".a.c")) {
			t.Errorf("Fields() = %v, %v, want .a.c", fields, err)
		}
	})
	t.Run("invalid", func(t *testing.T) {
		for _, text := range []string{"i:index.0", "i:1.5", "k:invalid json", `k:{"name":invalid}`, "v:invalid json", "x"} {
			if e, err := fieldset.ParseElement(text); err == nil {
				t.Errorf("ParseElement(%s) = %v, want an error", text, e)
			}
		}
	})
}

// TestBuiltInAndCustomKinds: "Can convert both built-in objects and CRDs to
// structured-merge-diff typed objects" and "Apply works with custom resources."
func TestBuiltInAndCustomKinds(t *testing.T) {
	openAPI := parse(`
openapi: 3.0.0
components:
  schemas:
    Deployment:
      type: object
      x-kubernetes-group-version-kind: [{group: apps, version: v1, kind: Deployment}]
      properties:
        apiVersion: {type: string}
        kind: {type: string}
        metadata: {type: object, properties: {name: {type: string}}}
        spec:
          type: object
          properties:
            replicas: {type: integer}
            containers:
              type: array
              x-kubernetes-list-type: map
              x-kubernetes-list-map-keys: [name]
              items: {type: object, properties: {name: {type: string}, image: {type: string}}}
`)
	crd := parse(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: deployments.example.com}
spec:
  group: example.com
  names: {kind: Deployment}
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              replicas: {type: integer}
              containers:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items: {type: object, required: [name], properties: {name: {type: string}, image: {type: string}}}
`)
	builtIn, err := schema.LoadOpenAPI(openAPI)
	if err != nil {
		t.Fatal(err)
	}
	deployment, ok := builtIn.Kind("apps", "v1", "Deployment")
	if !ok {
		t.Fatal("Kind(apps, v1, Deployment) finds no type, want the Deployment of the schema")
	}
	custom, err := schema.LoadCRD(crd)
	if err != nil {
		t.Fatal(err)
	}
	for name, root := range map[string]*schema.Type{"built-in": deployment, "custom": custom["v1"]} {
		t.Run(name, func(t *testing.T) {
			s := newScript(t, Options{Versions: OneVersion("v1", root)})
			s.apply("ci", `{apiVersion: v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 1, containers: [{name: app, image: a}]}}`)
			s.wantOwners(`ci .spec.replicas .spec.containers[name="app"]{,.name,.image}`)
			s.apply("ops", `spec: {containers: [{name: proxy, image: p}]}`)
			s.conflict("ops", `spec: {containers: [{name: app, image: b}]}`, `.spec.containers[name="app"].image ci`)
			s.want(`{apiVersion: v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 1, containers: [{name: app, image: a}, {name: proxy, image: p}]}}`)
		})
	}
	t.Run("without a schema", func(t *testing.T) {
		s := newScript(t, Options{Versions: OneVersion("v1", schema.Untyped)})
		s.apply("ci", `{kind: Deployment, metadata: {name: web, labels: {a: b}}, spec: {containers: [{name: app}]}}`)
		s.wantOwners("ci .metadata.labels .metadata.labels.a .spec .spec.containers")
	})
}
