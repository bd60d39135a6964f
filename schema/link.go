package schema

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// linker converts drafts to Types.
//
// Each pair of draft and override is one Type, allocated at the first reference and filled later from a queue.
// Therefore recursive types terminate, equal overrides share one pointer, there are at most three Types per draft, and
// deep schemas need no deep stack. The defaults of keys need complete Types and are assigned when the queue is empty.
type linker struct {
	problems *problems
	types    map[target]*Type
	queue    []target
	aliases  map[*draft]target
	keyed    []keyedList
	names    map[string]string
	defaults map[string]document.Value
}

// target is a resolved reference: a draft that is not an alias, and the override that applies to it.
type target struct {
	draft    *draft
	override override
}

// keyedList is a list whose keys have no defaults yet.
type keyedList struct {
	list *List
	at   *location
}

func newLinker(p *problems) *linker {
	return &linker{
		problems: p,
		types:    map[target]*Type{},
		aliases:  map[*draft]target{},
		names:    map[string]string{},
		defaults: map[string]document.Value{},
	}
}

// typeOf returns the Type that a reference refers to. It is complete only after run.
func (l *linker) typeOf(r ref) *Type {
	t := l.checkOverride(l.resolve(r), r.at)
	if t.override == asDeclared {
		if t.draft.linked != nil {
			return t.draft.linked
		}
		if known := t.draft.wellKnown(); known != nil {
			return known
		}
	}
	typ, ok := l.types[t]
	if !ok {
		typ = &Type{Name: l.intern(t.draft.name), Scalar: t.draft.scalar}
		l.types[t] = typ
		l.queue = append(l.queue, t)
	}
	return typ
}

// run completes all Types that typeOf has returned.
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
	if t.draft.fields != nil {
		typ.Map = l.fillMap(t.draft.fields, t.override)
		// An override applies to the first alternative only, and maps are first.
		t.override = asDeclared
	}
	if t.draft.list != nil {
		typ.List = l.fillList(t.draft.list, t.override)
	}
}

func (l *linker) fillMap(d *mapDraft, o override) *Map {
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

func (l *linker) fillList(d *listDraft, o override) *List {
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

// findDefaults sets the defaults of a list's keys to the defaults of the item's fields. A key that is not a declared
// field of the item has none; the item may still accept it as an undeclared field.
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

// resolve resolves aliases. The override that is nearest to the reference wins.
func (l *linker) resolve(r ref) target {
	end := target{draft: r.to}
	if r.to.alias != nil {
		end = l.resolveAlias(r.to)
	}
	return end.with(r.override)
}

// resolveAlias returns the target of an alias and stores it for every alias on the way, so that a long chain is
// followed only once and a cycle is reported once.
func (l *linker) resolveAlias(d *draft) target {
	var chain []*draft
	walked := map[*draft]bool{}
	for d.alias != nil && !walked[d] {
		if _, known := l.aliases[d]; known {
			break
		}
		walked[d] = true
		chain = append(chain, d)
		d = d.alias.to
	}
	end := target{draft: d}
	if d.alias != nil {
		end = l.aliases[d]
	}
	if walked[d] {
		l.problems.add(d.alias.at, "a reference that leads to a type",
			"a cycle of references through "+quote(d.name), "declare the type in one of these places")
		end = target{draft: opaqueDraft}
	}
	for _, alias := range slices.Backward(chain) {
		end = end.with(alias.alias.override)
		l.aliases[alias] = end
	}
	return end
}

func (t target) with(o override) target {
	if o != asDeclared {
		t.override = o
	}
	return t
}

// checkOverride reports an override that does not apply to its draft, and removes an override that equals the draft's
// own relationship.
func (l *linker) checkOverride(t target, at *location) target {
	if t.override == asDeclared {
		return t
	}
	applies, same := false, false
	switch d := t.draft; {
	case d.fields != nil:
		applies = t.override != toAssociative
		same = d.fields.atomic == (t.override == toAtomic)
	case d.list != nil:
		applies = t.override != toGranular
		same = d.list.associative == (t.override == toAssociative)
	}
	if !applies {
		l.problems.add(at, "a reference to a "+t.override.applicableShapes(),
			"a reference to "+t.draft.shape()+" with the override "+quote(t.override.String()),
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

// applicableShapes returns the shapes that an override applies to, for error messages.
func (o override) applicableShapes() string {
	return [...]string{asDeclared: "type", toAtomic: "map or list", toGranular: "map", toAssociative: "list"}[o]
}

// shape describes the first alternative of a draft, for error messages.
func (d *draft) shape() string {
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

// intern returns an equal string that is shared between its uses and does not keep the schema's text in memory.
func (l *linker) intern(s string) string {
	if known, ok := l.names[s]; ok {
		return known
	}
	s = strings.Clone(s)
	l.names[s] = s
	return s
}

// detach returns an equal value that does not keep the schema's document in memory. Null becomes absent, because both
// mean that there is no default.
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
