package apply

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/schema"
)

// lossyVersions is testKind at two versions. v2 has all fields. v1 has neither text, nor struct.b, nor items other than
// "a", nor tags; its number is an item of v2's atomic list, as targetCPUUtilizationPercentage of autoscaling/v1 is an
// item of metrics of autoscaling/v2. v1 omits empty containers.
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

// toV2 converts a document to v2.
func (lossyVersions) toV2(doc document.Value) document.Value {
	var list []document.Value
	if number := doc.Get("number"); !number.IsAbsent() {
		list = append(list, document.NewString("number "+number.JSON()))
	}
	for _, item := range doc.Get("list").Items() {
		list = append(list, item)
	}
	return setUnlessEmpty(doc.Without("number"), "list", document.NewList(list...))
}

// toV1 converts a document to v1.
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
	doc = setUnlessEmpty(doc.Without("text"), "list", document.NewList(list...))
	doc = setUnlessEmpty(doc, "items", document.NewList(items...))
	if s := doc.Get("struct"); !s.IsAbsent() {
		doc = setUnlessEmpty(doc, "struct", s.Without("b"))
	}
	return doc
}

// setUnlessEmpty returns doc with the field name set to value, or without that field if value is empty.
func setUnlessEmpty(doc document.Value, name string, value document.Value) document.Value {
	if value.Len() == 0 {
		return doc.Without(name)
	}
	return doc.With(name, value)
}

// TestPruneAfterVersionChange: if a manager that applied at a lossy version applies at the full version, the fields
// that it released are pruned, and fields that the lossy version does not have stay.
func TestPruneAfterVersionChange(t *testing.T) {
	for _, c := range []struct{ name, live, mine, others, config, want string }{
		{
			"field in a container with an owned field",
			`{struct: {a: 1, b: 2}, text: x}`, ".struct.a", ".struct.b", `{text: x}`,
			`{struct: {b: 2}, text: x}`,
		},
		{
			"field in a container with an unowned field",
			`{struct: {a: 1, b: 2}, text: x}`, ".struct.a", ".text", `{text: x}`,
			`{struct: {b: 2}, text: x}`,
		},
		{
			"only field of a container",
			`{struct: {a: 1}, text: x}`, ".struct.a", ".text", `{text: x}`,
			`{text: x}`,
		},
		{
			"item beside an owned item",
			`{items: [{name: a, value: 1}, {name: b, value: 2}]}`, `.items[name="a"]{,.name,.value}`, `.items[name="b"]{,.name,.value}`, `{text: x}`,
			`{items: [{name: b, value: 2}], text: x}`,
		},
		{
			"item beside an unowned item",
			`{items: [{name: a, value: 1}, {name: b, value: 2}]}`, `.items[name="a"]{,.name,.value}`, `.flag`, `{text: x}`,
			`{items: [{name: b, value: 2}], text: x}`,
		},
		{
			"shared item",
			`{items: [{name: a, value: 1, tags: [t]}]}`, `.items[name="a"]{,.name,.value}`, `.items[name="a"]{,.name} .items[name="a"].tags[="t"]`, `{text: x}`,
			`{items: [{name: a, tags: [t]}], text: x}`,
		},
		{
			"item with an unowned field",
			`{items: [{name: a, value: 1, tags: [t]}]}`, `.items[name="a"]{,.name,.value}`, `.text`, `{flag: true}`,
			`{flag: true}`,
		},
		{
			"part of an atomic list stays with the list, as in Kubernetes",
			`{list: [number 1, other], text: x}`, ".number", ".text", `{text: x}`,
			`{list: [number 1, other], text: x}`,
		},
		{
			"complete atomic list",
			`{list: [number 1], text: x}`, ".number", ".text", `{text: x}`,
			`{text: x}`,
		},
		{
			"fields that are applied again",
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
					t.Errorf("Apply() = %s, want %s", got, c.want)
				}
			})
		}
	}
}

// derivedTextVersions is lossyVersions with a derived field: text of v2 reports whether v1 has a number.
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

// TestPruneAtLosslessVersion: if converting the object to the version of the applier's old entry and back is lossless,
// fields are pruned at the old version and the result is converted, so derived fields change, too.
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
		t.Errorf("Apply() = %s, want %s", got, want)
	}
}
