package schema

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// linker converts unlinkedTypes to Types.
//
// Each pair of unlinkedType and override becomes one Type. It is allocated at the first reference and filled later from
// a queue. Therefore recursive types terminate, references with the same override share one pointer, there are at most
// three Types per unlinkedType, and deep schemas need no deep stack. The defaults of keys depend on complete Types, so
// they are assigned when the queue is empty.
type linker struct {
	problems *problems
	types    map[target]*Type
	queue    []target                  // the targets whose Types are not filled yet
	aliases  map[*unlinkedType]target  // the targets of resolved aliases
	keyed    []keyedList               // the keyed lists whose keys have no defaults yet
	names    map[string]string         // see intern
	defaults map[string]document.Value // the copied defaults by their JSON; see detach
}

// target is a resolved reference: an unlinkedType that is not an alias, and the override that applies to it.
type target struct {
	unlinked *unlinkedType
	override override
}

// keyedList is a keyed list whose keys have no defaults yet.
type keyedList struct {
	list *List
	at   *location
}

func newLinker(p *problems) *linker {
	return &linker{
		problems: p,
		types:    map[target]*Type{},
		aliases:  map[*unlinkedType]target{},
		names:    map[string]string{},
		defaults: map[string]document.Value{},
	}
}

// typeOf returns the Type that a reference refers to. Its alternatives are filled only by run.
func (l *linker) typeOf(r ref) *Type {
	t := l.checkOverride(l.resolve(r), r.at)
	if t.override == asDeclared {
		if t.unlinked.linked != nil {
			return t.unlinked.linked
		}
		if known := t.unlinked.wellKnown(); known != nil {
			return known
		}
	}
	typ, ok := l.types[t]
	if !ok {
		typ = &Type{Name: l.intern(t.unlinked.name), Scalar: t.unlinked.scalar}
		l.types[t] = typ
		l.queue = append(l.queue, t)
	}
	return typ
}

// run fills all Types that typeOf has returned.
func (l *linker) run() {
	for len(l.queue) > 0 {
		last := len(l.queue) - 1
		t := l.queue[last]
		l.queue = l.queue[:last]
		l.fill(l.types[t], t)
	}
	for _, k := range l.keyed {
		l.findDefaults(k)
	}
	l.keyed = nil
}

func (l *linker) fill(typ *Type, t target) {
	if t.unlinked.fields != nil {
		typ.Map = l.fillMap(t.unlinked.fields, t.override)
		// An override applies only to the first alternative, which is the map if there is one.
		t.override = asDeclared
	}
	if t.unlinked.list != nil {
		typ.List = l.fillList(t.unlinked.list, t.override)
	}
}

func (l *linker) fillMap(d *unlinkedMap, o override) *Map {
	m := &Map{Atomic: d.atomic}
	if o != asDeclared {
		m.Atomic = o == toAtomic
	}
	if d.element.to != nil {
		m.Element = l.typeOf(d.element)
	}
	if len(d.fields) == 0 {
		return m
	}
	m.Fields = make([]Field, len(d.fields))
	for i, f := range d.fields {
		m.Fields[i] = Field{l.intern(f.name), l.typeOf(f.value), l.detach(f.defaultValue)}
	}
	slices.SortFunc(m.Fields, func(a, b Field) int { return cmp.Compare(a.Name, b.Name) })
	return m
}

func (l *linker) fillList(d *unlinkedList, o override) *List {
	list := &List{Item: l.typeOf(d.item)}
	associative := d.associative
	if o != asDeclared {
		associative = o == toAssociative
	}
	switch {
	case !associative:
		list.Relationship = Atomic
	case len(d.keys) == 0:
		list.Relationship = Set
	default:
		list.Relationship = Keyed
		for _, name := range d.keys {
			list.Keys = append(list.Keys, Key{Name: l.intern(name)})
		}
		l.keyed = append(l.keyed, keyedList{list, d.at})
	}
	return list
}

// findDefaults sets the default of each key of the keyed list k to the default of the corresponding field of its items.
// A key that the item does not declare as a field has no default; the item may still accept it as an undeclared field.
func (l *linker) findDefaults(k keyedList) {
	item := k.list.Item.Map
	if item == nil {
		l.problems.add(k.at, "items that are maps, because the list is keyed by "+quote(k.list.Keys[0].Name),
			"items that can't be maps", "make the list a set or atomic, or its items maps")
		return
	}
	for i := range k.list.Keys {
		if f, ok := item.Find(k.list.Keys[i].Name); ok {
			k.list.Keys[i].Default = f.Default
		}
	}
}

// resolve follows the reference r, which may lead through aliases, and returns its target. If several references on the
// way declare an override, the override nearest to r applies.
func (l *linker) resolve(r ref) target {
	end := target{unlinked: r.to}
	if r.to.alias != nil {
		end = l.resolveAlias(r.to)
	}
	return end.withOverride(r.override)
}

// resolveAlias returns the target of an alias. It stores the target of every alias in a chain of aliases, so that a
// long chain is followed only once and a cycle is reported only once.
func (l *linker) resolveAlias(d *unlinkedType) target {
	var chain []*unlinkedType
	walked := map[*unlinkedType]bool{}
	for d.alias != nil && !walked[d] {
		if _, known := l.aliases[d]; known {
			break
		}
		walked[d] = true
		chain = append(chain, d)
		d = d.alias.to
	}
	end := target{unlinked: d}
	if d.alias != nil {
		end = l.aliases[d]
	}
	if walked[d] {
		l.problems.add(d.alias.at, "a reference that leads to a type",
			"a cycle of references through "+quote(d.name), "declare the type in one of these places")
		end = target{unlinked: unlinkedOpaque}
	}
	for _, alias := range slices.Backward(chain) {
		end = end.withOverride(alias.alias.override)
		l.aliases[alias] = end
	}
	return end
}

// withOverride returns the target with the override o, or the unchanged target if o is asDeclared.
func (t target) withOverride(o override) target {
	if o != asDeclared {
		t.override = o
	}
	return t
}

// checkOverride adds a problem if the override does not apply to the shape of its type, such as associative to a map.
// It removes an override that has no effect because the type declares the same relationship.
func (l *linker) checkOverride(t target, at *location) target {
	if t.override == asDeclared {
		return t
	}
	applies, same := false, false
	switch d := t.unlinked; {
	case d.fields != nil:
		applies = t.override != toAssociative
		same = d.fields.atomic == (t.override == toAtomic)
	case d.list != nil:
		applies = t.override != toGranular
		same = d.list.associative == (t.override == toAssociative)
	}
	if !applies {
		l.problems.add(at, "a reference to a "+t.override.applicableShapes(),
			"a reference to "+t.unlinked.shape()+" with the override "+quote(t.override.String()),
			"remove the override, or refer to another type")
	}
	if !applies || same {
		t.override = asDeclared
	}
	return t
}

func (o override) String() string {
	return [...]string{asDeclared: "", toAtomic: "atomic", toGranular: "granular", toAssociative: "associative"}[o]
}

// applicableShapes returns the shapes of types that an override applies to, for an error message.
func (o override) applicableShapes() string {
	return [...]string{asDeclared: "type", toAtomic: "map or list", toGranular: "map", toAssociative: "list"}[o]
}

// shape describes the first alternative of a type for an error message.
func (d *unlinkedType) shape() string {
	shape := "a scalar type"
	switch {
	case d.fields != nil:
		shape = "a map type"
	case d.list != nil:
		shape = "a list type"
	}
	if d.name != "" {
		shape += ", " + quote(d.name) + ","
	}
	return shape
}

// intern returns a copy of s that does not keep the schema's text in memory. Equal strings share one copy.
func (l *linker) intern(s string) string {
	if known, ok := l.names[s]; ok {
		return known
	}
	s = strings.Clone(s)
	l.names[s] = s
	return s
}

// detach returns a copy of a default that does not keep the schema's document in memory. For null it returns an absent
// value, because both mean that there is no default.
func (l *linker) detach(v document.Value) document.Value {
	if v.IsAbsent() || v.Kind() == document.Null {
		return document.Value{}
	}
	text := v.JSON()
	if known, ok := l.defaults[text]; ok {
		return known
	}
	if copied, err := document.ParseJSON([]byte(text)); err == nil {
		v = copied
	}
	l.defaults[text] = v
	return v
}
