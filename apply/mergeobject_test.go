package apply

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
)

// merge merges a configuration into the live object with Merge, on both engines.
func (s *script) merge(config string) {
	s.Helper()
	before := formatObject(s.live)
	merged, err := s.fast.Merge(s.live, parse(config), s.version)
	if err != nil {
		s.Fatalf("Merge(%s): %v", config, err)
	}
	plain, err := s.plain.Merge(s.live, parse(config), s.version)
	if err != nil || formatObject(plain) != formatObject(merged) {
		s.Fatalf("Merge(%s): fast engine:\n%s\nplain engine: %v\n%s", config, formatObject(merged), err, formatObject(plain))
	}
	if after := formatObject(s.live); after != before {
		s.Fatalf("Merge(%s) modified its input: %s\nbefore: %s", config, after, before)
	}
	s.live = merged
}

// TestMergeRecordsNoManager checks that Merge changes values by the topology, and leaves managed fields entries unchanged.
func TestMergeRecordsNoManager(t *testing.T) {
	s := newScript(t)
	s.apply("ci", `{number: 1, set: [a], items: [{name: a, value: 1}], structs: {x: {a: 1}}}`)
	s.merge(`{number: 2, text: new, set: [b], items: [{name: b, value: 2}, {name: a, tags: [t]}], structs: {x: {b: 2}}}`)
	s.want(`{number: 2, text: new, set: [a, b], items: [{name: b, value: 2}, {name: a, value: 1, tags: [t]}], structs: {x: {a: 1, b: 2}}}`)
	s.wantOwners(`ci .number .set[="a"] .items[name="a"]{,.name,.value} .structs.x{,.a}`)
}

// TestMergeUnsets checks that the markers of a merged configuration remove fields and their ownership by all managers, and
// that the absence of a field that was absent before stays owned by the manager that required it.
func TestMergeUnsets(t *testing.T) {
	s := newScript(t)
	s.apply("ci", `{number: 1, map: {a: 1, b: 2}, items: [{name: a, value: 1}, {name: b, value: 2}], text: {k8s_io__value: unset}}`)
	s.update("ops", `{number: 1, map: {a: 1, b: 2, c: 3}, items: [{name: a, value: 1}, {name: b, value: 2, tags: [t]}]}`)
	s.merge(`{number: {k8s_io__value: unset}, text: {k8s_io__value: unset}, map: {c: {k8s_io__value: unset}}, items: [{name: b, k8s_io__value: unset}]}`)
	s.want(`{map: {a: 1, b: 2}, items: [{name: a, value: 1}]}`)
	s.wantOwners(`ci .map.a .map.b .items[name="a"]{,.name,.value} .text`)
}

// TestMergeUnsetsWholeValues checks that markers remove atomic values, maps and structs with everything below them.
func TestMergeUnsetsWholeValues(t *testing.T) {
	s := newScript(t)
	s.apply("ci", `{list: [a], atomicMap: {a: 1}, map: {a: 1}, struct: {a: 1, inner: {b: 1}}}`)
	s.merge(`{list: {k8s_io__value: unset}, atomicMap: {k8s_io__value: unset}, map: {k8s_io__value: unset}, struct: {inner: {k8s_io__value: unset}}}`)
	s.want(`{struct: {a: 1}}`)
	s.wantOwners("ci .struct.a")
}

// TestMergeIntoAnObjectWithoutEntries checks that no entry is added for an object without managedFields.
func TestMergeIntoAnObjectWithoutEntries(t *testing.T) {
	s := newScript(t)
	s.live = Object{Document: parse(`{metadata: {uid: u}, number: 1, text: a}`)}
	s.merge(`{number: {k8s_io__value: unset}}`)
	if len(s.live.Entries) != 0 || !document.Equal(s.live.Document, parse(`{metadata: {uid: u}, text: a}`)) {
		t.Errorf("Merge() = %s, want the object without number and without entries", formatObject(s.live))
	}
}

func TestMergeErrors(t *testing.T) {
	s := newScript(t)
	for config, want := range map[string]string{
		`[]`:                                "expected an object, received list",
		`{unknown: 1}`:                      ".unknown: field not declared in schema",
		`{number: a}`:                       ".number: expected",
		`{metadata: {managedFields: [{}]}}`: "remove it from the configuration",
		`{apiVersion: v2}`:                  `expected "v1"`,
		`{number: {k8s_io__value: set}}`:    "expected k8s_io__value: unset",
		`{list: [{k8s_io__value: unset}]}`:  "received an unset marker inside of an atomic value",
	} {
		if _, err := s.fast.Merge(s.live, parse(config), "v1"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Merge(%s) error = %v, want an error that contains %q", config, err, want)
		}
	}
	if _, err := s.fast.Merge(s.live, parse(`{}`), "v3"); !isVersionGone(err) {
		t.Errorf("Merge() at an unknown version: error = %v, want ErrVersionGone", err)
	}
}

// TestMergeProperties checks on random histories that Merge results in the same document as a forced apply by a new field manager, adds no
// owner, and removes from the entries only fields that markers removed from the document, and unset fields inside of removed list items.
func TestMergeProperties(t *testing.T) {
	removed := 0
	eachHistory(t, Options{Unset: true}, addMarkers, func(_ generator, e *Engine, before Object, s step, _ Result) error {
		if s.update || before.Document.IsAbsent() || isUntracked(before) {
			return nil
		}
		merged, err := e.Merge(before, s.doc, "v1")
		if err != nil {
			return err
		}
		r := s.request
		r.Manager, r.Force = "somebody else", true
		applied, err := e.Apply(before, s.doc, r)
		if err != nil || !document.Equal(applied.Object.Document, merged.Document) {
			return fmt.Errorf("Merge() = %s\na forced apply: %v\n%s", formatObject(merged), err, formatObject(applied.Object))
		}
		root, _ := e.options.Versions.Type("v1")
		gone := e.compare(root, before.Document, merged.Document).Removed
		for _, was := range before.Entries {
			old, _ := was.Fields()
			kept := fieldset.Set{}
			for _, now := range merged.Entries {
				if now.sameManager(was) {
					kept, _ = now.Fields()
				}
			}
			lost := old.Difference(kept)
			gone := gone.Union(old.Covered(itemsIn(gone)))
			if !kept.Difference(old).IsEmpty() || !lost.Difference(gone).IsEmpty() {
				return fmt.Errorf("the entry of %s had\n%v\nand has\n%v\nremoved from the document are\n%v", was.Manager, old, kept, gone)
			}
			if !lost.IsEmpty() {
				removed++
			}
		}
		if len(merged.Entries) > len(before.Entries) {
			return fmt.Errorf("Merge() added an entry:\n%s", formatObject(merged))
		}
		return nil
	})
	if removed == 0 {
		t.Error("no history removes an owned field, want at least one")
	}
}
