package schema

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// linker turns drafts into Types.
//
// A (draft, override) pair is one Type, made when it is first mentioned and filled
// later from a queue. So recursive types end, equal overrides share one pointer,
// the number of Types is at most three times that of drafts, and the depth of a
// schema does not cost stack. What needs complete Types (the defaults of keys) is
// done when the queue is empty.
type linker struct {
	problems *problems
	types    map[target]*Type
	queue    []target
	aliases  map[*draft]target
	keyed    []keyedList
	names    map[string]string
	defaults map[string]document.Value
}

// target is what a reference means in the end: a draft that is no alias, and the
// override that counts.
type target struct {
	draft    *draft
	override override
}

// keyedList is a list whose keys wait for their defaults.
type keyedList struct {
	list *List
	at   *place
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

// mention returns the Type that a reference means. It is complete only after run.
func (l *linker) mention(r ref) *Type {
	t := l.effective(l.resolve(r), r.at)
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

// run completes all Types that were mentioned.
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
		// An override counts for the first alternative only, and maps come first.
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
		m.Element = l.mention(d.element)
	}
	if len(d.fields) == 0 {
		return m
	}
	m.Fields = make([]Field, len(d.fields))
	for i, f := range d.fields {
		m.Fields[i] = Field{l.intern(f.name), l.mention(f.value), l.detach(f.fallback)}
	}
	slices.SortFunc(m.Fields, func(a, b Field) int { return cmp.Compare(a.Name, b.Name) })
	return m
}

func (l *linker) fillList(d *listDraft, o override) *List {
	list := &List{Item: l.mention(d.item)}
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

// findDefaults gives the keys of a list the defaults of the item's fields. A key
// that the item does not declare has none: the item may still take such a field.
func (l *linker) findDefaults(k keyedList) {
	item := k.list.Item.Map
	if item == nil {
		l.problems.add(k.at, "items that are maps, because the list is keyed by "+quote(k.list.Keys[0].Name),
			"items that can not be a map", "make the list a set or atomic, or its items maps")
		return
	}
	for i := range k.list.Keys {
		if f, ok := item.Find(k.list.Keys[i].Name); ok {
			k.list.Keys[i].Default = f.Default
		}
	}
}

// resolve follows aliases. The override nearest to the use wins.
func (l *linker) resolve(r ref) target {
	end := target{draft: r.to}
	if r.to.alias != nil {
		end = l.follow(r.to)
	}
	return end.with(r.override)
}

// follow returns what an alias means in the end, and remembers it for every alias
// on the way, so that a long chain is walked once and a circle is reported once.
func (l *linker) follow(d *draft) target {
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
			"a circle of references through "+quote(d.name), "declare the type at one of its places")
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

// effective checks an override against the draft that it changes, and drops it
// when the draft already says the same.
func (l *linker) effective(t target, at *place) target {
	if t.override == asDeclared {
		return t
	}
	fits, same := false, false
	switch d := t.draft; {
	case d.fields != nil:
		fits = t.override != toAssociative
		same = d.fields.atomic == (t.override == toAtomic)
	case d.list != nil:
		fits = t.override != toGranular
		same = d.list.associative == (t.override == toAssociative)
	}
	if !fits {
		l.problems.add(at, "a reference to a "+t.override.fits(),
			"a reference to "+t.draft.shape()+" with the override "+quote(t.override.String()),
			"remove the override, or refer to another type")
	}
	if !fits || same {
		t.override = asDeclared
	}
	return t
}

func (o override) String() string {
	return [...]string{asDeclared: "", toAtomic: "atomic", toGranular: "granular", toAssociative: "associative"}[o]
}

// fits names the shapes that an override can change.
func (o override) fits() string {
	return [...]string{asDeclared: "type", toAtomic: "map or list", toGranular: "map", toAssociative: "list"}[o]
}

// shape names the first alternative of a draft, for error messages.
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

// intern returns an equal string that is shared between its uses and does not keep
// the schema's text in memory.
func (l *linker) intern(s string) string {
	if known, ok := l.names[s]; ok {
		return known
	}
	s = strings.Clone(s)
	l.names[s] = s
	return s
}

// detach returns an equal value that does not keep the schema's document in
// memory; null becomes absent, because both mean that there is no default.
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
