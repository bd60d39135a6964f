package apply

import (
	"errors"
	"testing"

	"github.com/cadastre/cadastre/document"
)

// TestExtract: the part of a document that a manager owns.
func TestExtract(t *testing.T) {
	for _, c := range []struct{ name, mine, others string }{
		{"scalars", `{number: 1, text: x}`, `flag: true`},
		{"null", `number: null`, `flag: true`},
		{"struct", `struct: {a: 1}`, `struct: {b: 1, inner: {a: 1}}`},
		{"empty struct", `struct: {}`, `struct: {b: 1}`},
		{"atomic struct", `atomicStruct: {a: 1, b: 1}`, `flag: true`},
		{"map", `map: {a: 1}`, `map: {b: 1}`},
		{"map of structs", `structs: {x: {a: 1}}`, `structs: {x: {b: 1}, z: {a: 1}}`},
		{"empty entry", `structs: {x: {}}`, `structs: {x: {b: 1}}`},
		{"atomic list", `list: [a, a]`, `flag: true`},
		{"empty atomic list", `list: []`, `flag: true`},
		{"set", `set: [b, a]`, `set: [c]`},
		{"list-map", `items: [{name: a, value: 1}]`, `items: [{name: a, tags: [x]}, {name: b}]`},
		{"list-map, only the item", `items: [{name: a}]`, `items: [{name: a, value: 1}]`},
		{"list-map of atomic items", `atomicItems: [{name: a, value: 1}]`, `atomicItems: [{name: b}]`},
		{"two keys", `ports: [{port: 1, protocol: UDP, alias: x}]`, `ports: [{port: 1, protocol: TCP}]`},
		{"defaulted key", `ports: [{port: 1, alias: x}]`, `flag: true`},
		{"untyped", `free: {a: {b: 1}, c: [1]}`, `free: {a: {d: 1}}`},
		{"recursive", `tree: {forest: [{name: oak, tree: {value: 1}}]}`, `tree: {value: 1, forest: [{name: elm}]}`},
		{"labels", `metadata: {labels: {a: b}, finalizers: [f]}`, `metadata: {labels: {c: d}}`},
		{"unset", `{number: {k8s_io__value: unset}, text: x}`, `flag: true`},
		{"unset struct", `struct: {k8s_io__value: unset}`, `flag: true`},
		{"unset in a struct", `struct: {a: 1, inner: {a: {k8s_io__value: unset}}}`, `struct: {b: 1}`},
		{"unset item", `items: [{name: a}, {name: b, k8s_io__value: unset}]`, `items: [{name: c}]`},
		{"unset item alone", `items: [{name: b, k8s_io__value: unset}]`, `flag: true`},
		{"unset item of two keys", `ports: [{port: 1, protocol: UDP, k8s_io__value: unset}]`, `ports: [{port: 1, protocol: TCP}]`},
		{"nothing", ``, `flag: true`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScript(t)
			s.apply("others", c.others)
			s.apply("me", c.mine)
			got := s.extract("me")
			if want := parse(c.mine); !document.Equal(got, want) {
				t.Errorf("extracted\n%v\nwant\n%v", got, want)
			}
			s.noOp("me", got.String())
		})
	}
}

// TestExtractAfterOtherManagers: the extract is what I own, whatever others made of it.
func TestExtractAfterOtherManagers(t *testing.T) {
	for _, c := range []struct{ name, others, mine, after, want string }{
		{"null over the items of others", `set: [a]`, `set: null`, ``, `set: null`},
		{"null over the fields of others", `struct: {a: 1}`, `struct: null`, ``, `struct: {}`},
		{"a key that another spelled out", ``, `ports: [{port: 1}]`, `ports: [{port: 1, protocol: TCP}]`, `ports: [{port: 1}]`},
		{"absent in what has become a scalar", ``, `free: {a: {b: {k8s_io__value: unset}}}`, `free: {a: 1}`, `free: {a: {b: {k8s_io__value: unset}}}`},
		{"absent in what has become null", ``, `struct: {inner: {a: {k8s_io__value: unset}}}`, `struct: {inner: null}`, `struct: {inner: {a: {k8s_io__value: unset}}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScript(t)
			s.apply("others", c.others)
			s.apply("me", c.mine)
			if c.after != "" {
				s.apply("others", c.after)
			}
			got := s.extract("me")
			if want := parse(c.want); !document.Equal(got, want) {
				t.Errorf("extracted\n%v\nwant\n%v", got, want)
			}
			s.noOp("me", got.String())
		})
	}
}

// TestExtractAddsKeys: an item comes with its keys, also if I own only other fields of
// it, as some tools write it.
func TestExtractAddsKeys(t *testing.T) {
	s := newScript(t)
	s.live = Object{Document: parse(`{items: [{name: a, value: 1, tags: [x]}], ports: [{port: 1, protocol: UDP, alias: x}, {port: 1, alias: z}]}`),
		Entries: []Entry{{Manager: "me", Operation: Apply, APIVersion: "v1",
			FieldsV1: pathSet(`.items[name="a"].value .ports[port=1,protocol="UDP"].alias .ports[port=1,protocol="TCP"].alias`).FieldsV1()}}}
	want := parse(`{items: [{name: a, value: 1}], ports: [{port: 1, protocol: UDP, alias: x}, {port: 1, alias: z}]}`)
	if got := s.extract("me"); !document.Equal(got, want) {
		t.Errorf("extracted\n%v\nwant\n%v", got, want)
	}
}

// TestExtractIdentifiesObject: an extract names its object, so that it can be applied.
func TestExtractIdentifiesObject(t *testing.T) {
	s := newScript(t)
	s.apply("me", `{apiVersion: v1, kind: Thing, metadata: {name: x, namespace: ns, uid: u, resourceVersion: "5", labels: {a: b}}, number: 1}`)
	s.apply("other", `{metadata: {name: x}, text: x}`)
	for manager, want := range map[string]string{
		"me":     `{apiVersion: v1, kind: Thing, metadata: {name: x, namespace: ns, labels: {a: b}}, number: 1}`,
		"other":  `{apiVersion: v1, kind: Thing, metadata: {name: x, namespace: ns}, text: x}`,
		"nobody": `{apiVersion: v1, kind: Thing, metadata: {name: x, namespace: ns}}`,
	} {
		if got := s.extract(manager); !document.Equal(got, parse(want)) {
			t.Errorf("%s: extracted\n%v\nwant\n%v", manager, got, parse(want))
		}
	}
}

// TestExtractWithoutEntries: asking for it on a document without managedFields is an
// error, not an empty result.
func TestExtractWithoutEntries(t *testing.T) {
	s := newScript(t)
	for _, live := range []Object{{}, {Document: parse(`number: 1`)}, {Document: parse(`number: 1`), Entries: []Entry{}}} {
		config, err := s.fast.Extract(live, Request{Manager: "me", Version: "v1"})
		if !errors.Is(err, ErrNoManagedFields) || !config.IsAbsent() {
			t.Errorf("received %v, %v", config, err)
		}
	}
}

// TestExtractModifyApply: the workflow that extracting is for.
func TestExtractModifyApply(t *testing.T) {
	s := newScript(t)
	s.apply("me", `{number: 1, items: [{name: a, value: 1}, {name: b}], map: {x: 1}}`)
	s.apply("other", `{text: x, items: [{name: a, tags: [t]}]}`)
	config := s.extract("me")
	config = config.With("number", document.NewInt(2)).Without("map")
	s.apply("me", config.String())
	s.want(`{number: 2, text: x, items: [{name: a, value: 1, tags: [t]}, {name: b}]}`)
	s.wantOwners(`me .number .items[name="a"]{,.name,.value} .items[name="b"]{,.name}`, `other .text .items[name="a"]{,.name,.tags[="t"]}`)
}

// TestExtractSelectsApplyEntry: entries of other operations and subresources are not
// mine.
func TestExtractSelectsApplyEntry(t *testing.T) {
	s := newScript(t)
	s.update("me", `{number: 1, status: {a: 1}}`)
	s.apply("me", `text: x`)
	s.subresource = "status"
	s.apply("me", `status: {b: 1}`)
	if got := s.extract("me"); !document.Equal(got, parse(`status: {b: 1}`)) {
		t.Errorf("at the status: %v", got)
	}
	s.subresource = ""
	if got := s.extract("me"); !document.Equal(got, parse(`text: x`)) {
		t.Errorf("at the main endpoint: %v", got)
	}
}

// TestExtractAtVersion: an extract is at the version that was applied.
func TestExtractAtVersion(t *testing.T) {
	s := newScript(t, Options{Versions: newTestVersions()})
	s.apply("me", `{number: 1, map: {a: 1}}`)
	s.convertTo("v2")
	if got := s.extract("me"); !document.Equal(got, parse(`{number: 1, map: {a: 1}}`)) {
		t.Errorf("extracted %v", got)
	}
}

// TestExtractLostFields: what an update took or removed is not extracted.
func TestExtractLostFields(t *testing.T) {
	s := newScript(t)
	s.apply("me", `{number: 1, text: x, set: [a, b], items: [{name: a}, {name: b}]}`)
	s.update("u", `{number: 2, text: x, set: [b], items: [{name: b}]}`)
	if got := s.extract("me"); !document.Equal(got, parse(`{text: x, set: [b], items: [{name: b}]}`)) {
		t.Errorf("extracted %v", got)
	}
}

// TestExtractWithoutUnsetOption: without the option, fields that are owned and absent are
// left out.
func TestExtractWithoutUnsetOption(t *testing.T) {
	s := newScript(t)
	s.apply("me", `{number: {k8s_io__value: unset}, text: x, items: [{name: a, k8s_io__value: unset}]}`)
	s.fast = mustEngine(Options{})
	if got := s.extract("me"); !document.Equal(got, parse(`text: x`)) {
		t.Errorf("extracted %v", got)
	}
}
