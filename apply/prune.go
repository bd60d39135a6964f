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
func (e *Engine) prune(merged versioned, managed *managedFields, self int, previous managedEntry) (document.Value, error) {
	if !e.options.plain && managed.allAtVersion(merged.version) && previous.entry.APIVersion == merged.version {
		return pruneAtVersion(merged, managed, self, previous)
	}
	if err := previous.decode(); err != nil {
		return document.Value{}, err
	}
	current, err := managed.fields(self)
	if err != nil {
		return document.Value{}, err
	}
	if previous.entry.APIVersion == merged.version && previous.set.Difference(current).IsEmpty() {
		return merged.doc, nil // I gave nothing up
	}
	byVersion, err := managed.setsByVersion()
	if err != nil {
		return document.Value{}, err
	}
	// What nobody may own is nobody's to remove.
	byVersion[merged.version] = append(byVersion[merged.version], untrackedFields)
	return e.pruneAcrossVersions(merged, previous, byVersion)
}

// pruneAcrossVersions prunes when owners are at several versions.
//
//	mine    what I owned before, at the version at which I applied it
//	owners  what everybody owns now, my new configuration included, by version
func (e *Engine) pruneAcrossVersions(merged versioned, previous managedEntry, ownedByVersion map[string][]fieldset.Set) (document.Value, error) {
	before, err := e.convertTo(merged, previous.entry.APIVersion)
	if isVersionGone(err) {
		return merged.doc, nil
	}
	if err != nil {
		return document.Value{}, err
	}
	// 1. Take out all that I owned.
	previousFields := withNamedParents(previous.set, before.t)
	rest := before
	rest.doc = remove(before.t, before.doc, previousFields)

	// 2. Put back what somebody owns, first at the version at which I owned it:
	//    other versions may need it to be converted at all.
	if rest, err = e.restoreOwned(before, rest, before.version, ownedByVersion[before.version]); err != nil {
		return document.Value{}, err
	}
	retained := pathsOf(rest.t, rest.doc)
	for _, version := range sortedVersions(ownedByVersion) {
		if version == before.version {
			continue
		}
		also, err := e.retainedAt(version, merged, rest, ownedByVersion[version])
		if err != nil {
			return document.Value{}, err
		}
		retained = retained.Union(also)
	}

	// 3. What was mine to remove goes, unless it is there by now.
	removed := pathsOf(before.t, before.doc).Difference(retained).Intersection(previousFields)
	return e.removeAt(merged, before, removed)
}

// removeAt returns a document without fields of what it is at another version. What it has not there stays.
func (e *Engine) removeAt(doc, converted versioned, removed fieldset.Set) (document.Value, error) {
	reduced := converted
	reduced.doc = remove(converted.t, converted.doc, removed)
	switch {
	case converted.version == doc.version:
		return reduced.doc, nil
	case reduced.doc == converted.doc:
		return doc.doc, nil
	}
	back, err := e.convertTo(converted, doc.version)
	if err != nil {
		return document.Value{}, err
	}
	if reduced, err = e.convertTo(reduced, doc.version); err != nil {
		return document.Value{}, err
	}
	if document.Equal(back.doc, doc.doc) {
		return reduced.doc, nil // that version shows all there is
	}
	visible := pathsOf(doc.t, back.doc)
	removed = visible.Difference(pathsOf(doc.t, reduced.doc))
	onlyHere := pathsOf(doc.t, doc.doc).Difference(visible)
	return remove(doc.t, doc.doc, excludeParents(onlyHere, removed, doc.t)), nil
}

// excludeParents leaves out of what goes the declared fields that are around something that stays. Items, and
// entries of maps, go with all that is in them.
func excludeParents(retained, removed fieldset.Set, t *schema.Type) fieldset.Set {
	retained = retained.RecursiveDifference(removed.Difference(withNamedParents(retained, t)))
	return removed.Difference(withNamedParents(retained, t))
}

// retainedAt returns what there is of rest, at its version, once what somebody owns at another one is put back; nothing if
// that one is gone. Every version starts from the same rest: from one that has less, the next would get less.
func (e *Engine) retainedAt(version string, full, rest versioned, owned []fieldset.Set) (fieldset.Set, error) {
	restored, err := e.restoreOwned(full, rest, version, owned)
	if err == nil {
		restored, err = e.convertTo(restored, rest.version)
	}
	switch {
	case isVersionGone(err):
		return fieldset.Set{}, nil
	case err != nil:
		return fieldset.Set{}, err
	}
	return pathsOf(restored.t, restored.doc), nil
}

// restoreOwned returns rest at a version, with what full has and somebody owns there.
func (e *Engine) restoreOwned(full, rest versioned, version string, owned []fieldset.Set) (versioned, error) {
	full, err := e.convertTo(full, version)
	if err != nil {
		return rest, err
	}
	if rest, err = e.convertTo(rest, version); err != nil {
		return rest, err
	}
	keep := pathsOf(rest.t, rest.doc)
	for _, set := range owned {
		keep = keep.Union(withNamedParents(set, rest.t))
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

// pruneAtVersion prunes when all owners are at the version of the document. Most often
// there is nothing to prune: I apply all that I owned.
func pruneAtVersion(merged versioned, managed *managedFields, self int, previous managedEntry) (document.Value, error) {
	released, err := previous.difference(&managed.list[self])
	if err != nil || released.IsEmpty() {
		return merged.doc, err
	}
	p := pruners.Get().(*pruner)
	s := pruneScope{released: released}
	if s.previous, err = previous.restrictTo(&p.sets, released); err != nil {
		return document.Value{}, err
	}
	p.owned = append(p.owned, untrackedFields) // what nobody may own is nobody's to remove
	for i := range managed.list {
		owned, err := managed.list[i].restrictTo(&p.sets, released)
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
	if cap(p.owned) <= maxPooledScratch {
		pruners.Put(p)
	}
}

// allAtVersion reports whether all owners are at one version.
func (o *managedFields) allAtVersion(version string) bool {
	return !slices.ContainsFunc(o.list, func(m managedEntry) bool { return m.entry.APIVersion != version })
}

// pruneScope is what is known about the inside of a value that stays.
type pruneScope struct {
	// mine is what I owned, givenUp the part of it that I no longer apply.
	previous, released fieldset.Set
	// owned is where the pruner has what is owned in it.
	ownedStart int
	// wasMine says whether the value, or something around it, was mine; letGo
	// whether one of those that were is owned by nobody.
	wasOwned, abandoned bool
}

// value prunes inside of a value.
func (p *pruner) value(t *schema.Type, v document.Value, s pruneScope) document.Value {
	if s.released.IsEmpty() {
		return v
	}
	switch shapeOf(t, v) {
	case mapShape:
		return p.fields(t, v, s)
	case listShape:
		return p.items(t.List, v, s)
	}
	return v
}

func (p *pruner) fields(t *schema.Type, v document.Value, s pruneScope) document.Value {
	rest := edit(&p.docs, v)
	for at := range s.released.Len() {
		e := s.released.Element(at)
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
	var array [16]selectedItem
	for _, found := range selectItems(array[:0], l, v, s.released) {
		item, t := v.At(found.listIndex), l.Item
		if found.duplicate {
			t = schema.Opaque // what occurs twice is one unit
		}
		pruned := p.child(t, item, found.setIndex, false, s)
		if !pruned.IsAbsent() {
			pruned = withKeysOf(l, item, pruned)
		}
		rest.set(found.listIndex, pruned)
	}
	return rest.result()
}

// child decides about the field or item that is in a place of what I gave up: absent if
// it goes, otherwise what is left of it.
func (p *pruner) child(t *schema.Type, v document.Value, at int, declared bool, s pruneScope) document.Value {
	e := s.released.Element(at)
	previous, member := s.previous.Below(e)
	wasOwned, isOwned := member || declared, false
	below := pruneScope{previous: previous, released: s.released.Child(at), ownedStart: len(p.owned)}
	for _, set := range p.owned[s.ownedStart:below.ownedStart] {
		owned, isMember := set.Below(e)
		isOwned = isOwned || isMember || declared && !owned.IsEmpty()
		if !owned.IsEmpty() {
			p.owned = append(p.owned, owned)
		}
	}
	defer func() { p.owned = p.owned[:below.ownedStart] }()
	below.wasOwned = s.wasOwned || wasOwned
	below.abandoned = s.abandoned || below.wasOwned && !isOwned
	if wasOwned && below.abandoned {
		return document.Value{}
	}
	return p.value(t, v, below)
}
