package apply

import (
	"fmt"
	"testing"
	"time"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
)

// TestUnsetCreated: an unset field keeps the value that the server sets when it creates the object, so that applying the
// configuration that created the object is a no-op. Other values are removed.
func TestUnsetCreated(t *testing.T) {
	given := document.NewInt(7)
	s := newScript(t)
	s.created = func(doc document.Value) document.Value {
		if doc.Get("number").IsAbsent() && doc.Get("text").IsAbsent() {
			doc = doc.With("number", given)
		}
		return doc
	}
	s.apply("m1", `{number: {k8s_io__value: unset}, map: {a: 1}}`)
	s.live.Document = s.live.Document.With("number", given) // the server sets the field after the merge
	s.noOp("m1", `{number: {k8s_io__value: unset}, map: {a: 1}}`)
	s.apply("m2", `number: {k8s_io__value: unset}`)
	s.want(`{number: 7, map: {a: 1}}`)
	s.wantOwners(`m1 .map.a .number`, `m2 .number`)

	s.force("m3", `number: 8`)
	s.force("m1", `{number: {k8s_io__value: unset}, map: {a: 1}}`)
	s.want(`map: {a: 1}`)

	// Created receives only fields with a field manager: text without a manager does not change its result, text of m3 does.
	s.live.Document = s.live.Document.With("number", given).With("text", document.NewString("x"))
	s.noOp("m1", `{number: {k8s_io__value: unset}, map: {a: 1}}`)
	s.force("m3", `text: z`)
	s.apply("m1", `{number: {k8s_io__value: unset}, map: {a: 1}}`)
	s.want(`{map: {a: 1}, text: z}`)
}

// TestUnsetAdmitted: a field that admission set when the applier created the object keeps its value. A manager that did not own
// the field before removes it.
func TestUnsetAdmitted(t *testing.T) {
	s := newScript(t)
	same := func(doc document.Value) document.Value { return doc }
	item, err := document.ParseYAML([]byte(`[{name: x, value: "1"}, {name: a}]`))
	if err != nil {
		t.Fatal(err)
	}
	s.created, s.admitted = same, func(doc document.Value) document.Value {
		if doc.Get("items").Len() < 2 {
			doc = doc.With("items", item)
		}
		return doc
	}
	const config = `{items: [{name: a}, {name: x, k8s_io__value: unset}]}`
	s.apply("m1", config)
	s.live.Document = s.live.Document.With("items", item) // as admission does after the merge
	s.noOp("m1", config)
	s.wantOwners(`m1 .items[name="a"]{,.name} .items[name="x"]`)

	s.force("m2", `items: [{name: x, k8s_io__value: unset}]`)
	s.want(`items: [{name: a}]`)
	s.noOp("m2", `items: [{name: x, k8s_io__value: unset}]`)
}

// TestUnsetLaterDefault: a field that the server left absent when it created the object, and that would have a default now
// because the server has set another field, remains absent. A field whose default would be different now keeps its value.
func TestUnsetLaterDefault(t *testing.T) {
	byText := func(doc document.Value) document.Value {
		if text := doc.Get("text"); doc.Get("number").IsAbsent() && !text.IsAbsent() {
			doc = doc.With("number", document.NewInt(int64(len(text.Text()))))
		}
		return doc
	}
	s := newScript(t, Options{Unset: true, Default: byText})
	s.created = func(doc document.Value) document.Value {
		doc = byText(doc)
		return doc.With("text", document.NewString(doc.Get("text").Text()+"generated"))
	}
	s.apply("m1", `{number: {k8s_io__value: unset}, map: {a: 1, b: {k8s_io__value: unset}}}`)
	s.live.Document = s.live.Document.With("text", document.NewString("generated"))
	s.noOp("m1", `{number: {k8s_io__value: unset}, map: {a: 1, b: {k8s_io__value: unset}}}`)
	s.wantOwners(`m1 .map{.a,.b} .number`)

	s = newScript(t, Options{Unset: true, Default: byText})
	s.created = func(doc document.Value) document.Value {
		return byText(doc).With("text", document.NewString("xygenerated"))
	}
	s.apply("m1", `{number: {k8s_io__value: unset}, text: xy}`)
	s.want(`{number: 2, text: xy}`)
}

// TestUnsetInRemovedItem: removing a list item also removes the unset fields inside of it from the entries of all field managers.
func TestUnsetInRemovedItem(t *testing.T) {
	s := newScript(t)
	s.apply("m1", `{items: [{name: a, value: {k8s_io__value: unset}}, {name: b, value: {k8s_io__value: unset}}], number: {k8s_io__value: unset}}`)
	s.apply("m2", `items: [{name: a}]`)
	s.force("m3", `items: [{name: a, k8s_io__value: unset}]`)
	s.want(`items: [{name: b}]`)
	s.wantOwners(`m1 .items[name="b"]{,.name,.value} .number`, `m3 .items[name="a"]`)
	config, err := s.fast.Extract(s.live, Request{Manager: "m1", Version: "v1"})
	if err != nil {
		t.Fatal(err)
	}
	s.noOp("m1", config.JSON())
}

// TestSplitEqualManyItems checks that comparing list items is not quadratic in their number.
func TestSplitEqualManyItems(t *testing.T) {
	duration := func(count int) time.Duration {
		var before, after []document.Value
		var paths []fieldset.Path
		for i := range count {
			item := document.NewMap().With("name", document.NewString(fmt.Sprintf("item%06d", i)))
			before, after = append(before, item), append(after, item.With("value", document.NewInt(int64(i%2))))
			key := fieldset.KeyElement(fieldset.KeyField{Name: "name", Value: item.Get("name")})
			paths = append(paths, fieldset.Path{fieldset.NameElement("items"), key, fieldset.NameElement("value")})
		}
		in := func(items []document.Value) versioned {
			return versioned{document.NewMap().With("items", document.NewList(items...)), testKind, "v1"}
		}
		fields := fieldset.New(paths...)
		begun := time.Now()
		if differing, equal := splitEqual(in(before), in(after), fields); differing.Size() != count || !equal.IsEmpty() {
			t.Fatalf("splitEqual() = %d differing and %d equal fields, want %d and none", differing.Size(), equal.Size(), count)
		}
		return time.Since(begun)
	}
	const few, many = 1000, 20_000
	short := min(duration(few), duration(few), duration(few))
	if long := duration(many); long > 100*short+time.Second {
		t.Errorf("comparing %d items took %v and %d items %v, want a duration linear in their number", few, short, many, long)
	}
}
