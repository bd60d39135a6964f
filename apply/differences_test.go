package apply

import (
	"testing"

	"github.com/cadastre/cadastre/document"
)

// Each test in this file proves a deliberate difference from structured-merge-diff, which docs/differences.md lists with
// the reason.

// difference is an apply request for which the engine and structured-merge-diff return different documents. entries maps
// each manager to the FieldsV1 of its Apply entry.
type difference struct {
	live    string
	entries map[string]string
	manager string
	config  string
	// upstream is the document that structured-merge-diff returns; ours is the document that the engine returns.
	upstream, ours string
}

// checkDifference runs the request on structured-merge-diff, on the fast engine and on the plain engine, and checks the
// resulting documents.
func checkDifference(t *testing.T, d difference) {
	t.Helper()
	live := Object{Document: parse(d.live)}
	for _, manager := range []string{"me", "other"} {
		if fields, ok := d.entries[manager]; ok {
			live.Entries = append(live.Entries, Entry{Manager: manager, Operation: Apply, APIVersion: "v1", FieldsV1: fields})
		}
	}
	r := Request{Manager: d.manager, Version: "v1", Force: true}
	upstream := testOracle.apply(live, parse(d.config), r)
	if upstream.err != nil {
		t.Fatal(upstream.err)
	}
	if want := parse(d.upstream); !document.Equal(upstream.doc, want) {
		t.Errorf("structured-merge-diff returns\n%v, want\n%v; its behaviour has changed", upstream.doc, want)
	}
	for _, plain := range []bool{false, true} {
		ours, err := mustEngine(Options{plain: plain}).Apply(live, parse(d.config), r)
		if err != nil {
			t.Fatal(err)
		}
		if want := parse(d.ours); !document.Equal(ours.Object.Document, want) {
			t.Errorf("plain=%v: Apply() =\n%v, want\n%v", plain, ours.Object.Document, want)
		}
	}
}

// TestDifferenceEmptiedContainersAreEmpty: if pruning empties a container that another manager owns, upstream sets
// the container to null, which no manager applied and which is invalid for many fields. The engine leaves the
// container empty.
func TestDifferenceEmptiedContainersAreEmpty(t *testing.T) {
	checkDifference(t, difference{
		live:    `{map: {a: 1}}`,
		entries: map[string]string{"me": `{"f:map":{"f:a":{}}}`, "other": `{"f:map":{}}`},
		manager: "me", config: `{number: 1}`,
		upstream: `{map: null, number: 1}`,
		ours:     `{map: {}, number: 1}`,
	})
	checkDifference(t, difference{
		live:    `{set: [a]}`,
		entries: map[string]string{"me": `{"f:set":{"v:\"a\"":{}}}`, "other": `{"f:set":{}}`},
		manager: "me", config: `{number: 1}`,
		upstream: `{set: null, number: 1}`,
		ours:     `{set: [], number: 1}`,
	})
}

// TestDifferenceAppliedEmptyListStays: if an applier empties its list, upstream removes the list, and adds it, empty,
// when the same configuration is applied again. The engine sets the empty list in the first request, so that applying
// is idempotent.
func TestDifferenceAppliedEmptyListStays(t *testing.T) {
	checkDifference(t, difference{
		live:    `{set: [a]}`,
		entries: map[string]string{"me": `{"f:set":{"v:\"a\"":{}}}`},
		manager: "me", config: `{number: 1, set: []}`,
		upstream: `{number: 1}`,
		ours:     `{number: 1, set: []}`,
	})
}

// TestDifferencePruningSeesEmptyLists: field sets do not record empty lists. Upstream therefore prunes a container
// with nothing but an empty list although another manager owns it. The engine prunes by the document.
func TestDifferencePruningSeesEmptyLists(t *testing.T) {
	checkDifference(t, difference{
		live:    `{tree: {value: 1, forest: []}}`,
		entries: map[string]string{"me": `{"f:tree":{"f:value":{}}}`, "other": `{"f:tree":{}}`},
		manager: "me", config: `{number: 1}`,
		upstream: `{number: 1}`,
		ours:     `{number: 1, tree: {forest: []}}`,
	})
}

// TestDifferenceItemsKeepTheirKeys: if a list item is owned by another manager but its key field is not, upstream
// prunes the key field, and thereby loses the item. The engine keeps the key field as long as the item exists, because
// the key is the item's identity.
func TestDifferenceItemsKeepTheirKeys(t *testing.T) {
	checkDifference(t, difference{
		live:    `{items: [{name: a, value: 1}]}`,
		entries: map[string]string{"me": `{"f:items":{"k:{\"name\":\"a\"}":{".":{},"f:name":{},"f:value":{}}}}`, "other": `{"f:items":{"k:{\"name\":\"a\"}":{}}}`},
		manager: "me", config: `{number: 1}`,
		upstream: `{items: null, number: 1}`,
		ours:     `{items: [{name: a}], number: 1}`,
	})
}

// TestDifferenceEqualNumbersKeepTheirSpelling: for a number that equals the live number, upstream stores the spelling
// of the configuration. The engine keeps the live spelling, because the value did not change.
func TestDifferenceEqualNumbersKeepTheirSpelling(t *testing.T) {
	live := Object{Document: parse(`{number: 1.0, text: a}`), Entries: []Entry{
		{Manager: "me", Operation: Apply, APIVersion: "v1", FieldsV1: `{"f:number":{},"f:text":{}}`}}}
	config, r := parse(`{number: 1, text: b}`), Request{Manager: "me", Version: "v1"}
	if text := testOracle.apply(live, config, r).doc.JSON(); text != `{"number":1,"text":"b"}` {
		t.Errorf("structured-merge-diff returns %s, want the applied spelling 1; its behaviour has changed", text)
	}
	for _, plain := range []bool{false, true} {
		got, err := mustEngine(Options{plain: plain}).Apply(live, config, r)
		if err != nil {
			t.Fatal(err)
		}
		if text := got.Object.Document.JSON(); text != `{"number":1.0,"text":"b"}` {
			t.Errorf("plain=%v: Apply() = %s, want the live spelling 1.0", plain, text)
		}
	}
}

// TestDifferenceUnchangedValuesAreNotCheckedAgain: upstream rejects every configuration as long as any live value
// does not conform to the schema, which happens after a schema change. The engine validates only the values that the
// configuration changes.
func TestDifferenceUnchangedValuesAreNotCheckedAgain(t *testing.T) {
	live := Object{Document: parse(`{number: text, list: [1], text: a}`), Entries: []Entry{
		{Manager: "me", Operation: Apply, APIVersion: "v1", FieldsV1: `{"f:number":{},"f:text":{}}`}}}
	r := Request{Manager: "me", Version: "v1", Force: true}
	for config, accepted := range map[string]bool{
		`{text: b}`:                     true,
		`{number: text, text: b}`:       true,
		`{number: text, list: [1]}`:     true,
		`{number: other}`:               false,
		`{list: [1, 2]}`:                false,
		`{struct: {a: text}}`:           false,
		`{number: text, undeclared: 1}`: false,
	} {
		if upstream := testOracle.apply(live, parse(config), r); upstream.err == nil {
			t.Errorf("structured-merge-diff accepts %s, want an error; its behaviour has changed", config)
		}
		for _, plain := range []bool{false, true} {
			if _, err := mustEngine(Options{plain: plain}).Apply(live, parse(config), r); (err == nil) != accepted {
				t.Errorf("%s: plain=%v: Apply() error = %v; accepted = %v, want %v", config, plain, err, err == nil, accepted)
			}
		}
	}
}
