package ownership

import (
	"errors"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/schema"
)

func TestUnset(t *testing.T) {
	const m = "{k8s_io__value: unset}"
	for _, test := range []struct{ config, path, want string }{
		{"{}", "spec.replicas", "{spec: {replicas: " + m + "}}"},
		{"{spec: {paused: true}}", "spec.replicas", "{spec: {paused: true, replicas: " + m + "}}"},
		{"{spec: {replicas: " + m + "}}", "spec.replicas", "{spec: {replicas: " + m + "}}"},
		{"{}", `metadata.labels["a.b/c"]`, "{metadata: {labels: {a.b/c: " + m + "}}}"},
		{"{c: [{name: a, image: x}]}", "c[name=a].tty", "{c: [{name: a, image: x, tty: " + m + "}]}"},
		{"{c: [{name: a, image: x}]}", "c[name=b].tty", "{c: [{name: a, image: x}, {name: b, tty: " + m + "}]}"},
		{"{}", "ports[port=80,protocol=TCP].name", "{ports: [{port: 80, protocol: TCP, name: " + m + "}]}"},
		{"{}", "c[name=a]", "{c: [{name: a, k8s_io__value: unset}]}"},
		{"{c: [{name: '8'}]}", "c[name=8].x", "{c: [{name: '8', x: " + m + "}]}"},
	} {
		p, err := ParsePath(test.path)
		if err != nil {
			t.Fatal(err)
		}
		want := readYAML(t, test.want).Document
		if got, err := p.Unset(readYAML(t, test.config).Document); err != nil || !document.Equal(got, want) {
			t.Errorf("%s in %s: Unset() = %s, %v; want %s", test.path, test.config, got, err, want)
		}
	}
}

func TestHasUnsetMarker(t *testing.T) {
	for config, want := range map[string]bool{
		"{}": false, "{a: k8s_io__value}": false, "{a: {k8s_io__value: other}}": false, "{k8s_io__value: unset}": true,
		"{a: {b: {k8s_io__value: unset}}}": true, "{a: [1, {b: 1, k8s_io__value: unset}]}": true,
	} {
		if got := HasUnsetMarker(readYAML(t, config).Document); got != want {
			t.Errorf("HasUnsetMarker(%s) = %v, want %v", config, got, want)
		}
	}
}

// TestCheckKeys checks that a list item at any position of the path must be selected by all keys that have no default.
func TestCheckKeys(t *testing.T) {
	text := &schema.Type{Scalar: schema.AnyScalar}
	item := &schema.Type{Map: &schema.Map{Element: text}}
	list := &schema.Type{List: &schema.List{
		Relationship: schema.Keyed, Item: item,
		Keys: []schema.Key{{Name: "a"}, {Name: "b"}, {Name: "c", Default: document.NewString("x")}},
	}}
	kind := &schema.Type{Map: &schema.Map{Fields: []schema.Field{{Name: "list", Type: list}, {Name: "text", Type: text}}}}
	for path, want := range map[string]string{
		"text": "", "list": "", "unknown[a=1]": "", "list[0]": "", "list[a=1,b=2]": "", "list[b=2,a=1].d": "", "list[a=1,b=2,c=3]": "",
		"list[a=1]":     "path list[a=1]: after list: expected all keys of the list item, received none for b; add ,b=VALUE",
		"list[b=1].d":   "path list[b=1].d: after list: expected all keys of the list item, received none for a; add ,a=VALUE",
		"list[c=1].d.e": "path list[c=1].d.e: after list: expected all keys of the list item, received none for a; add ,a=VALUE",
	} {
		p, err := ParsePath(path)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := p.CheckKeys(kind); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: CheckKeys() = %q, want %q", path, got, want)
		}
		if err := p.CheckKeys(nil); err != nil {
			t.Errorf("%s: CheckKeys(nil) = %v, want nil", path, err)
		}
	}
}

func TestUnsetErrors(t *testing.T) {
	for _, test := range []struct{ config, path, want string }{
		{"{spec: {replicas: 2}}", "spec.replicas", "path spec.replicas: expected no value in the configuration, received number 2; remove it to unset the field"},
		{"{spec: 1}", "spec.replicas", "path spec.replicas: after spec: expected a map with the field replicas in the configuration, received number 1"},
		{"{}", "spec[0]", "path spec[0]: after spec: expected a field, or a list item by its keys, such as [name=app]"},
		{"{}", "spec[=x]", "path spec[=x]: after spec: expected a field, or a list item by its keys, such as [name=app]"},
		{"{c: {}}", "c[name=a]", "path c[name=a]: after c: expected a field, or a list item by its keys, such as [name=app]"},
		{"{c: [{name: a, image: x}]}", "c[name=a]", `path c[name=a]: expected no value in the configuration, received map {"image":"x","name":"a"}; remove it to unset the item`},
	} {
		p, err := ParsePath(test.path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Unset(readYAML(t, test.config).Document)
		var problem *PathError
		if !errors.As(err, &problem) || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s in %s: Unset() error = %v, want %s", test.path, test.config, err, test.want)
		}
	}
}
