package strategic

import (
	"math/rand/v2"
	"reflect"
	"slices"

	"github.com/cadastre/cadastre/document"
)

// generator generates random objects of Go types and random patches of them. It uses few distinct words, so values and
// keys often coincide. All objects and patches are valid.
type generator struct {
	*rand.Rand
}

var words = []string{"a", "b", "c", "d", "e", "f"}

func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

func (g *generator) word() document.Value { return document.NewString(words[g.IntN(len(words))]) }

// value returns a random value of the Go type t. If t is a list of maps, key is the merge key of the list.
func (g *generator) value(t reflect.Type, key string, depth int) document.Value {
	t = deref(t)
	switch {
	case hasCustomJSON(t) || t.Kind() == reflect.Interface || t == reflect.TypeFor[[]byte]():
		return g.word()
	case isList(t):
		return g.list(deref(t.Elem()), key, depth)
	case t.Kind() == reflect.Struct:
		return g.object(t, depth)
	case t.Kind() == reflect.Map:
		var fields []document.Field
		for range g.IntN(4) {
			fields = append(fields, document.Field{Name: g.word().Text(), Value: g.value(t.Elem(), "", depth-1)})
		}
		return document.NewMap(fields...)
	}
	return g.scalar(t)
}

func (g *generator) scalar(t reflect.Type) document.Value {
	switch t.Kind() {
	case reflect.String:
		return g.word()
	case reflect.Bool:
		return document.NewBool(g.chance(50))
	}
	return document.NewInt(int64(g.IntN(6)))
}

func (g *generator) object(t reflect.Type, depth int) document.Value {
	var fields []document.Field
	for _, f := range jsonFields(t) {
		if depth > 0 && g.chance(45) || f.name == "spec" || f.name == "template" || f.name == "containers" {
			fields = append(fields, document.Field{Name: f.name, Value: g.value(f.Type, f.key, depth-1)})
		}
	}
	return document.NewMap(fields...)
}

func (g *generator) list(item reflect.Type, key string, depth int) document.Value {
	var items []document.Value
	var ids identities
	for range g.IntN(5) {
		v := g.value(item, "", depth-1)
		if key != "" {
			v = v.With(key, g.keyValue(item, key))
		}
		id := identify(v)
		if key != "" {
			id = identify(v.Get(key))
		}
		if position := len(ids.all); v.Kind() == document.List || ids.add(id) == position || key == "" && v.Kind() == document.Map {
			items = append(items, v)
		}
	}
	return document.NewList(items...)
}

func (g *generator) keyValue(item reflect.Type, key string) document.Value {
	for _, f := range jsonFields(item) {
		if f.name == key {
			return g.scalar(deref(f.Type))
		}
	}
	return g.word()
}

// structField is a field of a Go struct with its JSON name, its merge key, and whether its patch strategy is merge.
type structField struct {
	reflect.StructField
	name, key string
	merge     bool
}

// jsonFields returns the fields of a Go struct that encoding/json encodes.
func jsonFields(t reflect.Type) []structField {
	var found []structField
	for i := range t.NumField() {
		f := t.Field(i)
		named := map[string]*field{}
		if embedded := addField(named, f); embedded != nil {
			found = append(found, jsonFields(embedded)...)
		}
		for name, how := range named {
			found = append(found, structField{f, name, how.key, how.merge})
		}
	}
	return found
}

// patch returns a random strategic merge patch for the object live, which has the Go type t.
func (g *generator) patch(t reflect.Type, live document.Value, depth int) document.Value {
	t = deref(t)
	patch := document.NewMap()
	if t.Kind() == reflect.Map {
		for range g.IntN(3) {
			name := g.word().Text()
			patch = patch.With(name, g.fieldPatch(structField{StructField: reflect.StructField{Type: t.Elem()}}, live.Get(name), depth-1))
		}
		return patch
	}
	if t.Kind() != reflect.Struct || hasCustomJSON(t) {
		return patch
	}
	for _, f := range jsonFields(t) {
		old := live.Get(f.name)
		if depth <= 0 || !g.chance(35) && f.name != "spec" && f.name != "template" {
			continue
		}
		value := g.fieldPatch(f, old, depth-1)
		patch = patch.With(f.name, value)
		if isList(deref(f.Type)) && value.Kind() == document.List {
			patch = g.listDirectives(patch, f, old)
		}
	}
	if g.chance(12) {
		patch = patch.With(retainDirective, g.retained(live, patch))
	}
	return patch
}

func (g *generator) retained(live, patch document.Value) document.Value {
	var names []document.Value
	for name := range patch.Fields() {
		if !isDirective(name) {
			names = append(names, document.NewString(name))
		}
	}
	for name := range live.Fields() {
		if g.chance(50) {
			names = append(names, document.NewString(name))
		}
	}
	return document.NewList(names...)
}

func (g *generator) fieldPatch(f structField, old document.Value, depth int) document.Value {
	t := deref(f.Type)
	switch {
	case g.chance(10):
		return document.NewNull()
	case old.Kind() == document.Map && t.Kind() != reflect.Interface && !hasCustomJSON(t):
		switch p := g.patch(t, old, depth); {
		case g.chance(6):
			return p.Without(retainDirective).With(patchDirective, document.NewString("delete"))
		case g.chance(6):
			return g.value(t, "", depth).With(patchDirective, document.NewString("replace"))
		default:
			return p
		}
	case old.Kind() == document.List && f.merge && f.key != "":
		return g.keyedPatch(f, old, depth)
	case g.chance(20) && t.Kind() == reflect.Struct:
		return g.patch(t, document.Value{}, depth) // a patch that contains nulls, although the object does not contain the map
	}
	return g.value(f.Type, f.key, depth)
}

func (g *generator) keyedPatch(f structField, old document.Value, depth int) document.Value {
	item := deref(deref(f.Type).Elem())
	var items []document.Value
	for _, live := range old.Items() {
		if id := live.Get(f.key); g.chance(15) {
			items = append(items, document.NewMap(document.Field{Name: f.key, Value: id},
				document.Field{Name: patchDirective, Value: document.NewString("delete")}))
		} else if g.chance(50) {
			items = append(items, g.itemPatch(item, live, f.key, depth))
		}
	}
	for _, added := range g.list(item, f.key, depth).Items() {
		if g.chance(30) && !hasCustomJSON(item) {
			added = g.itemPatch(item, added, f.key, depth) // the new item may contain nulls and directives
		}
		if !slices.ContainsFunc(slices.Concat(items, slices.Collect(values(old))), func(v document.Value) bool {
			return document.Equal(v.Get(f.key), added.Get(f.key))
		}) {
			items = append(items, added)
		}
	}
	g.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	if g.chance(6) {
		// The item {$patch: replace} is first, because strategicpatch reports such an item at a later position as out of
		// order. The other items contain no directives, because strategicpatch would leave these in the result.
		items = slices.Collect(values(g.list(item, f.key, depth)))
		items = slices.Insert(items, 0, document.NewMap(document.Field{Name: patchDirective, Value: document.NewString("replace")}))
	}
	return document.NewList(items...)
}

// itemPatch returns a random patch of a list item. The patch contains the merge key and does not remove it.
func (g *generator) itemPatch(item reflect.Type, live document.Value, key string, depth int) document.Value {
	p := g.patch(item, live, depth).With(key, live.Get(key))
	if keys := p.Get(retainDirective); !keys.IsAbsent() {
		p = p.With(retainDirective, document.NewList(append(slices.Collect(values(keys)), document.NewString(key))...))
	}
	return p
}

// values iterates over the items of a list.
func values(list document.Value) func(func(document.Value) bool) {
	return func(yield func(document.Value) bool) {
		for _, v := range list.Items() {
			if !yield(v) {
				return
			}
		}
	}
}

// listDirectives returns patch with random directives for the list of field f added, and sometimes without the list
// itself. old is the live list.
func (g *generator) listDirectives(patch document.Value, f structField, old document.Value) document.Value {
	list := patch.Get(f.name)
	alone := g.chance(20)
	if alone {
		patch, list = patch.Without(f.name), document.NewList()
	}
	if !f.merge && !alone {
		return patch
	}
	if g.chance(40) && (f.key != "" || f.merge) && list.Len()+old.Len() > 0 {
		if order := g.order(f, list, old); order.Len() > 0 {
			patch = patch.With(orderDirective+"/"+f.name, order)
		}
	}
	if g.chance(40) && f.key == "" && isScalarType(deref(deref(f.Type).Elem())) {
		var removed []document.Value
		for range g.IntN(3) {
			v := g.scalar(deref(deref(f.Type).Elem()))
			if !slices.ContainsFunc(slices.Collect(values(list)), func(w document.Value) bool { return document.Equal(v, w) }) {
				removed = append(removed, v)
			}
		}
		patch = patch.With(removeDirective+"/"+f.name, document.NewList(removed...))
	}
	return patch
}

func isScalarType(t reflect.Type) bool {
	return t.Kind() == reflect.String || t.Kind() == reflect.Int32 || t.Kind() == reflect.Int64
}

// order returns a valid value of $setElementOrder: the items of list, which is in the patch, mixed with some items of
// the live list old.
func (g *generator) order(f structField, list, old document.Value) document.Value {
	var order []document.Value
	var ids identities
	add := func(item document.Value) {
		if f.key != "" {
			item = document.NewMap(document.Field{Name: f.key, Value: item.Get(f.key)})
			if item.Len() == 0 {
				return
			}
		}
		if id, err := identifyItem(f.key, item); err == nil && ids.find(id) < 0 {
			ids.add(id)
			order = append(order, item)
		}
	}
	isNamed := func(v document.Value) bool {
		for _, item := range list.Items() {
			if f.key != "" && document.Equal(item.Get(f.key), v.Get(f.key)) || f.key == "" && document.Equal(item, v) {
				return true
			}
		}
		return false
	}
	for _, item := range list.Items() {
		if !item.Get(patchDirective).IsAbsent() {
			continue
		}
		for _, live := range old.Items() {
			if g.chance(15) && !isNamed(live) {
				add(live)
			}
		}
		add(item)
	}
	for _, live := range old.Items() {
		if g.chance(50) && !isNamed(live) {
			add(live)
		}
	}
	return document.NewList(order...)
}
