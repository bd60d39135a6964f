package apply

import (
	"slices"
	"sync"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/schema"
)

// pruner does what prune does, in one walk, when everybody's sets are of the
// version of the document. It follows what I gave up through the merged document
// and asks the owners only about that.
//
// A field goes when it was mine, and it or something around it is let go of. A
// field is let go of when it, or something around it, was mine, and nobody owns it
// now. Declared fields count as mine, and as owned, when anything below them is.
type pruner struct {
	docs document.Builder
	sets fieldset.Arena
	// owned has what each owner owns now, of every value that the walk is inside of.
	owned []fieldset.Set
}

// pruneHere prunes when all owners are at the version of the document. Most often
// there is nothing to prune: I apply all that I owned.
func pruneHere(merged versioned, owners *owners, me int, last owner) (document.Value, error) {
	givenUp, err := last.lacking(&owners.list[me])
	if err != nil || givenUp.IsEmpty() {
		return merged.doc, err
	}
	p := pruners.Get().(*pruner)
	s := pruneScope{givenUp: givenUp}
	if s.mine, err = last.along(&p.sets, givenUp); err != nil {
		return document.Value{}, err
	}
	p.owned = append(p.owned, neverOwned) // what nobody may own is nobody's to remove
	for i := range owners.list {
		owned, err := owners.list[i].along(&p.sets, givenUp)
		if err != nil {
			return document.Value{}, err
		}
		p.owned = append(p.owned, owned)
	}
	pruned := p.value(merged.t, merged.doc, s)
	p.release()
	return pruned, nil
}

var pruners = sync.Pool{New: func() any { return new(pruner) }}

// release gives the pruner back, so that it keeps no set and no document alive.
func (p *pruner) release() {
	p.docs.Reset()
	p.sets.Reset()
	clear(p.owned[:cap(p.owned)])
	p.owned = p.owned[:0]
	if cap(p.owned) <= mostScratch {
		pruners.Put(p)
	}
}

// allAt reports whether all owners are at one version.
func (o *owners) allAt(version string) bool {
	return !slices.ContainsFunc(o.list, func(one owner) bool { return one.entry.APIVersion != version })
}

// pruneScope is what is known about the inside of a value that stays.
type pruneScope struct {
	// mine is what I owned, givenUp the part of it that I no longer apply.
	mine, givenUp fieldset.Set
	// owned is where the pruner has what is owned in it.
	owned int
	// wasMine says whether the value, or something around it, was mine; letGo
	// whether one of those that were is owned by nobody.
	wasMine, letGo bool
}

// value prunes inside of a value.
func (p *pruner) value(t *schema.Type, v document.Value, s pruneScope) document.Value {
	if s.givenUp.IsEmpty() {
		return v
	}
	switch shapeOf(t, v) {
	case byField:
		return p.fields(t, v, s)
	case byItem:
		return p.items(t.List, v, s)
	}
	return v
}

func (p *pruner) fields(t *schema.Type, v document.Value, s pruneScope) document.Value {
	rest := edit(&p.docs, v)
	for at := range s.givenUp.Len() {
		e := s.givenUp.Element(at)
		if e.Kind() != fieldset.FieldName {
			break // names come first
		}
		if i, found := v.Find(e.Name()); found {
			child, declared := fieldType(t, e.Name())
			rest.set(i, p.child(child, v.At(i), at, declared, s))
		}
	}
	return rest.result()
}

func (p *pruner) items(l *schema.List, v document.Value, s pruneScope) document.Value {
	rest := edit(&p.docs, v)
	var array [16]selected
	for _, found := range selectItems(array[:0], l, v, s.givenUp) {
		item, t := v.At(found.index), l.Item
		if found.repeated {
			t = schema.Opaque // what occurs twice is one unit
		}
		left := p.child(t, item, found.at, false, s)
		if !left.IsAbsent() {
			left = withKeysOf(l, item, left)
		}
		rest.set(found.index, left)
	}
	return rest.result()
}

// child decides about the field or item that is in a place of what I gave up: absent if
// it goes, otherwise what is left of it.
func (p *pruner) child(t *schema.Type, v document.Value, at int, declared bool, s pruneScope) document.Value {
	e := s.givenUp.Element(at)
	mine, member := s.mine.Below(e)
	isMine, isOwned := member || declared, false
	below := pruneScope{mine: mine, givenUp: s.givenUp.Child(at), owned: len(p.owned)}
	for _, set := range p.owned[s.owned:below.owned] {
		owned, isMember := set.Below(e)
		isOwned = isOwned || isMember || declared && !owned.IsEmpty()
		if !owned.IsEmpty() {
			p.owned = append(p.owned, owned)
		}
	}
	defer func() { p.owned = p.owned[:below.owned] }()
	below.wasMine = s.wasMine || isMine
	below.letGo = s.letGo || below.wasMine && !isOwned
	if isMine && below.letGo {
		return document.Value{}
	}
	return p.value(t, v, below)
}
