package apply

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/schema"
)

// TestConflicts: "Get correct conflicts when applying." (KEP-555)
func TestConflicts(t *testing.T) {
	for _, c := range []struct {
		name, one, two string
		want           []string
	}{
		{"scalar", `number: 1`, `number: 2`, []string{".number m1"}},
		{"null", `number: 1`, `number: null`, []string{".number m1"}},
		{"over null", `number: null`, `number: 1`, []string{".number m1"}},
		{"same value", `number: 1`, `number: 1`, nil},
		{"another field", `number: 1`, `text: x`, nil},
		{"several", `{number: 1, text: x, flag: true}`, `{number: 2, text: z, flag: true}`, []string{".number m1", ".text m1"}},
		{"in a struct", `struct: {a: 1, inner: {a: 1}}`, `struct: {a: 2, inner: {a: 1, b: 2}}`, []string{".struct.a m1"}},
		{"atomic struct", `atomicStruct: {a: 1}`, `atomicStruct: {a: 1, b: 2}`, []string{".atomicStruct m1"}},
		{"in a map", `map: {a: 1}`, `map: {a: 2, b: 2}`, []string{".map.a m1"}},
		{"atomic map", `atomicMap: {a: 1}`, `atomicMap: {b: 1}`, []string{".atomicMap m1"}},
		{"atomic list", `list: [a]`, `list: [a, b]`, []string{".list m1"}},
		{"order of an atomic list", `list: [a, b]`, `list: [b, a]`, []string{".list m1"}},
		{"set", `set: [a]`, `set: [b]`, nil},
		{"in an item", `items: [{name: a, value: 1}]`, `items: [{name: a, value: 2}]`, []string{`.items[name="a"].value m1`}},
		{"atomic item", `atomicItems: [{name: a, value: 1}]`, `atomicItems: [{name: a, value: 2}]`, []string{`.atomicItems[name="a"] m1`}},
		{"two keys", `ports: [{port: 1, alias: a}]`, `ports: [{port: 1, protocol: TCP, alias: b}]`, []string{`.ports[port=1,protocol="TCP"].alias m1`}},
		{"untyped list", `free: {a: [1]}`, `free: {a: [2]}`, []string{".free.a m1"}},
		{"untyped map to scalar", `free: {a: {b: 1}}`, `free: {a: 1}`, []string{".free.a m1"}},
		{"untyped scalar to map", `free: {a: 1}`, `free: {a: {b: 1}}`, []string{".free.a m1"}},
		{"recursive", `tree: {child: {value: 1}}`, `tree: {child: {value: 2}}`, []string{".tree.child.value m1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScript(t)
			s.apply("m1", c.one)
			if c.want == nil {
				s.apply("m2", c.two)
				return
			}
			s.conflict("m2", c.two, c.want...)
			s.want(c.one) // a conflict does not change the live object
			s.force("m2", c.two)
			for _, e := range s.live.Entries {
				fields, _ := e.Fields()
				for _, want := range c.want {
					path := mustPath(want[:len(want)-len(" m1")])
					if e.Manager == "m1" && fields.Has(path) {
						t.Errorf("m1 owns %v after m2 has forced it, want it owned only by m2", path)
					}
				}
			}
			s.noOp("m2", c.two)
		})
	}
}

// TestConflictDetails: a conflict has the path, the entries of all other owners, the live value and the applied
// value.
func TestConflictDetails(t *testing.T) {
	s := newScript(t)
	s.apply("ci", `{number: 1, items: [{name: a, value: 1}]}`)
	s.apply("ops", `{number: 1, text: x}`)
	s.update("kubectl", `{number: 1, items: [{name: a, value: 5}], text: x}`)
	s.subresource = "status"
	s.apply("status-writer", `number: 1`)
	s.subresource = ""
	c := s.conflict("new", `{number: 2, items: [{name: a, value: 6}], text: z}`,
		`.items[name="a"].value kubectl/Update`, ".number status-writer:status,ci,ops", ".text ops")
	for i, want := range []struct{ live, wanted string }{{"5", "6"}, {"1", "2"}, {`"x"`, `"z"`}} {
		if got := c.Conflicts[i]; got.Live.String() != want.live || got.Wanted.String() != want.wanted {
			t.Errorf("%v: Live = %v, Wanted = %v; want %s and %s", got.Path, got.Live, got.Wanted, want.live, want.wanted)
		}
	}
	for _, conflict := range c.Conflicts {
		for _, owner := range conflict.Owners {
			if live := s.entry(entryName(owner)); owner != live {
				t.Errorf("owner of %v = %v, want the entry %v of the live object", conflict.Path, owner, live)
			}
		}
	}
}

// TestConflictWithOwnUpdateEntry: an Update entry of the same manager conflicts like an entry of any other manager.
func TestConflictWithOwnUpdateEntry(t *testing.T) {
	s := newScript(t)
	s.update("me", `{number: 1, text: x}`)
	s.apply("me", `number: 1`)
	s.wantOwners("me .number", "me/Update .number .text")
	err := s.conflict("me", `number: 2`, ".number me/Update")
	if want := `"me" owns a field through an entry with another operation`; !strings.Contains(err.Error(), want) {
		t.Errorf("Error() = %s\nwant it to contain %s", err, want)
	}
	// Releasing the field does not prune it, because the Update entry owns it.
	s.apply("me", ``)
	s.want(`{number: 1, text: x}`)
}

// TestConflictMessage: "Conflicts will be returned as readable status errors." (KEP-555) The text has path, both
// values, the owners with operation and time, and the remedies.
func TestConflictMessage(t *testing.T) {
	s := newScript(t)
	s.apply("ci", `items: [{name: a, value: 1}]`)
	one := s.conflict("ops", `items: [{name: a, value: 2}]`, `.items[name="a"].value ci`)
	const wantOne = `apply conflicts with other managers on 1 field:
- .items[name="a"].value: live value is number 1, applied value is number 2; owned by "ci" (Apply with v1, at 2026-01-01T00:01:00Z)
To leave a field to its owners, remove it from the configuration; to become a co-owner, apply the live value; to take it over, force.`
	if one.Error() != wantOne {
		t.Errorf("Error() =\n%s\nwant\n%s", one, wantOne)
	}

	s = newScript(t)
	s.update("kubectl", `{number: 1, text: x}`)
	s.subresource = "status"
	s.apply("ci", `number: 1`)
	s.subresource = ""
	two := s.conflict("ops", `{number: {k8s_io__value: unset}, text: null}`, ".number ci:status,kubectl/Update", ".text kubectl/Update")
	const wantTwo = `apply conflicts with other managers on 2 fields:
- .number: live value is number 1, applied value is absent; owned by "ci" (Apply with v1, subresource status) and "kubectl" (Update with v1, at 2026-01-01T00:01:00Z)
- .text: live value is string "x", applied value is null; owned by "kubectl" (Update with v1, at 2026-01-01T00:01:00Z)
To leave a field to its owners, remove it from the configuration; to become a co-owner, apply the live value; to take it over, force.`
	if two.Error() != wantTwo {
		t.Errorf("Error() =\n%s\nwant\n%s", two, wantTwo)
	}
}

// TestForcePaths: ForcePaths takes over only the conflicting fields at or below its paths; Force takes over all
// conflicting fields.
func TestForcePaths(t *testing.T) {
	const one = `{number: 1, text: x, map: {a: 1, b: 1}, items: [{name: a, value: 1}, {name: b, value: 1}]}`
	const two = `{number: 2, text: z, map: {a: 2, b: 2}, items: [{name: a, value: 2}, {name: b, value: 2}]}`
	all := []string{`.items[name="a"].value m1`, `.items[name="b"].value m1`, ".map.a m1", ".map.b m1", ".number m1", ".text m1"}
	for _, c := range []struct {
		name  string
		paths []string
		left  []int // indexes, in the slice all, of the conflicts that are not forced
	}{
		{"none", nil, []int{0, 1, 2, 3, 4, 5}},
		{"one field", []string{".number"}, []int{0, 1, 2, 3, 5}},
		{"all of a map", []string{".map"}, []int{0, 1, 4, 5}},
		{"one entry", []string{".map.b"}, []int{0, 1, 2, 4, 5}},
		{"all of an item", []string{`.items[name="b"]`}, []int{0, 2, 3, 4, 5}},
		{"below a scalar field", []string{".number.x", ".map.a.x"}, []int{0, 1, 2, 3, 4, 5}},
		{"a path without conflict", []string{".flag"}, []int{0, 1, 2, 3, 4, 5}},
		{"all fields by name", []string{".number", ".text", ".map", ".items"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScript(t)
			s.apply("m1", one)
			result, err := s.tryApply("m2", two, false, c.paths...)
			if c.left == nil {
				s.mustSucceed(result, err)
				s.want(two)
				return
			}
			var want []string
			for _, i := range c.left {
				want = append(want, all[i])
			}
			s.wantConflicts(err, want...)
			s.want(one)
		})
	}
	t.Run("force", func(t *testing.T) {
		s := newScript(t)
		s.apply("m1", one)
		s.force("m2", two)
		s.want(two)
		s.wantOwners(`m1 .items[name="a"]{,.name} .items[name="b"]{,.name}`,
			`m2 .number .text .map.a .map.b .items[name="a"]{,.name,.value} .items[name="b"]{,.name,.value}`)
	})
	t.Run("fields without conflict stay shared", func(t *testing.T) {
		s := newScript(t)
		s.apply("m1", `{number: 1, text: x}`)
		s.force("m2", `{number: 2, text: x}`)
		s.wantOwners("m1 .text", "m2 .number .text")
	})
}

// TestReleaseNeverConflicts: releasing a field leaves it to its co-owners and never conflicts.
func TestReleaseNeverConflicts(t *testing.T) {
	s := newScript(t)
	s.apply("m1", `{number: 1, items: [{name: a, value: 1}]}`)
	s.apply("m2", `{number: 1, items: [{name: a}]}`)
	s.apply("m1", ``)
	s.want(`{number: 1, items: [{name: a}]}`)
	s.wantOwners(`m2 .number .items[name="a"]{,.name}`)
}

// TestDeepConflictCostIsLinear: conflicts at every level of a deep object cost memory proportional to the number of
// levels, not to its square.
func TestDeepConflictCostIsLinear(t *testing.T) {
	const depth = 8000
	e := mustEngine(Options{Unset: true, Versions: OneVersion("v1", schema.Untyped)})
	config, err := document.ParseJSON(`{"free":` + strings.Repeat(`{"b":`, depth) + "1" + strings.Repeat("}", depth) + "}")
	if err != nil {
		t.Fatal(err)
	}
	var live Object
	for _, manager := range []string{"m1", "m2"} {
		result, err := e.Apply(live, config, Request{Manager: manager, Version: "v1"})
		if err != nil {
			t.Fatal(err)
		}
		live = result.Object
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = e.Apply(live, parse(`free: {k8s_io__value: unset}`), Request{Manager: "m3", Version: "v1"})
	runtime.ReadMemStats(&after)
	var conflict *ConflictError
	if !errors.As(err, &conflict) || len(conflict.Conflicts) != depth+1 || len(conflict.Conflicts[depth/2].Owners) != 2 {
		t.Fatalf("Apply() error = %.200v, want %d conflicts with two owners each", err, depth+1)
	}
	if cost := after.TotalAlloc - before.TotalAlloc; cost > 100<<20 {
		t.Errorf("Apply() allocated %d MiB, want at most 100 MiB", cost>>20)
	}
}

// TestConflictErrorOutlivesDocuments: the text of a ConflictError stays the same when the memory of the documents is
// reused.
func TestConflictErrorOutlivesDocuments(t *testing.T) {
	e := mustEngine(Options{Versions: OneVersion("v1", schema.Untyped)})
	var reader reusingReader
	read := func(text string) Object {
		o, err := reader.Read(text)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	made, err := e.Apply(Object{}, read(`{"spec":{"size":"small"}}`).Document, Request{Manager: "m1", Version: "v1"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = e.Apply(made.Object, read(`{"spec":{"size":"large"}}`).Document, Request{Manager: "m2", Version: "v1"})
	reader.Reset()
	read(`{"spec":{"password":"other 1"}}`)
	read(`{"spec":{"password":"other 2"}}`)
	if text := err.Error(); !strings.Contains(text, `live value is string "small", applied value is string "large"`) {
		t.Errorf("Error() = %s, want the values of the conflict", text)
	}
}
