package apply

import (
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/schema"
)

// pruner does what prune does, in one walk, when everybody's sets are of the
// version of the document. It follows my old set through the merged document and
// asks the owners only about what is in it.
//
// A field goes when it was mine, and it or something around it is let go of. A
// field is let go of when it, or something around it, was mine, and nobody owns it
// now. Declared fields count as mine, and as owned, when anything below them is.
type pruner struct {
	remover
	owners []fieldset.Set
}

// prune returns the merged document without what goes.
func (p *pruner) prune(t *schema.Type, merged document.Value, mine fieldset.Set) document.Value {
	return p.value(t, merged, mine, p.owners, false, false)
}

// value prunes inside of a value that stays. wasMine says whether something around
// what is inside, or the value itself, was mine; letGo whether one of those is
// owned by nobody.
func (p *pruner) value(t *schema.Type, v document.Value, mine fieldset.Set, owners []fieldset.Set, wasMine, letGo bool) document.Value {
	if mine.IsEmpty() {
		return v
	}
	if t == nil {
		t = schema.Untyped
	}
	switch t.Resolve(v.Kind()) {
	case schema.MapAlternative:
		if v.Kind() == document.Map && !t.Map.Atomic {
			return p.fields(t.Map, v, mine, owners, wasMine, letGo)
		}
	case schema.ListAlternative:
		if v.Kind() == document.List && t.List.Relationship != schema.Atomic {
			return p.items(t.List, v, mine, owners, wasMine, letGo)
		}
	}
	return v
}

func (p *pruner) fields(m *schema.Map, v document.Value, mine fieldset.Set, owners []fieldset.Set, wasMine, letGo bool) document.Value {
	mark := p.docs.Mark()
	changed := false
	for i := range v.Len() {
		t, declared := m.TypeOf(v.Name(i))
		rest := p.child(t, v.At(i), fieldset.NameElement(v.Name(i)), declared, mine, owners, wasMine, letGo)
		changed = changed || rest != v.At(i)
		p.docs.Push(v.Name(i), rest)
	}
	if !changed {
		p.docs.Drop(mark)
		return v
	}
	return p.docs.Map(mark)
}

func (p *pruner) items(l *schema.List, v document.Value, mine fieldset.Set, owners []fieldset.Set, wasMine, letGo bool) document.Value {
	elements, _ := elements(l, v)
	repeated := newIndex(elements).duplicates()
	mark := p.docs.Mark()
	changed := false
	for i, e := range elements {
		t := l.Item
		if repeated != nil && repeated[i] {
			t = schema.Opaque // what occurs twice is one unit
		}
		rest := p.child(t, v.At(i), e, false, mine, owners, wasMine, letGo)
		changed = changed || rest != v.At(i)
		p.docs.Push("", rest)
	}
	if !changed {
		p.docs.Drop(mark)
		return v
	}
	return p.docs.List(mark)
}

// child decides about one field or item: absent if it goes, otherwise what is left
// of it.
func (p *pruner) child(t *schema.Type, v document.Value, e fieldset.Element, declared bool, mine fieldset.Set, owners []fieldset.Set, wasMine, letGo bool) document.Value {
	below, member := mine.Below(e)
	if !member && below.IsEmpty() {
		return v
	}
	isMine := member || declared
	wasMine = wasMine || isMine
	var ownersBelow []fieldset.Set
	owned := false
	for _, s := range owners {
		ownerBelow, ownerMember := s.Below(e)
		owned = owned || ownerMember || declared && !ownerBelow.IsEmpty()
		if !ownerBelow.IsEmpty() {
			ownersBelow = append(ownersBelow, ownerBelow)
		}
	}
	letGo = letGo || wasMine && !owned
	if isMine && letGo {
		return document.Value{}
	}
	return p.value(t, v, below, ownersBelow, wasMine, letGo)
}
