package apply

import (
	"slices"
	"sync"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/internal/lib/fastdoc"
	"github.com/cadastre/cadastre/internal/lib/fastset"
	"github.com/cadastre/cadastre/schema"
)

// Pruning removes what an applier applied before and does not apply any more,
// unless somebody else owns it. It is defined here in terms of sets, for owners at
// any number of versions; the pruner does the usual case, all owners at one
// version, in one walk.

// prune returns the merged document without what only I owned and no longer want. The
// owners have my new configuration already; last is what I owned before.
func (e *Engine) prune(merged versioned, owners *owners, me int, last owner) (document.Value, error) {
	if !e.options.plain && owners.allAt(merged.version) && last.entry.APIVersion == merged.version {
		return pruneHere(merged, owners, me, last)
	}
	if err := last.read(); err != nil {
		return document.Value{}, err
	}
	mine, err := owners.fields(me)
	if err != nil {
		return document.Value{}, err
	}
	if last.entry.APIVersion == merged.version && last.set.Difference(mine).IsEmpty() {
		return merged.doc, nil // I gave nothing up
	}
	byVersion, err := owners.byVersion()
	if err != nil {
		return document.Value{}, err
	}
	// What nobody may own is nobody's to remove.
	byVersion[merged.version] = append(byVersion[merged.version], neverOwned)
	return e.pruneAcross(merged, last, byVersion)
}

// pruneAcross prunes when owners are at several versions.
//
//	mine    what I owned before, at the version at which I applied it
//	owners  what everybody owns now, my new configuration included, by version
func (e *Engine) pruneAcross(merged versioned, mine owner, owners map[string][]fieldset.Set) (document.Value, error) {
	before, err := e.at(merged, mine.entry.APIVersion)
	if isGone(err) {
		return merged.doc, nil
	}
	if err != nil {
		return document.Value{}, err
	}
	// 1. Take out all that I owned.
	last := withNamed(mine.set, before.t)
	rest := before
	rest.doc = remove(before.t, before.doc, last)

	// 2. Put back what somebody owns, first at the version at which I owned it:
	//    other versions may need it to be converted at all.
	if rest, err = e.putBackOwned(before, rest, before.version, owners[before.version]); err != nil {
		return document.Value{}, err
	}
	stays := pathsOf(rest.t, rest.doc)
	for _, version := range sortedVersions(owners) {
		if version == before.version {
			continue
		}
		kept, err := e.keptAt(version, merged, rest, owners[version])
		if err != nil {
			return document.Value{}, err
		}
		stays = stays.Union(kept)
	}

	// 3. What was mine to remove goes, unless it is there by now.
	gone := pathsOf(before.t, before.doc).Difference(stays).Intersection(last)
	return e.removeAt(merged, before, gone)
}

// removeAt returns a document without fields of what it is at another version. What it has not there stays.
func (e *Engine) removeAt(doc, there versioned, gone fieldset.Set) (document.Value, error) {
	less := there
	less.doc = remove(there.t, there.doc, gone)
	switch {
	case there.version == doc.version:
		return less.doc, nil
	case less.doc == there.doc:
		return doc.doc, nil
	}
	back, err := e.at(there, doc.version)
	if err != nil {
		return document.Value{}, err
	}
	if less, err = e.at(less, doc.version); err != nil {
		return document.Value{}, err
	}
	if document.Equal(back.doc, doc.doc) {
		return less.doc, nil // that version shows all there is
	}
	shown := pathsOf(doc.t, back.doc)
	gone = shown.Difference(pathsOf(doc.t, less.doc))
	onlyHere := pathsOf(doc.t, doc.doc).Difference(shown)
	return remove(doc.t, doc.doc, withoutThoseAround(onlyHere, gone, doc.t)), nil
}

// withoutThoseAround leaves out of what goes the declared fields that are around something that stays. Items, and
// entries of maps, go with all that is in them.
func withoutThoseAround(stays, gone fieldset.Set, t *schema.Type) fieldset.Set {
	stays = stays.RecursiveDifference(gone.Difference(withNamed(stays, t)))
	return gone.Difference(withNamed(stays, t))
}

// keptAt returns what there is of rest, at its version, once what somebody owns at another one is put back; nothing if
// that one is gone. Every version starts from the same rest: from one that has less, the next would get less.
func (e *Engine) keptAt(version string, full, rest versioned, owned []fieldset.Set) (fieldset.Set, error) {
	there, err := e.putBackOwned(full, rest, version, owned)
	if err == nil {
		there, err = e.at(there, rest.version)
	}
	switch {
	case isGone(err):
		return fieldset.Set{}, nil
	case err != nil:
		return fieldset.Set{}, err
	}
	return pathsOf(there.t, there.doc), nil
}

// putBackOwned returns rest at a version, with what full has and somebody owns there.
func (e *Engine) putBackOwned(full, rest versioned, version string, owned []fieldset.Set) (versioned, error) {
	full, err := e.at(full, version)
	if err != nil {
		return rest, err
	}
	if rest, err = e.at(rest, version); err != nil {
		return rest, err
	}
	keep := pathsOf(rest.t, rest.doc)
	for _, set := range owned {
		keep = keep.Union(withNamed(set, rest.t))
	}
	rest.doc = remove(full.t, full.doc, pathsOf(full.t, full.doc).Difference(keep))
	return rest, nil
}

// pruner does what prune does, in one walk, when everybody's sets are of the
// version of the document. It follows what I gave up through the merged document
// and asks the owners only about that.
//
// A field goes when it was mine, and it or something around it is let go of. A
// field is let go of when it, or something around it, was mine, and nobody owns it
// now. Declared fields count as mine, and as owned, when anything below them is.
type pruner struct {
	docs fastdoc.Builder
	sets fastset.Arena
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
