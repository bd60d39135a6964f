package apply

import (
	"testing"

	"github.com/cadastre/cadastre/document"
)

// Each test here is a deliberate difference from structured-merge-diff: what it
// does, what we do, and why. docs/differences.md lists them.

// difference is an apply on which the two differ. Entries are given as managers with
// their FieldsV1; all are appliers.
type difference struct {
	live    string
	entries map[string]string
	manager string
	config  string
	// theirs and ours are the documents that come out.
	theirs, ours string
}

func checkDifference(t *testing.T, d difference) {
	t.Helper()
	live := Object{Document: parse(d.live)}
	for _, manager := range []string{"me", "other"} {
		if fields, ok := d.entries[manager]; ok {
			live.Entries = append(live.Entries, Entry{Manager: manager, Operation: Apply, APIVersion: "v1", FieldsV1: fields})
		}
	}
	r := Request{Manager: d.manager, Version: "v1", Force: true}
	theirs := testOracle.apply(live, parse(d.config), r)
	if theirs.err != nil {
		t.Fatal(theirs.err)
	}
	if want := parse(d.theirs); !document.Equal(theirs.doc, want) {
		t.Errorf("structured-merge-diff makes\n%v, not\n%v as it did when this was written", theirs.doc, want)
	}
	for _, plain := range []bool{false, true} {
		ours, err := mustEngine(Options{plain: plain}).Apply(live, parse(d.config), r)
		if err != nil {
			t.Fatal(err)
		}
		if want := parse(d.ours); !document.Equal(ours.Object.Document, want) {
			t.Errorf("plain %v: we make\n%v, want\n%v", plain, ours.Object.Document, want)
		}
	}
}

// Upstream leaves null in the place of a container that pruning emptied and that
// somebody else owns. Nobody asked for null; where it is not allowed the object
// becomes invalid. We leave the container, empty.
func TestDifferenceEmptiedContainersAreEmpty(t *testing.T) {
	checkDifference(t, difference{
		live:    `{map: {a: 1}}`,
		entries: map[string]string{"me": `{"f:map":{"f:a":{}}}`, "other": `{"f:map":{}}`},
		manager: "me", config: `{number: 1}`,
		theirs: `{map: null, number: 1}`,
		ours:   `{map: {}, number: 1}`,
	})
	checkDifference(t, difference{
		live:    `{set: [a]}`,
		entries: map[string]string{"me": `{"f:set":{"v:\"a\"":{}}}`, "other": `{"f:set":{}}`},
		manager: "me", config: `{number: 1}`,
		theirs: `{set: null, number: 1}`,
		ours:   `{set: [], number: 1}`,
	})
}

// Upstream removes a list when its applier applies it empty, and adds it, empty, when
// the same configuration is applied the next time. We do what was asked at once, so
// that applying twice is applying once.
func TestDifferenceAppliedEmptyListStays(t *testing.T) {
	checkDifference(t, difference{
		live:    `{set: [a]}`,
		entries: map[string]string{"me": `{"f:set":{"v:\"a\"":{}}}`},
		manager: "me", config: `{number: 1, set: []}`,
		theirs: `{number: 1}`,
		ours:   `{number: 1, set: []}`,
	})
}

// Field sets don't have empty lists. Upstream takes what is around one for gone when
// it prunes, and removes it, although somebody else owns it. We look at the document.
func TestDifferencePruningSeesEmptyLists(t *testing.T) {
	checkDifference(t, difference{
		live:    `{tree: {value: 1, forest: []}}`,
		entries: map[string]string{"me": `{"f:tree":{"f:value":{}}}`, "other": `{"f:tree":{}}`},
		manager: "me", config: `{number: 1}`,
		theirs: `{number: 1}`,
		ours:   `{number: 1, tree: {forest: []}}`,
	})
}

// Upstream removes the key of an item that stays because somebody else owns it, if the
// key itself is owned by nobody else, and with it loses the item. We keep the key for
// as long as the item stays: without it, it would be another.
func TestDifferenceItemsKeepTheirKeys(t *testing.T) {
	checkDifference(t, difference{
		live:    `{items: [{name: a, value: 1}]}`,
		entries: map[string]string{"me": `{"f:items":{"k:{\"name\":\"a\"}":{".":{},"f:name":{},"f:value":{}}}}`, "other": `{"f:items":{"k:{\"name\":\"a\"}":{}}}`},
		manager: "me", config: `{number: 1}`,
		theirs: `{items: null, number: 1}`,
		ours:   `{items: [{name: a}], number: 1}`,
	})
}

// Upstream takes the spelling of the configuration for a number that is equal to the
// live one, and writes the object again if anything else changed. We keep what is
// there: nothing changed.
func TestDifferenceEqualNumbersKeepTheirSpelling(t *testing.T) {
	live := Object{Document: parse(`{number: 1.0, text: a}`), Entries: []Entry{
		{Manager: "me", Operation: Apply, APIVersion: "v1", FieldsV1: `{"f:number":{},"f:text":{}}`}}}
	config, r := parse(`{number: 1, text: b}`), Request{Manager: "me", Version: "v1"}
	if text := testOracle.apply(live, config, r).doc.JSON(); text != `{"number":1,"text":"b"}` {
		t.Errorf("structured-merge-diff makes %s", text)
	}
	for _, plain := range []bool{false, true} {
		got, err := mustEngine(Options{plain: plain}).Apply(live, config, r)
		if err != nil {
			t.Fatal(err)
		}
		if text := got.Object.Document.JSON(); text != `{"number":1.0,"text":"b"}` {
			t.Errorf("plain %v: received %s", plain, text)
		}
	}
}

// Upstream refuses every configuration as long as something in the live object does
// not fit its topology, which happens when the topology changes. We check what the
// configuration changes: what is as it was may stay.
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
		if theirs := testOracle.apply(live, parse(config), r); theirs.err == nil {
			t.Errorf("%s: structured-merge-diff accepts it", config)
		}
		for _, plain := range []bool{false, true} {
			if _, err := mustEngine(Options{plain: plain}).Apply(live, parse(config), r); (err == nil) != accepted {
				t.Errorf("%s: plain %v: received %v", config, plain, err)
			}
		}
	}
}
