package app

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/api/crd"
	"github.com/cadastre/cadastre/internal/lib/testwait"
	"github.com/cadastre/cadastre/schema"
)

// TestUnsetTwice unsets every field of valid objects of all built-in kinds, and some fields together, and checks that applying the
// same configuration again is a no-op: when the applier creates the object, and when it unsets the field of an object that another
// manager has created. The server, defaulting and admission set many of these fields again.
func TestUnsetTwice(t *testing.T) {
	c := start(t, Config{WithoutControllers: true, WithoutFairness: true})
	c.call("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", `{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"high"},"value":7}`).want(201)
	c.call("POST", "/api/v1/namespaces/default/limitranges", `{"apiVersion":"v1","kind":"LimitRange","metadata":{"name":"defaults"},"spec":{"limits":[
		{"type":"Container","default":{"cpu":"300m"},"defaultRequest":{"cpu":"100m","memory":"1Mi"}}]}}`).want(201)
	kinds := map[string]*api.Kind{}
	for _, k := range append(api.Builtin(), crd.Kind()) {
		for _, version := range k.Versions {
			kinds[k.APIVersion(version)+" "+k.Name] = k
		}
	}
	tested := map[string]bool{}
	for i, sample := range validObjects(t) {
		version, kind := sample.Get("apiVersion").Text(), sample.Get("kind").Text()
		k := kinds[version+" "+kind]
		u := &unsetTwice{client: c, sample: sample, resource: "/apis/" + version + "/", random: rand.New(rand.NewPCG(uint64(i), 5051))}
		if k.Group == "" {
			u.resource = "/api/" + version + "/"
		}
		if k.Namespaced {
			u.resource += "namespaces/" + sample.Lookup("metadata", "namespace").Text() + "/"
		}
		u.resource += k.Resource
		u.topology, _ = k.Topology(version)
		t.Run(fmt.Sprintf("%s %s %d", kind, sample.Lookup("metadata", "name").Text(), i), func(t *testing.T) {
			tested[kind] = u.run(t) || tested[kind]
		})
	}
	missing := slices.DeleteFunc(slices.Sorted(maps.Keys(tested)), func(kind string) bool { return tested[kind] })
	if len(tested) < 50 || len(missing) > 0 {
		t.Errorf("tested %d kinds; the server rejects all objects of the kinds %v", len(tested), missing)
	}
}

// validObjects returns the valid objects of all built-in kinds with which the tests of validation start, and some objects
// with few fields.
func validObjects(t *testing.T) (objects []document.Value) {
	files, err := filepath.Glob("../api/builtin/testdata/validation/objects/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files, "testdata/unset.yaml") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for object, err := range document.ParseYAMLStream(text, document.Limits{}) {
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			objects = append(objects, object)
		}
	}
	return objects
}

// unsetTwice is the test of one valid object.
type unsetTwice struct {
	*client
	sample   document.Value
	resource string // the path of the resource
	topology *schema.Type
	random   *rand.Rand
	renames  bool // reports whether objects may have other names
	count    int
}

// run unsets the fields of the object. It returns false if the server rejects the object, or if a controller changes it.
func (u *unsetTwice) run(t *testing.T) bool {
	u.client = u.client.withT(t)
	first := u.create(u.sample)
	if first.code >= 300 || !u.sample.Get("aggregationRule").IsAbsent() {
		return false // a controller sets the rules of an aggregated ClusterRole
	}
	u.settle(first, u.path(u.sample))
	if u.create(u.sample).text != first.text {
		return false
	}
	whole, err := apply.ReadObject(first.text)
	if err != nil {
		t.Fatal(err)
	}
	u.remove(u.sample)
	u.renames = true
	renamed := u.named(u.sample)
	if u.renames = u.create(renamed).code < 300; u.renames {
		u.remove(renamed)
	}
	paths := fieldPaths(u.topology, whole.Document, 5)
	for _, p := range paths {
		u.unset(false, p)
		u.unset(true, p)
	}
	for range min(len(paths), 20) {
		u.unset(u.random.IntN(3) == 0, paths[u.random.IntN(len(paths))], paths[u.random.IntN(len(paths))], paths[u.random.IntN(len(paths))])
	}
	return true
}

// named returns the configuration with a name of its own if objects may have other names.
func (u *unsetTwice) named(config document.Value) document.Value {
	if !u.renames {
		return config
	}
	u.count++
	metadata := config.Get("metadata")
	return config.With("metadata", metadata.With("name", document.NewString(fmt.Sprintf("%s-%d", metadata.Get("name").Text(), u.count))))
}

func (u *unsetTwice) create(config document.Value) *testResponse {
	return u.apply(u.path(config), "alice", config.JSON())
}

// settle waits until the controllers have established a new CustomResourceDefinition, and updates the response.
func (u *unsetTwice) settle(answer *testResponse, path string) {
	if u.sample.Get("kind").Text() != "CustomResourceDefinition" {
		return
	}
	testwait.For(u.t, "the definition is established", func() bool {
		answer.text = u.call("GET", path, "").text
		return strings.Contains(answer.text, `"type":"Established"`)
	})
}

func (u *unsetTwice) path(config document.Value) string {
	return u.resource + "/" + config.Lookup("metadata", "name").Text()
}

func (u *unsetTwice) remove(config document.Value) {
	path := u.path(config)
	u.call("DELETE", path, `{"gracePeriodSeconds":0}`, "Content-Type: application/json")
	u.call("PATCH", path, `{"metadata":{"finalizers":null}}`, "Content-Type: "+mergeType)
}

// unset applies a configuration that unsets some fields twice: the applier creates the object or, if other is true, another
// manager does.
func (u *unsetTwice) unset(other bool, paths ...fieldset.Path) {
	u.t.Helper()
	base := u.named(u.sample)
	defer u.remove(base)
	config, manager := base, "alice"
	if other {
		u.create(base).want(201)
		config, manager = identity(base), "bob&force=true"
	}
	for _, p := range paths {
		config = withMarkerAt(config, p)
	}
	path := u.path(base)
	first := u.apply(path, manager, config.JSON())
	if first.code >= 300 {
		return
	}
	u.settle(first, path)
	if second := u.apply(path, manager, config.JSON()); second.code >= 300 || second.text != first.text {
		u.t.Errorf("unsetting %s, created by another manager: %t; received %d, then %d\nfirst %s\nsecond %s", paths, other, first.code, second.code, first.text, second.text)
	}
}

// identity returns the fields of an object that identify it.
func identity(object document.Value) document.Value {
	metadata := document.NewMap()
	for _, name := range []string{"name", "namespace"} {
		if v := object.Lookup("metadata", name); !v.IsAbsent() {
			metadata = metadata.With(name, v)
		}
	}
	return document.NewMap().With("apiVersion", object.Get("apiVersion")).With("kind", object.Get("kind")).With("metadata", metadata)
}

// fieldPaths returns the paths of the fields and items of a value, down to a depth.
func fieldPaths(t *schema.Type, v document.Value, depth int) (paths []fieldset.Path) {
	if depth == 0 {
		return nil
	}
	add := func(e fieldset.Element, child *schema.Type, below document.Value, depth int) {
		paths = append(paths, fieldset.Path{e})
		for _, p := range fieldPaths(child, below, depth) {
			paths = append(paths, slices.Concat(fieldset.Path{e}, p))
		}
	}
	switch {
	case t == nil:
	case v.Kind() == document.Map && t.Map != nil && !t.Map.Atomic:
		for name, field := range v.Fields() {
			child, _ := t.Map.TypeOf(name)
			add(fieldset.NameElement(name), child, field, depth-1)
		}
	case v.Kind() == document.List && t.List != nil && t.List.Relationship == schema.Keyed:
		for _, item := range v.Items() {
			var keys []fieldset.KeyField
			for _, key := range t.List.Keys {
				if value := item.Get(key.Name); !value.IsAbsent() {
					keys = append(keys, fieldset.KeyField{Name: key.Name, Value: value})
				}
			}
			add(fieldset.KeyElement(keys...), t.List.Item, item, depth)
		}
	}
	return paths
}

// withMarkerAt returns a configuration with an unset marker at a path.
func withMarkerAt(v document.Value, p fieldset.Path) document.Value {
	marker := document.NewMap().With(apply.UnsetMarkerKey, document.NewString(apply.UnsetMarkerValue))
	if len(p) == 0 || document.Equal(v, marker) {
		return marker
	}
	if p[0].Kind() == fieldset.FieldName {
		if v.Kind() != document.Map {
			v = document.NewMap()
		}
		return v.With(p[0].Name(), withMarkerAt(v.Get(p[0].Name()), p[1:]))
	}
	keyed := document.NewMap()
	for _, key := range p[0].KeyFields() {
		keyed = keyed.With(key.Name, key.Value)
	}
	items, at := itemsOf(v), -1
	for i, item := range items {
		if matches(item, keyed) {
			at = i
		}
	}
	item := keyed
	if at >= 0 {
		item = items[at]
	} else {
		at, items = len(items), append(items, item)
	}
	if len(p) == 1 {
		items[at] = keyed.With(apply.UnsetMarkerKey, document.NewString(apply.UnsetMarkerValue))
	} else {
		items[at] = withMarkerAt(item, p[1:])
	}
	return document.NewList(items...)
}

// matches reports whether an item has no key with another value than in keys.
func matches(item, keys document.Value) bool {
	for name, value := range keys.Fields() {
		if v := item.Get(name); !v.IsAbsent() && !document.Equal(v, value) {
			return false
		}
	}
	return true
}

func itemsOf(list document.Value) (items []document.Value) {
	for _, item := range list.Items() {
		items = append(items, item)
	}
	return items
}
