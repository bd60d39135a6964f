package apply

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/schema"
)

// lossyVersions is thing at v2, and at v1, which has only a part of it: neither text, nor struct.b, nor items but a. Its
// number is among v2's list, which is atomic, as the metrics of autoscalers are. At v1 nothing is empty: what becomes
// so is left out.
type lossyVersions struct{}

func (lossyVersions) Type(version string) (*schema.Type, bool) {
	return testKind, version == "v1" || version == "v2"
}

func (v lossyVersions) Convert(doc document.Value, _, to string) (document.Value, error) {
	doc = doc.With("apiVersion", document.NewString(to))
	if to == "v2" {
		return v.toV2(doc), nil
	}
	return v.toV1(doc), nil
}

func (lossyVersions) toV2(doc document.Value) document.Value {
	var list []document.Value
	if number := doc.Get("number"); !number.IsAbsent() {
		list = append(list, document.NewString("number "+number.JSON()))
	}
	for _, item := range doc.Get("list").Items() {
		list = append(list, item)
	}
	return withUnlessEmpty(doc.Without("number"), "list", document.NewList(list...))
}

func (lossyVersions) toV1(doc document.Value) document.Value {
	var list, items []document.Value
	for _, item := range doc.Get("list").Items() {
		if number, ok := strings.CutPrefix(item.Text(), "number "); ok {
			doc = doc.With("number", parse(number))
			continue
		}
		list = append(list, item)
	}
	for _, item := range doc.Get("items").Items() {
		if item.Get("name").Text() == "a" {
			items = append(items, item.Without("tags"))
		}
	}
	doc = withUnlessEmpty(doc.Without("text"), "list", document.NewList(list...))
	doc = withUnlessEmpty(doc, "items", document.NewList(items...))
	if s := doc.Get("struct"); !s.IsAbsent() {
		doc = withUnlessEmpty(doc, "struct", s.Without("b"))
	}
	return doc
}

func withUnlessEmpty(doc document.Value, name string, value document.Value) document.Value {
	if value.Len() == 0 {
		return doc.Without(name)
	}
	return doc.With(name, value)
}

// TestPruneAfterVersionChange: who applied at a version that has a part of the object, and moves to the one that has all of it,
// takes away what it gave up, and nothing that its old version did not show.
func TestPruneAfterVersionChange(t *testing.T) {
	for _, c := range []struct{ name, live, mine, others, config, want string }{
		{
			"a field, and its container stays for another's",
			`{struct: {a: 1, b: 2}, text: x}`, ".struct.a", ".struct.b", `{text: x}`,
			`{struct: {b: 2}, text: x}`,
		},
		{
			"a field, and its container stays for nobody's",
			`{struct: {a: 1, b: 2}, text: x}`, ".struct.a", ".text", `{text: x}`,
			`{struct: {b: 2}, text: x}`,
		},
		{
			"a field with its container",
			`{struct: {a: 1}, text: x}`, ".struct.a", ".text", `{text: x}`,
			`{text: x}`,
		},
		{
			"an item beside another's",
			`{items: [{name: a, value: 1}, {name: b, value: 2}]}`, `.items[name="a"]{,.name,.value}`, `.items[name="b"]{,.name,.value}`, `{text: x}`,
			`{items: [{name: b, value: 2}], text: x}`,
		},
		{
			"an item beside nobody's",
			`{items: [{name: a, value: 1}, {name: b, value: 2}]}`, `.items[name="a"]{,.name,.value}`, `.flag`, `{text: x}`,
			`{items: [{name: b, value: 2}], text: x}`,
		},
		{
			"an item that another has, too",
			`{items: [{name: a, value: 1, tags: [t]}]}`, `.items[name="a"]{,.name,.value}`, `.items[name="a"]{,.name} .items[name="a"].tags[="t"]`, `{text: x}`,
			`{items: [{name: a, tags: [t]}], text: x}`,
		},
		{
			"an item with what is nobody's in it",
			`{items: [{name: a, value: 1, tags: [t]}]}`, `.items[name="a"]{,.name,.value}`, `.text`, `{flag: true}`,
			`{flag: true}`,
		},
		{
			"a part of what is atomic stays with the rest, as in Kubernetes",
			`{list: [number 1, other], text: x}`, ".number", ".text", `{text: x}`,
			`{list: [number 1, other], text: x}`,
		},
		{
			"all of what is atomic",
			`{list: [number 1], text: x}`, ".number", ".text", `{text: x}`,
			`{text: x}`,
		},
		{
			"what is applied again",
			`{struct: {a: 1, b: 2}, list: [number 1, other], text: x}`, ".struct.a .number", ".text", `{struct: {a: 1}, list: [number 1, other]}`,
			`{struct: {a: 1, b: 2}, list: [number 1, other], text: x}`,
		},
	} {
		for _, plain := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, plain %t", c.name, plain), func(t *testing.T) {
				live := Object{Document: parse(c.live).With("apiVersion", document.NewString("v2")), Entries: []Entry{
					{Manager: "alice", Operation: Apply, APIVersion: "v1", FieldsV1: pathSet(c.mine).FieldsV1()},
					{Manager: "bob", Operation: Apply, APIVersion: "v2", FieldsV1: pathSet(c.others).FieldsV1()},
				}}
				engine := mustEngine(Options{Versions: lossyVersions{}, plain: plain})
				result, err := engine.Apply(live, parse(c.config), Request{Manager: "alice", Version: "v2"})
				if err != nil {
					t.Fatal(err)
				}
				if got := result.Object.Document.Without("apiVersion"); !document.Equal(got, parse(c.want)) {
					t.Errorf("received %s, want %s", got, c.want)
				}
			})
		}
	}
}

// derivedTextVersions is as partVersions, but that text says at v2 whether v1 has a number.
type derivedTextVersions struct{ lossyVersions }

func (v derivedTextVersions) Convert(doc document.Value, from, to string) (document.Value, error) {
	text := "a number"
	if doc.Get("number").IsAbsent() {
		text = "no number"
	}
	doc, err := v.lossyVersions.Convert(doc, from, to)
	if to == "v2" {
		doc = doc.With("text", document.NewString(text))
	}
	return doc, err
}

// TestPruneAtLosslessVersion: where the old version shows all of an object, what it makes of the rest is the
// result.
func TestPruneAtLosslessVersion(t *testing.T) {
	live := Object{Document: parse(`{apiVersion: v2, list: [number 1], text: a number}`), Entries: []Entry{
		{Manager: "alice", Operation: Apply, APIVersion: "v1", FieldsV1: `{"f:number":{}}`},
	}}
	engine := mustEngine(Options{Versions: derivedTextVersions{}})
	result, err := engine.Apply(live, parse(`{flag: true}`), Request{Manager: "alice", Version: "v2"})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := result.Object.Document, parse(`{apiVersion: v2, flag: true, text: no number}`); !document.Equal(got, want) {
		t.Errorf("received %s, want %s", got, want)
	}
}
