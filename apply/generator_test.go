package apply

import (
	"fmt"
	"math/rand/v2"

	smd "sigs.k8s.io/structured-merge-diff/v6/schema"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/schema"
)

// This file generates random schemas, and random values that conform to them. A schema is generated in the schema
// language of structured-merge-diff and translated to a topology (translate_test.go), so that the engine and
// structured-merge-diff use the same schema.

// generator generates random values from one random source, so that a seed determines a whole history.
type generator struct{ *rand.Rand }

func newGenerator(seed uint64) generator {
	return generator{rand.New(rand.NewPCG(seed, seed^0x9e3779b97f4a7c15))}
}

// chance returns true with a probability of percent.
func (g generator) chance(percent int) bool { return g.IntN(100) < percent }

// pick returns one of the choices; all have equal probability.
func pick[T any](g generator, choices ...T) T { return choices[g.IntN(len(choices))] }

const (
	deducedName = "__untyped_deduced_"
	atomicName  = "__untyped_atomic_"
)

var fieldNames = []string{"a", "b", "c", "d", "e"}

// schema returns a schema with the types T0 (the root, a struct to which no type refers), T1 (a struct) and T2 to T5.
func (g generator) schema() *smd.Schema {
	s := &smd.Schema{}
	for i := range 6 {
		def := smd.TypeDef{Name: typeName(i)}
		if i <= 1 {
			def.Atom = smd.Atom{Map: g.structType(i, false)}
		} else {
			def.Atom = g.atom(1)
		}
		s.Types = append(s.Types, def)
	}
	s.Types = append(s.Types, untypedDefs()...)
	return s
}

func typeName(i int) string { return fmt.Sprintf("T%d", i) }

// untypedDefs returns the type definitions that structured-merge-diff uses for fields without a schema.
func untypedDefs() []smd.TypeDef {
	deduced, atomic := deducedName, atomicName
	scalar := smd.Untyped
	list := func() *smd.List {
		return &smd.List{ElementType: smd.TypeRef{NamedType: &atomic}, ElementRelationship: smd.Atomic}
	}
	return []smd.TypeDef{
		{Name: atomic, Atom: smd.Atom{Scalar: &scalar, List: list(),
			Map: &smd.Map{ElementType: smd.TypeRef{NamedType: &atomic}, ElementRelationship: smd.Atomic}}},
		{Name: deduced, Atom: smd.Atom{Scalar: &scalar, List: list(),
			Map: &smd.Map{ElementType: smd.TypeRef{NamedType: &deduced}, ElementRelationship: smd.Separable}}},
	}
}

// ref returns a reference to a random named type, or a new inlined type.
func (g generator) ref(depth int) smd.TypeRef {
	switch {
	case g.chance(10):
		return smd.TypeRef{NamedType: new(pick(g, deducedName, deducedName, atomicName))}
	case depth > 3:
		return smd.TypeRef{Inlined: g.scalar()}
	case g.chance(25):
		ref := smd.TypeRef{NamedType: new(typeName(1 + g.IntN(5)))}
		if *ref.NamedType == "T1" && g.chance(50) {
			ref.ElementRelationship = new(pick(g, smd.Atomic, smd.Separable))
		}
		return ref
	}
	return smd.TypeRef{Inlined: g.atom(depth)}
}

func (g generator) scalar() smd.Atom {
	return smd.Atom{Scalar: new(pick(g, smd.Numeric, smd.String, smd.Boolean, smd.Untyped))}
}

func (g generator) atom(depth int) smd.Atom {
	switch n := g.IntN(100); {
	case n < 30:
		return g.scalar()
	case n < 40:
		return smd.Atom{List: &smd.List{ElementType: g.ref(depth + 1), ElementRelationship: smd.Atomic}}
	case n < 50:
		return smd.Atom{List: &smd.List{ElementType: smd.TypeRef{Inlined: g.scalar()}, ElementRelationship: smd.Associative}}
	case n < 68:
		return smd.Atom{List: g.keyedList(depth)}
	case n < 83:
		return smd.Atom{Map: g.structType(depth, g.chance(15))}
	default:
		return smd.Atom{Map: &smd.Map{ElementType: g.ref(depth + 1), ElementRelationship: pick(g, smd.Separable, smd.Separable, smd.Atomic, "")}}
	}
}

// structType returns a struct type with a random selection of fieldNames.
func (g generator) structType(depth int, atomic bool) *smd.Map {
	m := &smd.Map{}
	if atomic {
		m.ElementRelationship = smd.Atomic
	}
	for _, name := range fieldNames {
		if g.chance(55) || depth == 0 {
			m.Fields = append(m.Fields, smd.StructField{Name: name, Type: g.ref(depth + 1)})
		}
	}
	if g.chance(10) {
		m.ElementType = smd.TypeRef{NamedType: new(deducedName)}
	}
	return m
}

// keyedList returns a list of type map with one or two scalar keys.
func (g generator) keyedList(depth int) *smd.List {
	item := g.structType(depth+1, g.chance(10))
	l := &smd.List{ElementRelationship: smd.Associative}
	key := func(name string, scalar smd.Scalar, def any) {
		l.Keys = append(l.Keys, name)
		item.Fields = append(item.Fields, smd.StructField{Name: name, Type: smd.TypeRef{Inlined: smd.Atom{Scalar: &scalar}}, Default: def})
	}
	key("k", smd.String, nil)
	if g.chance(40) {
		var def any
		if g.chance(60) {
			def = pick[any](g, 1, 2)
		}
		key("j", smd.Numeric, def)
	}
	l.ElementType = smd.TypeRef{Inlined: smd.Atom{Map: item}}
	return l
}

// value returns a random value of type t. If duplicates is true, lists of type set and map may contain duplicate items.
func (g generator) value(t *schema.Type, depth int, duplicates bool) document.Value {
	if g.chance(6) && depth > 0 {
		return document.NewNull()
	}
	var shapes []func() document.Value
	if t.Scalar != schema.NoScalar {
		shapes = append(shapes, func() document.Value { return g.scalarValue(t.Scalar) })
	}
	if t.List != nil && (depth < 5 || len(shapes) == 0) {
		shapes = append(shapes, func() document.Value { return g.listValue(t.List, depth, duplicates) })
	}
	if t.Map != nil && (depth < 5 || len(shapes) == 0) {
		shapes = append(shapes, func() document.Value { return g.mapValue(t.Map, depth, duplicates) })
	}
	return shapes[g.IntN(len(shapes))]()
}

func (g generator) scalarValue(s schema.Scalar) document.Value {
	switch s {
	case schema.Numeric:
		return document.NewInt(int64(g.IntN(3)))
	case schema.String:
		return document.NewString(pick(g, "", "x", "y"))
	case schema.Boolean:
		return document.NewBool(g.chance(50))
	}
	return g.scalarValue(pick(g, schema.Numeric, schema.String, schema.Boolean))
}

func (g generator) listValue(l *schema.List, depth int, duplicates bool) document.Value {
	var items []document.Value
	for range g.IntN(4) {
		if depth > 6 {
			break
		}
		item := g.item(l, depth, duplicates)
		if l.Relationship != schema.Atomic && (!duplicates || g.chance(70)) && g.isDuplicate(l, items, item) {
			continue
		}
		items = append(items, item)
	}
	return document.NewList(items...)
}

// isDuplicate reports whether one of items has the same path element as item.
func (g generator) isDuplicate(l *schema.List, items []document.Value, item document.Value) bool {
	all, _ := elements(l, document.NewList(append(items[:len(items):len(items)], item)...))
	return newElementIndex(all).duplicates() != nil
}

func (g generator) item(l *schema.List, depth int, duplicates bool) document.Value {
	switch l.Relationship {
	case schema.Set:
		return g.scalarValue(l.Item.Scalar)
	case schema.Keyed:
		v := g.mapValue(l.Item.Map, depth+1, duplicates)
		v = v.With("k", document.NewString(pick(g, "p", "q", "r")))
		if len(l.Keys) > 1 {
			v = v.Without("j")
			if g.chance(70) {
				v = v.With("j", document.NewInt(int64(1+g.IntN(2))))
			}
		}
		return v
	}
	return g.value(l.Item, depth+1, duplicates)
}

func (g generator) mapValue(m *schema.Map, depth int, duplicates bool) document.Value {
	var fields []document.Field
	for _, f := range m.Fields {
		if depth > 6 && f.Name != "k" {
			continue
		}
		if g.chance(50) {
			fields = append(fields, document.Field{Name: f.Name, Value: g.value(f.Type, depth+1, duplicates)})
		}
	}
	if m.Element != nil && depth <= 6 {
		for _, name := range []string{"x", "y", "z"} {
			if g.chance(40) {
				fields = append(fields, document.Field{Name: name, Value: g.value(m.Element, depth+1, duplicates)})
			}
		}
	}
	return document.NewMap(fields...)
}

// withoutEmptyLists returns v without its empty granular lists. Field sets do not record these lists, and
// structured-merge-diff prunes the containers around them; see docs/differences.md.
func withoutEmptyLists(t *schema.Type, v document.Value) document.Value {
	switch {
	case v.Kind() == document.Map && t.Map != nil && !t.Map.Atomic:
		var fields []document.Field
		for name, field := range v.Fields() {
			child, _ := t.Map.TypeOf(name)
			if isEmptyGranularList(child, field) {
				continue
			}
			fields = append(fields, document.Field{Name: name, Value: withoutEmptyLists(child, field)})
		}
		return document.NewMap(fields...)
	case v.Kind() == document.List && t.List != nil && t.List.Relationship != schema.Atomic:
		var items []document.Value
		for _, item := range v.Items() {
			items = append(items, withoutEmptyLists(t.List.Item, item))
		}
		return document.NewList(items...)
	}
	return v
}

func isEmptyGranularList(t *schema.Type, v document.Value) bool {
	return v.Kind() == document.List && v.Len() == 0 && t.List != nil && t.List.Relationship != schema.Atomic
}

// mutate returns v with some random changes, so that histories contain both unchanged and changed values.
func (g generator) mutate(t *schema.Type, v document.Value, duplicates bool) document.Value {
	return g.mutateAt(t, v, 0, duplicates)
}

func (g generator) mutateAt(t *schema.Type, v document.Value, depth int, duplicates bool) document.Value {
	if t == nil {
		t = schema.Untyped // the random document does not conform to the schema here
	}
	if depth > 0 && g.chance(12) {
		return g.value(t, depth, duplicates)
	}
	switch {
	case v.Kind() == document.Map && t.Map != nil:
		var fields []document.Field
		for name, field := range v.Fields() {
			child, _ := t.Map.TypeOf(name)
			if g.chance(10) && name != "k" && name != "j" {
				continue
			}
			if name != "k" && name != "j" {
				field = g.mutateAt(child, field, depth+1, duplicates)
			}
			fields = append(fields, document.Field{Name: name, Value: field})
		}
		for _, f := range t.Map.Fields {
			if g.chance(10) && depth < 5 && f.Name != "k" && f.Name != "j" {
				if _, has := v.Find(f.Name); !has {
					fields = append(fields, document.Field{Name: f.Name, Value: g.value(f.Type, depth+1, duplicates)})
				}
			}
		}
		return document.NewMap(fields...)
	case v.Kind() == document.List && t.List != nil:
		return g.mutateList(t.List, v, depth, duplicates)
	}
	return v
}

func (g generator) mutateList(l *schema.List, v document.Value, depth int, duplicates bool) document.Value {
	var items []document.Value
	add := func(item document.Value) {
		if l.Relationship == schema.Atomic || duplicates && g.chance(30) || !g.isDuplicate(l, items, item) {
			items = append(items, item)
		}
	}
	for _, item := range v.Items() {
		if g.chance(12) {
			continue
		}
		if l.Relationship == schema.Keyed && item.Kind() != document.Map {
			continue // the random document does not conform to the schema here
		}
		if l.Relationship == schema.Keyed {
			item = g.mutateAt(&schema.Type{Map: l.Item.Map}, item, depth+1, duplicates)
			if item.Kind() != document.Map || item.Get("k").IsAbsent() {
				continue
			}
		}
		add(item)
	}
	if g.chance(25) && depth < 6 {
		add(g.item(l, depth, duplicates))
	}
	if g.chance(15) {
		g.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	}
	return document.NewList(items...)
}
