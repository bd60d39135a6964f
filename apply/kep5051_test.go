package apply

import (
	"strings"
	"testing"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/schema"
)

// KEP-5051, Server Side Apply: Unsetting fields: its statements, and the tests that prove them.
//
//	User stories
//	  Apply (force=true) to unset an owned listType=map element            TestUnsetStories/list-map_element
//	  Apply (force=true) to unset an owned granular map value              TestUnsetStories/granular_map_value
//	  Apply (force=false) to an owned field                                TestUnsetStories/owned_field
//	  Apply (force=false) to a unset field that is owned                   TestUnsetStories/owned_absence
//	  Apply (force=false) to unset a field that is owned but already unset TestUnsetStories/shared_absence
//	  Apply to a field with a default value                                TestUnsetStories/default
//	Defaulting considerations
//	  1. not explicitly set, but defaulted, is unowned                     TestUnsetDefaults/a_defaulted_field_has_no_owner
//	  2. defaulting still applies; owns the defaulted value                TestUnsetDefaults/the_applier_of_the_marker_owns_the_default
//	     two managers that unset share                                     TestUnsetDefaults/two_appliers_of_markers_share_the_default
//	  3. defaulted listType=map keys                                       TestUnsetKeys/defaulted_key
//	Unset marker escaping
//	  not supported                                                        TestUnsetHasNoEscape
//	Unit tests
//	  scalar, list, map, struct and null types                             TestUnsetTopologies
//	  key formats (single, multiple, with defaults)                        TestUnsetKeys
//	  force=true and force=false (conflict, no conflict, shared)           TestUnsetForce
//	  already managed fields (set, unset), unmanaged fields                TestUnsetManagedFields
//	  defaulted fields                                                     TestUnsetDefaults
//	  a mix of apply and update requests from the same field manager       TestUnsetMixedWithUpdate
//	  after another manager used create, update and all forms of patch     TestUnsetAfterUpdates
//	  invalid values of the marker key give clear errors                   TestUnsetErrors
//	  only key fields as siblings, else a clear error                      TestUnsetErrors
//	Integration tests
//	  feature gate enablement/disablement                                  TestUnsetOption
//	  unset field markers are detected and used                            TestUnsetTopologies
//	  tracked correctly in managedFields across multiple requests          TestUnsetAcrossRequests
//	  applyconfiguration-gen generates typesafe bindings                   not covered: the generator is client-go's
//	  MutatingAdmissionPolicy                                              TestMergeUnsets, app.TestMutatingPolicyUnsetsWithoutTheGate

// TestUnsetStories runs the user stories in the order of the KEP.
func TestUnsetStories(t *testing.T) {
	t.Run("list-map element", func(t *testing.T) {
		s := newScript(t)
		s.apply("fieldManager1", `items: [{name: a, value: 1}, {name: b, value: 2}]`)
		s.force("fieldManager2", `items: [{name: b, k8s_io__value: unset}]`)
		s.want(`items: [{name: a, value: 1}]`)
		s.wantOwners(`fieldManager1 .items[name="a"]{,.name,.value}`, `fieldManager2 .items[name="b"]`)
	})
	t.Run("granular map value", func(t *testing.T) {
		s := newScript(t)
		s.apply("fieldManager1", `map: {a: 1, b: 2}`)
		s.force("fieldManager2", `map: {b: {k8s_io__value: unset}}`)
		s.want(`map: {a: 1}`)
		// The user story does not mention that fieldManager1 keeps the field a.
		s.wantOwners("fieldManager1 .map.a", "fieldManager2 .map.b")
	})
	t.Run("owned field", func(t *testing.T) {
		s := newScript(t)
		s.apply("fieldManager1", `struct: {a: 1}`)
		s.conflict("fieldManager2", `struct: {a: {k8s_io__value: unset}}`, ".struct.a fieldManager1")
	})
	t.Run("owned absence", func(t *testing.T) {
		s := newScript(t)
		s.apply("fieldManager1", `struct: {a: {k8s_io__value: unset}}`)
		s.wantOwners("fieldManager1 .struct.a")
		s.conflict("fieldManager2", `struct: {a: 5}`, ".struct.a fieldManager1")
	})
	t.Run("shared absence", func(t *testing.T) {
		s := newScript(t)
		s.apply("fieldManager1", `struct: {a: {k8s_io__value: unset}}`)
		s.apply("fieldManager2", `struct: {a: {k8s_io__value: unset}}`)
		s.want(``)
		s.wantOwners("fieldManager1 .struct.a", "fieldManager2 .struct.a")
	})
	t.Run("default", func(t *testing.T) {
		s := newScript(t, Options{Unset: true, Default: defaultNumber})
		s.live = Object{Document: parse(`number: 7`)}
		s.live.Entries = []Entry{{Manager: "fieldManager1", Operation: Apply, APIVersion: "v1", FieldsV1: "{}"}}
		s.force("fieldManager2", `number: {k8s_io__value: unset}`)
		s.want(`number: 7`)
		s.wantOwners("fieldManager2 .number")
	})
}

// defaultNumber is the defaulting function of a kind in which number defaults to 7.
func defaultNumber(doc document.Value) document.Value {
	if !doc.Get("number").IsAbsent() {
		return doc
	}
	return doc.With("number", document.NewInt(7))
}

// defaultField returns the defaulting function of a kind in which one field has a default.
func defaultField(name, value string) func(document.Value) document.Value {
	byDefault := parse(value)
	return func(doc document.Value) document.Value {
		if !doc.Get(name).IsAbsent() {
			return doc
		}
		return doc.With(name, byDefault)
	}
}

// unsetCase is a field of testKind, with a value that manager 1 applies and that another manager then unsets.
type unsetCase struct {
	name, field string
	value       string // the value that manager 1 applies
	owned       string // the paths that manager 1 owns
	conflicts   string // the paths at which the unset marker conflicts with manager 1
}

var unsetCases = []unsetCase{
	{"number", "number", `1`, ".number", ".number"},
	{"number zero", "number", `0`, ".number", ".number"},
	{"string", "text", `x`, ".text", ".text"},
	{"empty string", "text", `""`, ".text", ".text"},
	{"bool", "flag", `true`, ".flag", ".flag"},
	{"untyped scalar", "any", `x`, ".any", ".any"},
	{"null scalar", "number", `null`, ".number", ".number"},
	{"null struct", "struct", `null`, ".struct", ".struct"},
	{"null list", "list", `null`, ".list", ".list"},
	{"null map", "map", `null`, ".map", ".map"},
	{"granular map", "map", `{a: 1, b: 2}`, ".map.a .map.b", ".map.a .map.b"},
	{"empty granular map", "map", `{}`, ".map", ".map"},
	{"map of structs", "structs", `{x: {a: 1}}`, ".structs.x .structs.x.a", ".structs.x .structs.x.a"},
	{"atomic map", "atomicMap", `{a: 1}`, ".atomicMap", ".atomicMap"},
	{"granular struct", "struct", `{a: 1, inner: {b: 2}}`, ".struct.a .struct.inner.b", ".struct.a .struct.inner.b"},
	{"atomic struct", "atomicStruct", `{a: 1}`, ".atomicStruct", ".atomicStruct"},
	{"atomic list", "list", `[x, z]`, ".list", ".list"},
	{"atomic list of structs", "structList", `[{a: 1}]`, ".structList", ".structList"},
	{"set", "set", `[x, z]`, `.set[="x"] .set[="z"]`, `.set[="x"] .set[="z"]`},
	{"set of numbers", "numbers", `[1, 2]`, `.numbers[=1] .numbers[=2]`, `.numbers[=1] .numbers[=2]`},
	{"list-map", "items", `[{name: a, value: 1}]`, `.items[name="a"]{,.name,.value}`, `.items[name="a"] .items[name="a"].name .items[name="a"].value`},
	{"list-map of two keys", "ports", `[{port: 1}]`, `.ports[port=1,protocol="TCP"]{,.port}`, `.ports[port=1,protocol="TCP"] .ports[port=1,protocol="TCP"].port`},
	{"list-map of atomic items", "atomicItems", `[{name: a, value: 1}]`, `.atomicItems[name="a"]`, `.atomicItems[name="a"]`},
	{"untyped map", "free", `{x: {w: 1}, z: [1]}`, ".free.x .free.x.w .free.z", ".free.x .free.x.w .free.z"},
	{"untyped list", "free", `[1, 2]`, ".free", ".free"},
	{"untyped scalar value", "free", `1`, ".free", ".free"},
	{"recursive struct", "tree", `{child: {child: {value: 1}}}`, ".tree.child.child.value", ".tree.child.child.value"},
}

// TestUnsetTopologies unsets a field of every topology. Without force, the unset marker conflicts with every owner of a
// field inside; with force, the field is removed and the manager owns its absence. Setting any value there again
// conflicts.
//
// "scalar (numeric, string, bool), list (atomic/set/map) and map (atomic/granular), and struct (atomic/granular) and
// null types"
func TestUnsetTopologies(t *testing.T) {
	for _, c := range unsetCases {
		t.Run(c.name, func(t *testing.T) {
			s := newScript(t)
			s.apply("m1", c.field+": "+c.value)
			s.wantOwners("m1 " + c.owned)
			var conflicts []string
			for _, path := range strings.Fields(c.conflicts) {
				conflicts = append(conflicts, path+" m1")
			}
			s.conflict("m2", c.field+": {k8s_io__value: unset}", conflicts...)
			s.force("m2", c.field+": {k8s_io__value: unset}")
			s.want(``)
			s.wantOwners("m2 ." + c.field)
			s.noOp("m2", c.field+": {k8s_io__value: unset}")
			s.conflict("m1", c.field+": "+c.value, "."+c.field+" m2")
			s.conflict("m3", c.field+": null", "."+c.field+" m2")
			s.force("m1", c.field+": "+c.value)
			s.want(c.field + ": " + c.value)
			s.wantOwners("m1 " + c.owned)
		})
	}
}

// TestUnsetContainerWithSeveralOwners unsets maps and lists in which several managers own fields.
func TestUnsetContainerWithSeveralOwners(t *testing.T) {
	for _, c := range []struct {
		name, field, one, two string
		conflicts             []string
	}{
		{"granular map", "map", `{a: 1}`, `{b: 2}`, []string{".map.a m1", ".map.b m2"}},
		{"struct", "struct", `{a: 1}`, `{inner: {a: 1}}`, []string{".struct.a m1", ".struct.inner.a m2"}},
		{"shared field", "struct", `{a: 1}`, `{a: 1}`, []string{".struct.a m2,m1"}},
		{"set", "set", `[x, both]`, `[z, both]`, []string{`.set[="both"] m1,m2`, `.set[="x"] m1`, `.set[="z"] m2`}},
		{"list-map", "items", `[{name: a}]`, `[{name: a, value: 1}, {name: b}]`, []string{
			`.items[name="a"] m1,m2`, `.items[name="a"].name m1,m2`, `.items[name="a"].value m2`,
			`.items[name="b"] m2`, `.items[name="b"].name m2`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScript(t)
			s.apply("m1", c.field+": "+c.one)
			s.apply("m2", c.field+": "+c.two)
			s.conflict("m3", c.field+": {k8s_io__value: unset}", c.conflicts...)
			s.force("m3", c.field+": {k8s_io__value: unset}")
			s.want(``)
			s.wantOwners("m3 ." + c.field)
		})
	}
}

// TestUnsetContainerKeepsConflicting: as long as a container is unset, setting any field in it conflicts, at any
// depth.
func TestUnsetContainerKeepsConflicting(t *testing.T) {
	for _, c := range []struct{ field, inside string }{
		{"map", `{a: 1}`},
		{"map", `{}`},
		{"struct", `{a: 1}`},
		{"struct", `{inner: {inner: {b: 1}}}`},
		{"struct", `{}`},
		{"structs", `{x: {inner: {a: 1}}}`},
		{"set", `[x]`},
		{"items", `[{name: a}]`},
		{"items", `[{name: a, tags: [x]}]`},
		{"ports", `[{port: 80, protocol: UDP}]`},
		{"free", `{x: {w: {z: 1}}}`},
		{"tree", `{forest: [{name: oak, tree: {value: 1}}]}`},
	} {
		t.Run(c.field+" "+c.inside, func(t *testing.T) {
			s := newScript(t)
			s.apply("m1", c.field+": {k8s_io__value: unset}")
			s.conflict("m2", c.field+": "+c.inside, "."+c.field+" m1")
			s.conflict("m2", c.field+": "+c.inside, "."+c.field+" m1")
		})
	}
	t.Run("inside an unset entry", func(t *testing.T) {
		s := newScript(t)
		s.apply("m0", `structs: {w: {a: 1}}`)
		s.apply("m1", `structs: {x: {k8s_io__value: unset}}`)
		s.conflict("m2", `structs: {x: {inner: {a: 1}}}`, ".structs.x m1")
		s.apply("m2", `structs: {z: {a: 1}}`)
	})
}

// TestUnsetKeys: "key formats (single key, multiple key, keys fields with defaults)"
func TestUnsetKeys(t *testing.T) {
	t.Run("single key", func(t *testing.T) {
		s := newScript(t)
		s.apply("m1", `items: [{name: a, value: 1}, {name: b, value: 2}]`)
		s.conflict("m2", `items: [{name: b, k8s_io__value: unset}]`,
			`.items[name="b"] m1`, `.items[name="b"].name m1`, `.items[name="b"].value m1`)
		s.force("m2", `items: [{name: b, k8s_io__value: unset}]`)
		s.want(`items: [{name: a, value: 1}]`)
		s.conflict("m1", `items: [{name: a, value: 1}, {name: b}]`, `.items[name="b"] m2`)
	})
	t.Run("multiple keys", func(t *testing.T) {
		s := newScript(t)
		s.apply("m1", `ports: [{port: 53, protocol: UDP}, {port: 53, protocol: TCP}]`)
		s.force("m2", `ports: [{port: 53, protocol: UDP, k8s_io__value: unset}]`)
		s.want(`ports: [{port: 53, protocol: TCP}]`)
		s.wantOwners(`m1 .ports[port=53,protocol="TCP"]{,.port,.protocol}`, `m2 .ports[port=53,protocol="UDP"]`)
	})
	t.Run("defaulted key", func(t *testing.T) {
		// A marker such as {keyField1: "x", k8s_io__value: unset} is treated as
		// {keyField1: "x", defaultedKeyField: "defaultValue", k8s_io__value: unset}.
		s := newScript(t)
		s.apply("m1", `ports: [{port: 53, protocol: UDP}, {port: 53, protocol: TCP}]`)
		s.force("m2", `ports: [{port: 53, k8s_io__value: unset}]`)
		s.want(`ports: [{port: 53, protocol: UDP}]`)
		s.wantOwners(`m1 .ports[port=53,protocol="UDP"]{,.port,.protocol}`, `m2 .ports[port=53,protocol="TCP"]`)
		s.noOp("m2", `ports: [{port: 53, protocol: TCP, k8s_io__value: unset}]`)
		s.conflict("m1", `ports: [{port: 53}, {port: 53, protocol: UDP}]`, `.ports[port=53,protocol="TCP"] m2`)
	})
	t.Run("null for a defaulted key", func(t *testing.T) {
		s := newScript(t)
		s.apply("m1", `ports: [{port: 53, protocol: UDP}, {port: 53, protocol: TCP}]`)
		s.force("m2", `ports: [{port: 53, protocol: null, k8s_io__value: unset}]`)
		s.want(`ports: [{port: 53, protocol: UDP}]`)
		s.wantOwners(`m1 .ports[port=53,protocol="UDP"]{,.port,.protocol}`, `m2 .ports[port=53,protocol="TCP"]`)
		s.invalid("m3", `ports: [{port: 53, protocol: null, k8s_io__value: unset}, {port: 53, protocol: TCP}]`,
			[]string{`.ports[port=53,protocol="TCP"]`}, "index 0", "index 1")
		s.invalid("m3", `ports: [{port: null, k8s_io__value: unset}]`, []string{`.ports[port=null,protocol="TCP"]`}, "key port, received null")
	})
	t.Run("live item without the defaulted key", func(t *testing.T) {
		s := newScript(t)
		s.apply("m1", `ports: [{port: 53, alias: dns}]`)
		s.force("m2", `ports: [{port: 53, protocol: TCP, k8s_io__value: unset}]`)
		s.want(`ports: []`)
		s.wantOwners(`m2 .ports[port=53,protocol="TCP"]`)
	})
	t.Run("marker and value of the same item", func(t *testing.T) {
		s := newScript(t)
		s.invalid("m1", `ports: [{port: 53, k8s_io__value: unset}, {port: 53, protocol: TCP}]`,
			[]string{`.ports[port=53,protocol="TCP"]`}, "index 0", "index 1")
	})
	t.Run("field of an item", func(t *testing.T) {
		s := newScript(t)
		s.apply("m1", `items: [{name: a, value: 1, tags: [x]}]`)
		s.force("m2", `items: [{name: a, value: {k8s_io__value: unset}}]`)
		s.want(`items: [{name: a, tags: [x]}]`)
		s.wantOwners(`m1 .items[name="a"]{,.name,.tags[="x"]}`, `m2 .items[name="a"]{,.name,.value}`)
	})
	t.Run("markers and values in one list", func(t *testing.T) {
		s := newScript(t)
		s.apply("m1", `items: [{name: a}, {name: b}, {name: c}]`)
		s.force("m2", `items: [{name: d, value: 4}, {name: b, k8s_io__value: unset}]`)
		s.want(`items: [{name: a}, {name: c}, {name: d, value: 4}]`)
		s.wantOwners(`m1 .items[name="a"]{,.name} .items[name="c"]{,.name}`, `m2 .items[name="b"] .items[name="d"]{,.name,.value}`)
	})
}

// TestUnsetForce: "force=true and force=false apply requests (applying where
// conflicts are expected, applying where conflicts should not happen, applying where
// field ownership becomes shared)"
func TestUnsetForce(t *testing.T) {
	for _, force := range []bool{false, true} {
		name := map[bool]string{false: "force=false ", true: "force=true "}[force]
		t.Run(name+"conflict expected", func(t *testing.T) {
			s := newScript(t)
			s.apply("m1", `{number: 1, text: x}`)
			result, err := s.tryApply("m2", `number: {k8s_io__value: unset}`, force)
			if !force {
				s.wantConflicts(err, ".number m1")
				return
			}
			s.mustSucceed(result, err)
			s.want(`text: x`)
			s.wantOwners("m1 .text", "m2 .number")
		})
		t.Run(name+"no conflict", func(t *testing.T) {
			s := newScript(t)
			s.apply("m1", `text: x`)
			s.mustSucceed(s.tryApply("m2", `number: {k8s_io__value: unset}`, force))
			s.want(`text: x`)
			s.wantOwners("m1 .text", "m2 .number")
		})
		t.Run(name+"shared", func(t *testing.T) {
			s := newScript(t)
			s.apply("m1", `number: {k8s_io__value: unset}`)
			s.mustSucceed(s.tryApply("m2", `number: {k8s_io__value: unset}`, force))
			s.wantOwners("m1 .number", "m2 .number")
			s.conflict("m3", `number: 1`, ".number m1,m2")
			s.force("m3", `number: 1`)
			s.wantOwners("m3 .number")
		})
	}
	t.Run("forced paths", func(t *testing.T) {
		s := newScript(t)
		s.apply("m1", `{number: 1, text: x}`)
		both := `{number: {k8s_io__value: unset}, text: {k8s_io__value: unset}}`
		_, err := s.tryApply("m2", both, false, ".number")
		s.wantConflicts(err, ".text m1")
		s.force("m2", both, ".number", ".text")
		s.want(``)
	})
	t.Run("forced path of the container", func(t *testing.T) {
		s := newScript(t)
		s.apply("m1", `map: {a: 1, b: 2}`)
		s.force("m2", `map: {k8s_io__value: unset}`, ".map")
		s.want(``)
		s.wantOwners("m2 .map")
	})
}

// TestUnsetManagedFields: "applying to already managed fields (both fields that are
// owned and set and that are owned but unset), applying to unmanaged fields"
func TestUnsetManagedFields(t *testing.T) {
	t.Run("field owned by the applier", func(t *testing.T) {
		s := newScript(t)
		s.apply("m1", `{number: 1, text: x}`)
		s.apply("m1", `{number: {k8s_io__value: unset}, text: x}`)
		s.want(`text: x`)
		s.wantOwners("m1 .number .text")
	})
	t.Run("set a field that the applier unset", func(t *testing.T) {
		s := newScript(t)
		s.apply("m1", `number: {k8s_io__value: unset}`)
		s.apply("m1", `number: 1`)
		s.want(`number: 1`)
		s.wantOwners("m1 .number")
	})
	t.Run("unset a shared field", func(t *testing.T) {
		s := newScript(t)
		s.apply("m1", `number: 1`)
		s.apply("m2", `number: 1`)
		s.conflict("m1", `number: {k8s_io__value: unset}`, ".number m2")
		s.force("m1", `number: {k8s_io__value: unset}`)
		s.want(``)
		s.wantOwners("m1 .number")
	})
	t.Run("set a field that two appliers unset", func(t *testing.T) {
		s := newScript(t)
		s.apply("m1", `number: {k8s_io__value: unset}`)
		s.apply("m2", `number: {k8s_io__value: unset}`)
		s.conflict("m1", `number: 1`, ".number m2")
	})
	t.Run("unmanaged field that is set", func(t *testing.T) {
		s := newScript(t)
		s.live = Object{Document: parse(`{number: 1, text: x}`),
			Entries: []Entry{{Manager: "m1", Operation: Apply, APIVersion: "v1", FieldsV1: `{"f:text":{}}`}}}
		s.apply("m2", `number: {k8s_io__value: unset}`)
		s.want(`text: x`)
		s.wantOwners("m1 .text", "m2 .number")
	})
	t.Run("object does not exist", func(t *testing.T) {
		s := newScript(t)
		s.apply("m1", `{number: {k8s_io__value: unset}, text: x}`)
		s.want(`text: x`)
		s.wantOwners("m1 .number .text")
	})
	t.Run("only markers, object does not exist", func(t *testing.T) {
		s := newScript(t)
		s.apply("m1", `struct: {inner: {a: {k8s_io__value: unset}}}`)
		s.want(``)
		s.wantOwners("m1 .struct.inner.a")
	})
}

// TestUnsetDefaults: "applying to defaulted fields", and the defaulting
// considerations.
func TestUnsetDefaults(t *testing.T) {
	withDefault := Options{Unset: true, Default: defaultNumber}
	t.Run("a defaulted field has no owner", func(t *testing.T) {
		s := newScript(t, withDefault)
		s.apply("m1", `text: x`)
		s.live.Document = defaultNumber(s.live.Document) // the server sets defaults after a merge
		s.wantOwners("m1 .text")
		s.apply("m2", `number: 8`)
		s.wantOwners("m1 .text", "m2 .number")
	})
	t.Run("the applier of the marker owns the default", func(t *testing.T) {
		s := newScript(t, withDefault)
		s.apply("m1", `number: 3`)
		s.force("m2", `number: {k8s_io__value: unset}`)
		s.want(`number: 7`)
		s.wantOwners("m2 .number")
		s.conflict("m1", `number: 3`, ".number m2")
		s.apply("m3", `number: 7`)
		s.wantOwners("m2 .number", "m3 .number")
	})
	t.Run("without force", func(t *testing.T) {
		s := newScript(t, withDefault)
		s.apply("m1", `number: 3`)
		c := s.conflict("m2", `number: {k8s_io__value: unset}`, ".number m1")
		if wanted := c.Conflicts[0].Wanted; wanted.Text() != "7" {
			t.Errorf("Wanted = %v, want the default 7", wanted)
		}
	})
	t.Run("two appliers of markers share the default", func(t *testing.T) {
		s := newScript(t, withDefault)
		s.apply("m1", `number: {k8s_io__value: unset}`)
		s.apply("m2", `number: {k8s_io__value: unset}`)
		s.want(`number: 7`)
		s.wantOwners("m1 .number", "m2 .number")
		s.noOp("m1", `number: {k8s_io__value: unset}`)
	})
	t.Run("the owner of an equal value shares the default", func(t *testing.T) {
		s := newScript(t, withDefault)
		s.apply("m1", `number: 7`)
		s.apply("m2", `number: {k8s_io__value: unset}`)
		s.want(`number: 7`)
		s.wantOwners("m1 .number", "m2 .number")
	})
	t.Run("other defaulted fields are not affected", func(t *testing.T) {
		s := newScript(t, withDefault)
		s.apply("m1", `{number: 7, text: x}`)
		s.force("m2", `text: {k8s_io__value: unset}`)
		s.want(`number: 7`)
		s.wantOwners("m1 .number", "m2 .text")
	})
	for _, c := range []struct{ name, field, value, owned string }{
		{"struct", "struct", `{a: 5, inner: {b: 6}}`, ".struct.a .struct.inner.b"},
		{"map", "map", `{x: 5}`, ".map.x"},
		{"list-map", "items", `[{name: d, value: 5}]`, `.items[name="d"]{,.name,.value}`},
		{"set", "set", `[d]`, `.set[="d"]`},
		{"atomic list", "list", `[d]`, ".list"},
	} {
		t.Run("the applier of the marker owns all fields of a default: "+c.name, func(t *testing.T) {
			s := newScript(t, Options{Unset: true, Default: defaultField(c.field, c.value)})
			s.apply("m1", c.field+": {k8s_io__value: unset}")
			s.want(c.field + ": " + c.value)
			s.wantOwners("m1 " + c.owned)
			s.noOp("m1", c.field+": {k8s_io__value: unset}")
			s.noOp("m1", s.extract("m1").String())
			s.apply("m2", c.field+": "+c.value) // applying an equal value makes m2 a co-owner
			s.noOp("m1", c.field+": {k8s_io__value: unset}")
		})
	}
	t.Run("changing a defaulted field conflicts", func(t *testing.T) {
		s := newScript(t, Options{Unset: true, Default: defaultField("struct", `{a: 5}`)})
		s.apply("m1", `struct: {k8s_io__value: unset}`)
		s.conflict("m2", `struct: {a: 6}`, ".struct.a m1")
	})
	t.Run("Default is not called without markers", func(t *testing.T) {
		s := newScript(t, Options{Unset: true, Default: func(document.Value) document.Value { panic("Default was called, want no call") }})
		s.apply("m1", `text: x`)
	})
}

// TestUnsetMixedWithUpdate: "a mix of apply and update requests from the same field
// manager"
func TestUnsetMixedWithUpdate(t *testing.T) {
	s := newScript(t)
	s.update("m1", `{number: 1, text: x}`)
	s.wantOwners("m1/Update .number .text")
	// An apply conflicts with the Update entry of the same manager.
	s.conflict("m1", `number: {k8s_io__value: unset}`, ".number m1/Update")
	s.force("m1", `number: {k8s_io__value: unset}`)
	s.want(`text: x`)
	s.wantOwners("m1 .number", "m1/Update .text")
	// An update that sets the field also removes it from the Apply entry of the same manager.
	s.update("m1", `{number: 2, text: x}`)
	s.wantOwners("m1/Update .number .text")
	s.conflict("m1", `number: {k8s_io__value: unset}`, ".number m1/Update")
}

// TestUnsetAfterUpdates: "applying after another manage has used create, update, and all forms of patch requests". The
// engine treats all of these requests as updates, which differ only in the previous object.
func TestUnsetAfterUpdates(t *testing.T) {
	for _, c := range []struct{ name, before, after string }{
		{"create", ``, `{number: 1, items: [{name: a, value: 1}]}`},
		{"update that adds", `text: x`, `{text: x, number: 1, items: [{name: a, value: 1}]}`},
		{"patch of a value", `{number: 5, items: [{name: a, value: 5}]}`, `{number: 1, items: [{name: a, value: 1}]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScript(t)
			if c.before != "" {
				s.apply("m0", c.before)
			}
			s.update("kubectl", c.after)
			s.conflict("m1", `{number: {k8s_io__value: unset}, items: [{name: a, value: {k8s_io__value: unset}}]}`,
				`.items[name="a"].value kubectl/Update`, ".number kubectl/Update")
			s.force("m1", `{number: {k8s_io__value: unset}, items: [{name: a, value: {k8s_io__value: unset}}]}`)
			if !s.live.Document.Get("number").IsAbsent() {
				t.Errorf("document = %v, want it without number", s.live.Document)
			}
			// The manager kubectl sets the unset fields again and becomes their only owner.
			s.update("kubectl", c.after)
			if fields, _ := s.entry("m1").Fields(); fields.Has(mustPath(".number")) || fields.Has(mustPath(`.items[name="a"].value`)) {
				t.Errorf("after an update by kubectl, m1 owns\n%v\nwant none of the updated fields", fields)
			}
			if fields, _ := s.entry("kubectl/Update").Fields(); !fields.Has(mustPath(".number")) {
				t.Errorf("after its update, kubectl owns\n%v\nwant .number among these fields", fields)
			}
		})
	}
	t.Run("update that leaves the field absent", func(t *testing.T) {
		s := newScript(t)
		s.apply("m1", `number: {k8s_io__value: unset}`)
		s.update("kubectl", `text: x`)
		s.wantOwners("m1 .number", "kubectl/Update .text")
		s.conflict("m2", `number: 1`, ".number m1")
	})
	t.Run("update inside of an unset container", func(t *testing.T) {
		s := newScript(t)
		s.apply("m1", `map: {k8s_io__value: unset}`)
		s.update("kubectl", `map: {a: 1}`)
		s.wantOwners("kubectl/Update .map .map.a")
	})
	t.Run("update of an unset item", func(t *testing.T) {
		s := newScript(t)
		s.apply("m1", `items: [{name: a, k8s_io__value: unset}]`)
		s.update("kubectl", `items: [{name: a}]`)
		s.wantOwners(`kubectl/Update .items .items[name="a"]{,.name}`)
	})
}

// TestUnsetAcrossRequests: "Unset fields are tracked correctly in managedFields
// across multiple requests"
func TestUnsetAcrossRequests(t *testing.T) {
	s := newScript(t)
	s.apply("m1", `{number: {k8s_io__value: unset}, map: {a: {k8s_io__value: unset}}}`)
	s.wantOwners("m1 .number .map.a")
	s.apply("m2", `{text: x, map: {b: 1}}`) // an apply to unrelated fields
	s.wantOwners("m1 .number .map.a", "m2 .text .map.b")
	s.update("m3", `{text: x, map: {b: 1}, flag: true}`) // an update of an unrelated field
	s.wantOwners("m1 .number .map.a", "m2 .text .map.b", "m3/Update .flag")
	s.apply("m1", `map: {a: {k8s_io__value: unset}}`) // releases one unset field
	s.wantOwners("m1 .map.a", "m2 .text .map.b", "m3/Update .flag")
	s.apply("m2", `{text: x, map: {b: 1}, number: 4}`)
	s.conflict("m2", `{text: x, map: {a: 2, b: 1}, number: 4}`, ".map.a m1")
	s.apply("m1", `number: 4`) // releases the other unset field
	s.apply("m2", `{text: x, map: {a: 2, b: 1}, number: 4}`)
	s.want(`{text: x, map: {a: 2, b: 1}, number: 4, flag: true}`)
	s.wantOwners("m1 .number", "m2 .text .map.a .map.b .number", "m3/Update .flag")
}

// TestUnsetReleased: an apply without the marker releases the field; another manager can then set it.
func TestUnsetReleased(t *testing.T) {
	s := newScript(t)
	s.apply("m1", `{number: {k8s_io__value: unset}, text: x}`)
	s.apply("m1", `text: x`)
	s.wantOwners("m1 .text")
	s.apply("m2", `number: 1`)
	s.want(`{number: 1, text: x}`)
}

// TestUnsetOption: "Feature gate enablement/disablement". Without the option Unset, a marker is ordinary data; fields
// that were unset while the option was enabled stay owned.
func TestUnsetOption(t *testing.T) {
	off := Options{}
	t.Run("typed fields reject markers", func(t *testing.T) {
		s := newScript(t, off)
		s.invalid("m1", `{number: {k8s_io__value: unset}, struct: {a: {k8s_io__value: unset}}}`,
			[]string{".number", ".struct.a"}, "expected a number", "k8s_io__value")
		s.invalid("m1", `struct: {k8s_io__value: unset}`, []string{".struct.k8s_io__value"}, "not declared in schema")
		s.invalid("m1", `items: [{name: a, k8s_io__value: unset}]`, []string{`.items[name="a"].k8s_io__value`}, "not declared in schema")
	})
	t.Run("untyped fields store markers as data", func(t *testing.T) {
		s := newScript(t, off)
		s.apply("m1", `free: {x: {k8s_io__value: unset}, w: {k8s_io__value: other, z: 1}}`)
		s.want(`free: {x: {k8s_io__value: unset}, w: {k8s_io__value: other, z: 1}}`)
		s.wantOwners("m1 .free.x .free.x.k8s_io__value .free.w .free.w.k8s_io__value .free.w.z")
	})
	t.Run("disabled after use", func(t *testing.T) {
		s := newScript(t)
		s.apply("m1", `{number: {k8s_io__value: unset}, text: x}`)
		s.fast, s.plain = mustEngine(off), mustEngine(Options{plain: true})
		s.conflict("m2", `number: 1`, ".number m1")
		s.apply("m1", `text: x`)
		s.apply("m2", `number: 1`)
		s.want(`{number: 1, text: x}`)
	})
	t.Run("data from before the option was enabled", func(t *testing.T) {
		s := newScript(t, off)
		s.apply("m1", `free: {x: {k8s_io__value: unset}}`)
		s.fast, s.plain = mustEngine(Options{Unset: true}), mustEngine(Options{Unset: true, plain: true})
		s.apply("m2", `text: x`)
		s.want(`{free: {x: {k8s_io__value: unset}}, text: x}`)
	})
}

// TestUnsetHasNoEscape: while the option Unset is enabled, there is no syntax to store the marker key as data.
func TestUnsetHasNoEscape(t *testing.T) {
	s := newScript(t)
	for _, config := range []string{
		`free: {x: {k8s_io__value: {k8s_io__value: unset}}}`,
		`free: {x: {k8s_io__value: escaped}}`,
		`free: {x: {k8s_io__value: k8s_io__value}}`,
	} {
		s.invalid("m1", config, []string{".free.x"}, "expected k8s_io__value: unset")
	}
}

// TestUnsetErrors: "Invalid values of the unset marker key will be detected and
// produce clear error messages" and "The unset marker key/value may only have other
// key fields as sibling fields, if any other map entries are present apply will fail
// with a clear error message."
func TestUnsetErrors(t *testing.T) {
	for _, c := range []struct {
		name, config string
		paths        []string
		parts        []string
	}{
		{"other string", `number: {k8s_io__value: unsett}`, []string{".number"},
			[]string{"expected k8s_io__value: unset", `"unsett"`}},
		{"other case", `number: {k8s_io__value: Unset}`, []string{".number"}, []string{`"Unset"`}},
		{"null", `number: {k8s_io__value: null}`, []string{".number"}, []string{"null"}},
		{"number", `number: {k8s_io__value: 1}`, []string{".number"}, []string{"1"}},
		{"bool", `number: {k8s_io__value: true}`, []string{".number"}, []string{"true"}},
		{"list", `number: {k8s_io__value: [unset]}`, []string{".number"}, []string{`["unset"]`}},
		{"empty", `number: {k8s_io__value: ""}`, []string{".number"}, []string{`""`}},
		{"inside another marker", `number: {k8s_io__value: {k8s_io__value: unset}}`, []string{".number"}, []string{"expected k8s_io__value: unset"}},
		{"sibling", `struct: {k8s_io__value: unset, a: 1}`, []string{".struct"},
			[]string{"expected no fields beside k8s_io__value", "a: number 1", "remove"}},
		{"two siblings", `struct: {k8s_io__value: unset, a: 1, b: 2}`, []string{".struct", ".struct"}, []string{"a: number 1", "b: number 2"}},
		{"sibling in a map", `map: {k8s_io__value: unset, a: 1}`, []string{".map"}, []string{"a: number 1"}},
		{"sibling that is a marker", `struct: {k8s_io__value: unset, a: {k8s_io__value: unset}}`, []string{".struct"}, []string{"a: "}},
		{"sibling that is not a key", `items: [{name: a, value: 1, k8s_io__value: unset}]`, []string{`.items[name="a"]`}, []string{"value: number 1"}},
		{"wrong value beside a key", `items: [{name: a, k8s_io__value: gone}]`, []string{`.items[name="a"]`}, []string{`"gone"`}},
		{"no key", `items: [{k8s_io__value: unset}]`, []string{".items[0]"}, []string{"with the key name"}},
		{"marker as a key", `items: [{name: {k8s_io__value: unset}}]`, []string{`.items[name=k8s_io__value="unset"]`}, []string{"a key can't be unset"}},
		{"marker as one of two keys", `ports: [{port: 1, protocol: {k8s_io__value: unset}, k8s_io__value: unset}]`,
			[]string{`.ports[port=1,protocol=k8s_io__value="unset"]`}, []string{"a key can't be unset"}},
		{"item of a set", `set: [{k8s_io__value: unset}]`, []string{".set[0]"}, []string{"expected a string"}},
		{"inside an atomic list", `list: [{k8s_io__value: unset}]`, []string{".list[0]"}, []string{"atomic"}},
		{"inside an atomic list of structs", `structList: [{a: 1}, {a: {k8s_io__value: unset}}]`, []string{".structList[1].a"}, []string{"atomic"}},
		{"inside an atomic map", `atomicMap: {a: {k8s_io__value: unset}}`, []string{".atomicMap.a"}, []string{"atomic"}},
		{"inside an atomic struct", `atomicStruct: {inner: {a: {k8s_io__value: unset}}}`, []string{".atomicStruct.inner.a"}, []string{"atomic"}},
		{"inside an atomic item", `atomicItems: [{name: a, value: {k8s_io__value: unset}}]`, []string{`.atomicItems[name="a"].value`}, []string{"atomic"}},
		{"inside an untyped list", `free: {x: [{w: {k8s_io__value: unset}}]}`, []string{".free.x[0].w"}, []string{"atomic"}},
		{"at an undeclared field", `unknown: {k8s_io__value: unset}`, []string{".unknown"}, []string{"not declared in schema"}},
		{"at the root", `k8s_io__value: unset`, []string{""}, []string{"delete the object"}},
		{"at the kind", `kind: {k8s_io__value: unset}`, []string{".kind"}, []string{"can't be unset"}},
		{"at the version", `apiVersion: {k8s_io__value: unset}`, []string{".apiVersion"}, []string{`expected "v1"`}},
		{"at the metadata", `metadata: {k8s_io__value: unset}`, []string{".metadata"}, []string{"can't be unset"}},
		{"at the name", `metadata: {name: {k8s_io__value: unset}}`, []string{".metadata.name"}, []string{"can't be unset"}},
		{"at the namespace", `metadata: {namespace: {k8s_io__value: unset}}`, []string{".metadata.namespace"}, []string{"can't be unset"}},
		{"at the uid", `metadata: {uid: {k8s_io__value: unset}}`, []string{".metadata.uid"}, []string{"can't be unset"}},
		{"at the managedFields", `metadata: {managedFields: {k8s_io__value: unset}}`, []string{".metadata.managedFields"}, []string{"the server maintains this field"}},
		{"several at once", `{number: {k8s_io__value: 1}, text: {k8s_io__value: 2}}`, []string{".number", ".text"}, []string{"2 problems"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			newScript(t).invalid("m1", c.config, c.paths, c.parts...)
		})
	}
}

// TestUnsetErrorsWithoutSchema: a kind without a schema accepts any field, so only splitMarkers rejects a marker at the
// root.
func TestUnsetErrorsWithoutSchema(t *testing.T) {
	s := newScript(t, Options{Unset: true, Versions: OneVersion("v1", schema.Untyped)})
	s.apply("m1", `a: 1`)
	s.invalid("m1", `{a: 1, k8s_io__value: unset}`, []string{"", ""}, "delete the object", "expected no fields beside")
}

// TestUnsetOwnedFields: a marker in place of a field that the manager applied before removes the whole field, and
// conflicts with the owners of the fields inside of it.
func TestUnsetOwnedFields(t *testing.T) {
	t.Run("item", func(t *testing.T) {
		s := newScript(t)
		s.apply("m1", `items: [{name: a, value: 1, tags: [x]}, {name: b}]`)
		s.apply("m1", `items: [{name: a, k8s_io__value: unset}, {name: b}]`)
		s.want(`items: [{name: b}]`)
		s.wantOwners(`m1 .items[name="a"] .items[name="b"]{,.name}`)
	})
	t.Run("the only field of a struct", func(t *testing.T) {
		s := newScript(t)
		s.apply("m1", `{struct: {inner: {a: 1}}, text: x}`)
		s.apply("m1", `{struct: {inner: {a: {k8s_io__value: unset}}}, text: x}`)
		s.want(`{struct: {inner: {}}, text: x}`) // only the field was unset, so the container remains
		s.wantOwners("m1 .struct.inner.a .text")
		s.apply("m1", `text: x`)
		s.want(`text: x`) // releasing the unset field prunes the container
	})
	t.Run("item with a field of another manager", func(t *testing.T) {
		s := newScript(t)
		s.apply("m1", `items: [{name: a, value: 1}]`)
		s.update("m2", `items: [{name: a, value: 1, tags: [x]}]`)
		s.conflict("m1", `items: [{name: a, k8s_io__value: unset}]`,
			`.items[name="a"].tags m2/Update`, `.items[name="a"].tags[="x"] m2/Update`)
		s.force("m1", `items: [{name: a, k8s_io__value: unset}]`)
		s.want(`items: []`)
		s.wantOwners(`m1 .items[name="a"]`)
	})
	t.Run("map with a field of another manager", func(t *testing.T) {
		s := newScript(t)
		s.apply("m1", `free: {a: {b: 1}}`)
		s.update("m2", `free: {a: {b: 1, c: 2}}`)
		s.conflict("m1", `free: {k8s_io__value: unset}`, ".free.a.c m2/Update")
		s.force("m1", `free: {k8s_io__value: unset}`)
		s.want(``)
		s.wantOwners("m1 .free")
	})
	t.Run("inside a released container", func(t *testing.T) {
		s := newScript(t)
		s.apply("m1", `free: {a: {b: 1}}`)
		s.update("m2", `free: {a: {b: 1, c: 2}}`)
		s.conflict("m1", `free: {a: {c: {k8s_io__value: unset}}}`, ".free.a.c m2/Update")
	})
}

// TestUnsetLabels: tracked fields of metadata can be unset.
func TestUnsetLabels(t *testing.T) {
	s := newScript(t)
	s.apply("m1", `metadata: {name: x, labels: {a: "1", b: "2"}, finalizers: [f]}`)
	s.force("m2", `metadata: {name: x, labels: {a: {k8s_io__value: unset}}, finalizers: {k8s_io__value: unset}}`)
	s.want(`metadata: {name: x, labels: {b: "2"}}`)
	s.wantOwners("m1 .metadata.labels.b", "m2 .metadata.labels.a .metadata.finalizers")
}

// TestUnsetItemWithoutKeys: a marker must identify an item. A key with a default may be omitted, unless the default is the zero value
// of a Go type.
func TestUnsetItemWithoutKeys(t *testing.T) {
	const problem = "beside k8s_io__value, received none; add it"
	s := newScript(t)
	s.invalid("m1", `items: [{k8s_io__value: unset}]`, []string{".items[0]"}, "expected a list item with the key name")
	s.invalid("m1", `ports: [{port: 1}, {k8s_io__value: unset}]`, []string{".ports[1]"}, "expected the key port, protocol of the list item "+problem)

	zero := func(required bool) *script {
		t.Helper()
		crd, err := document.ParseYAML([]byte(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, spec: {versions: [{name: v1, schema: {openAPIV3Schema: {type: object, properties: {
			ports: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [port, protocol], items: {type: object, properties: {
				port: {type: integer, default: 0}, protocol: {type: string, default: TCP}, name: {type: string}}}}}}}}]}}`))
		if err != nil {
			t.Fatal(err)
		}
		types, err := schema.LoadCRD(crd)
		if err != nil {
			t.Fatal(err)
		}
		return newScript(t, Options{Unset: true, NoZeroKeys: required, Versions: OneVersion("v1", types["v1"])})
	}
	s = zero(true)
	for _, config := range []string{`ports: [{k8s_io__value: unset}]`, `ports: [{protocol: UDP, k8s_io__value: unset}]`, `ports: [{name: {k8s_io__value: unset}}]`} {
		s.invalid("m1", config, []string{".ports[0]"}, "expected the key port of the list item "+problem)
	}
	s.apply("m1", `ports: [{port: 0, k8s_io__value: unset}]`)
	s.wantOwners(`m1 .ports[port=0,protocol="TCP"]`)
	s = zero(false)
	s.invalid("m1", `ports: [{k8s_io__value: unset}]`, []string{".ports[0]"}, "expected the key port, protocol")
	s.apply("m1", `ports: [{protocol: UDP, k8s_io__value: unset}]`)
	s.wantOwners(`m1 .ports[port=0,protocol="UDP"]`)
}
