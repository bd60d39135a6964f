package apply

import (
	"errors"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/document"
)

// TestExtract: the extracted configuration equals the applied configuration, and applying it is a no-op.
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
				t.Errorf("Extract() =\n%v\nwant\n%v", got, want)
			}
			s.noOp("me", got.String())
		})
	}
}

// TestExtractAfterOtherManagers: the extracted configuration has the manager's fields with their live values after
// other managers changed them.
func TestExtractAfterOtherManagers(t *testing.T) {
	for _, c := range []struct{ name, others, mine, after, want string }{
		{"null for a list with items of another manager", `set: [a]`, `set: null`, ``, `set: null`},
		{"null for a struct with fields of another manager", `struct: {a: 1}`, `struct: null`, ``, `struct: {}`},
		{"a defaulted key that another manager set", ``, `ports: [{port: 1}]`, `ports: [{port: 1, protocol: TCP}]`, `ports: [{port: 1}]`},
		{"unset field in a container that became a scalar", ``, `free: {a: {b: {k8s_io__value: unset}}}`, `free: {a: 1}`, `free: {a: {b: {k8s_io__value: unset}}}`},
		{"unset field in a container that became null", ``, `struct: {inner: {a: {k8s_io__value: unset}}}`, `struct: {inner: null}`, `struct: {inner: {a: {k8s_io__value: unset}}}`},
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
				t.Errorf("Extract() =\n%v\nwant\n%v", got, want)
			}
			s.noOp("me", got.String())
		})
	}
}

// TestExtractAddsKeys: an extracted list item has its keys even if the manager owns only other fields of the item, as
// in entries that some tools write.
func TestExtractAddsKeys(t *testing.T) {
	s := newScript(t)
	s.live = Object{Document: parse(`{items: [{name: a, value: 1, tags: [x]}], ports: [{port: 1, protocol: UDP, alias: x}, {port: 1, alias: z}]}`),
		Entries: []Entry{{Manager: "me", Operation: Apply, APIVersion: "v1",
			FieldsV1: pathSet(`.items[name="a"].value .ports[port=1,protocol="UDP"].alias .ports[port=1,protocol="TCP"].alias`).FieldsV1()}}}
	want := parse(`{items: [{name: a, value: 1}], ports: [{port: 1, protocol: UDP, alias: x}, {port: 1, alias: z}]}`)
	if got := s.extract("me"); !document.Equal(got, want) {
		t.Errorf("Extract() =\n%v\nwant\n%v", got, want)
	}
}

// TestExtractIdentifiesObject: the extracted configuration has apiVersion, kind, name and namespace, so it can be
// applied.
func TestExtractIdentifiesObject(t *testing.T) {
	s := newScript(t)
	s.apply("me", `{apiVersion: v1, kind: Thing, metadata: {name: x, namespace: ns, uid: u, resourceVersion: "5", labels: {a: b}}, number: 1}`)
	s.apply("other", `{metadata: {name: x}, text: x}`)
	for manager, want := range map[string]string{
		"me":       `{apiVersion: v1, kind: Thing, metadata: {name: x, namespace: ns, labels: {a: b}}, number: 1}`,
		"other":    `{apiVersion: v1, kind: Thing, metadata: {name: x, namespace: ns}, text: x}`,
		"no-entry": `{apiVersion: v1, kind: Thing, metadata: {name: x, namespace: ns}}`,
	} {
		if got := s.extract(manager); !document.Equal(got, parse(want)) {
			t.Errorf("%s: Extract() =\n%v\nwant\n%v", manager, got, parse(want))
		}
	}
}

// TestExtractWithoutEntries: extracting from an object without managedFields is an error, not an empty result.
func TestExtractWithoutEntries(t *testing.T) {
	s := newScript(t)
	for _, live := range []Object{{}, {Document: parse(`number: 1`)}, {Document: parse(`number: 1`), Entries: []Entry{}}} {
		config, err := s.fast.Extract(live, Request{Manager: "me", Version: "v1"})
		if !errors.Is(err, ErrNoManagedFields) || !config.IsAbsent() {
			t.Errorf("Extract() = %v, %v, want ErrNoManagedFields", config, err)
		}
	}
}

// TestExtractModifyApply: extract, modify, apply changes only the modified fields.
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

// TestExtractSelectsApplyEntry: Update entries and entries of other subresources are not extracted.
func TestExtractSelectsApplyEntry(t *testing.T) {
	s := newScript(t)
	s.update("me", `{number: 1, status: {a: 1}}`)
	s.apply("me", `text: x`)
	s.subresource = "status"
	s.apply("me", `status: {b: 1}`)
	if got := s.extract("me"); !document.Equal(got, parse(`status: {b: 1}`)) {
		t.Errorf("Extract() from the status subresource = %v, which is not the configuration applied there", got)
	}
	s.subresource = ""
	if got := s.extract("me"); !document.Equal(got, parse(`text: x`)) {
		t.Errorf("Extract() from the main resource = %v, which is not the configuration applied there", got)
	}
}

// TestExtractAtVersion: the extracted configuration is at the version of the manager's entry.
func TestExtractAtVersion(t *testing.T) {
	s := newScript(t, Options{Versions: newTestVersions()})
	s.apply("me", `{number: 1, map: {a: 1}}`)
	s.convertTo("v2")
	if got := s.extract("me"); !document.Equal(got, parse(`{number: 1, map: {a: 1}}`)) {
		t.Errorf("Extract() = %v, want the configuration at v1", got)
	}
}

// TestExtractLostFields: fields that an update changed or removed are not extracted.
func TestExtractLostFields(t *testing.T) {
	s := newScript(t)
	s.apply("me", `{number: 1, text: x, set: [a, b], items: [{name: a}, {name: b}]}`)
	s.update("u", `{number: 2, text: x, set: [b], items: [{name: b}]}`)
	if got := s.extract("me"); !document.Equal(got, parse(`{text: x, set: [b], items: [{name: b}]}`)) {
		t.Errorf("Extract() = %v, want it without number, set item a and list item a", got)
	}
}

// TestExtractWithoutUnsetOption: without the option Unset, fields that are owned and absent are omitted.
func TestExtractWithoutUnsetOption(t *testing.T) {
	s := newScript(t)
	s.apply("me", `{number: {k8s_io__value: unset}, text: x, items: [{name: a, k8s_io__value: unset}]}`)
	s.fast = mustEngine(Options{})
	if got := s.extract("me"); !document.Equal(got, parse(`text: x`)) {
		t.Errorf("Extract() = %v, want only text: x", got)
	}
}

// TestExtractStoredMarkers: stored data that looks like an unset marker, which was written while markers were disabled, is never
// extracted as a marker.
func TestExtractStoredMarkers(t *testing.T) {
	for _, doc := range []string{
		`free: {a: {k8s_io__value: unset}}`,
		`free: {k8s_io__value: unset}`,
		`map: {k8s_io__value: 1}`,
		`{items: [{name: a, tags: [x]}], free: {list: [{b: {k8s_io__value: other}}]}}`,
	} {
		off := newScript(t, Options{})
		off.oracle = nil
		off.apply("m1", doc)
		off.apply("m2", `number: 1`)
		on := mustEngine(Options{Unset: true})
		_, err := on.Extract(off.live, Request{Manager: "m1", Version: "v1"})
		var invalid *InvalidError
		if !errors.As(err, &invalid) || !strings.Contains(err.Error(), "applying it would remove the value") || len(invalid.Fields[0].Path) == 0 {
			t.Errorf("Extract() of %s: %v, want an InvalidError with the path", doc, err)
		}
		if config, err := on.Extract(off.live, Request{Manager: "m2", Version: "v1"}); err != nil || config.Get("number").Text() != "1" {
			t.Errorf("Extract() of another manager: %v, %v, want number: 1", config, err)
		}
		if config, err := off.fast.Extract(off.live, Request{Manager: "m1", Version: "v1"}); err != nil || !mayContainMarker(config) {
			t.Errorf("Extract() with markers disabled: %v, %v, want the stored data", config, err)
		}
	}
}
