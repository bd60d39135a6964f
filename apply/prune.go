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

// Pruning removes the fields that an applier owned and no longer applies, unless another manager owns them.
// pruneAcrossVersions implements it with operations on field sets, for managed fields entries at any number of
// versions. pruner implements it in one pass for the common case that all entries are at one version.

// prune returns the merged document without the fields that only the applier owned and that it released. managed
// already contains the applier's new field set, at index self; previous is the applier's entry before the request.
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
		return merged.doc, nil // the applier released nothing
	}
	byVersion, err := managed.setsByVersion()
	if err != nil {
		return document.Value{}, err
	}
	// Untracked fields have no field manager and are never pruned.
	byVersion[merged.version] = append(byVersion[merged.version], untrackedFields)
	return e.pruneAcrossVersions(merged, previous, byVersion)
}

// pruneAcrossVersions returns the merged document without the released fields, for managed fields entries at several
// versions.
//
//	previous        the applier's entry before the request, at the version of its last apply
//	ownedByVersion  the field sets of all entries by version, with the applier's new field set
func (e *Engine) pruneAcrossVersions(merged versioned, previous managedEntry, ownedByVersion map[string][]fieldset.Set) (document.Value, error) {
	before, err := e.convertTo(merged, previous.entry.APIVersion)
	if isVersionGone(err) {
		return merged.doc, nil
	}
	if err != nil {
		return document.Value{}, err
	}
	// 1. Remove all fields that the applier owned.
	previousFields := withNamedParents(previous.set, before.t)
	rest := before
	rest.doc = removeFields(before.t, before.doc, previousFields)

	// 2. Restore the fields that any manager owns. Begin with the version of the applier's previous entry, because
	//    conversion to other versions may require these fields.
	if rest, err = e.restoreOwned(before, rest, before.version, ownedByVersion[before.version]); err != nil {
		return document.Value{}, err
	}
	retained := pathsOf(rest.t, rest.doc)
	for _, version := range sortedVersions(ownedByVersion) {
		if version == before.version {
			continue
		}
		restored, err := e.retainedFieldsAt(version, merged, rest, ownedByVersion[version])
		if err != nil {
			return document.Value{}, err
		}
		retained = retained.Union(restored)
	}

	// 3. Remove the applier's previous fields that were not restored at any version.
	removed := pathsOf(before.t, before.doc).Difference(retained).Intersection(previousFields)
	return e.removeAt(merged, before, removed)
}

// removeAt returns doc without the fields in removed. converted is doc at another version, and removed contains paths
// of converted. Fields of doc that the version of converted can't represent are not removed.
func (e *Engine) removeAt(doc, converted versioned, removed fieldset.Set) (document.Value, error) {
	reduced := converted
	reduced.doc = removeFields(converted.t, converted.doc, removed)
	switch {
	case converted.version == doc.version:
		return reduced.doc, nil
	case reduced.doc == converted.doc:
		return doc.doc, nil
	}
	roundTrip, err := e.convertTo(converted, doc.version)
	if err != nil {
		return document.Value{}, err
	}
	if reduced, err = e.convertTo(reduced, doc.version); err != nil {
		return document.Value{}, err
	}
	if document.Equal(roundTrip.doc, doc.doc) {
		return reduced.doc, nil // converting to the other version and back is lossless
	}
	visible := pathsOf(doc.t, roundTrip.doc)
	removed = visible.Difference(pathsOf(doc.t, reduced.doc))
	invisible := pathsOf(doc.t, doc.doc).Difference(visible)
	return removeFields(doc.t, doc.doc, excludeParents(invisible, removed, doc.t)), nil
}

// excludeParents returns removed without the declared fields that contain a field in retained. List items and
// undeclared map elements stay in removed, and are removed together with the retained fields inside of them.
func excludeParents(retained, removed fieldset.Set, t *schema.Type) fieldset.Set {
	retained = retained.RecursiveDifference(removed.Difference(withNamedParents(retained, t)))
	return removed.Difference(withNamedParents(retained, t))
}

// retainedFieldsAt returns the paths of rest after restoring the fields of full that the field sets in owned contain.
// These sets are at the given version, so both documents are converted to it, and the result is converted back to the
// version of rest. If the given version no longer exists, the result is the empty set. Each call gets the original
// rest, so a lossy conversion to one version does not affect the results for other versions.
func (e *Engine) retainedFieldsAt(version string, full, rest versioned, owned []fieldset.Set) (fieldset.Set, error) {
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

// restoreOwned converts full and rest to the given version, and returns the converted rest with the fields of full
// added that the field sets in owned contain.
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
	rest.doc = removeFields(full.t, full.doc, pathsOf(full.t, full.doc).Difference(keep))
	return rest, nil
}

// pruner removes released fields in one pass if all managed fields entries are at the version of the document. It walks
// the merged document along the released fields, and looks up only these fields in the field sets.
//
// A field is abandoned if the applier owned it, or a container around it, and no manager owns it now. A field is
// removed if the applier owned it, and the field or a container around it is abandoned. A declared field counts as
// owned if anything below it is owned.
type pruner struct {
	docs fastdoc.Builder
	sets fastset.Arena
	// owned is a stack. For each container that the walk is in, it holds the non-empty subsets below this container of all
	// managers' field sets.
	owned []fieldset.Set
}

// pruneAtVersion returns the merged document without the released fields, for managed fields entries that are all at
// the version of the document. It returns early if the applier released no fields, as in most requests.
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
	p.owned = append(p.owned, untrackedFields) // untracked fields are never pruned
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

// release clears the pruner's references to field sets and documents and returns it to the pool.
func (p *pruner) release() {
	p.docs.Reset()
	p.sets.Reset()
	clear(p.owned[:cap(p.owned)])
	p.owned = p.owned[:0]
	if cap(p.owned) <= maxPooledScratch {
		pruners.Put(p)
	}
}

// allAtVersion reports whether the apiVersion of all entries is version.
func (managed *managedFields) allAtVersion(version string) bool {
	return !slices.ContainsFunc(managed.list, func(m managedEntry) bool { return m.entry.APIVersion != version })
}

// pruneScope is the state of pruner's walk inside of a map or list that is not removed.
type pruneScope struct {
	// previous are the fields below the container that the applier owned before the request; released is the subset
	// that it no longer applies.
	previous, released fieldset.Set
	// ownedStart is the index in pruner.owned at which the field sets below the container start.
	ownedStart int
	// wasOwned reports whether the applier owned this container or a container around it. abandoned reports whether one
	// of these containers has no owner now.
	wasOwned, abandoned bool
}

// value returns v without the released fields below it.
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
	rest := newContainerEdit(&p.docs, v)
	for at := range s.released.Len() {
		e := s.released.Element(at)
		if e.Kind() != fieldset.FieldName {
			break // field names sort before other elements
		}
		if i, found := v.Find(e.Name()); found {
			child, declared := fieldType(t, e.Name())
			rest.set(i, p.child(child, v.At(i), at, declared, s))
		}
	}
	return rest.result()
}

func (p *pruner) items(l *schema.List, v document.Value, s pruneScope) document.Value {
	rest := newContainerEdit(&p.docs, v)
	var array [16]selectedItem
	for _, found := range selectItems(array[:0], l, v, s.released) {
		item, t := v.At(found.listIndex), l.Item
		if found.duplicate {
			t = schema.Opaque // duplicates are owned as one unit
		}
		pruned := p.child(t, item, found.setIndex, false, s)
		if !pruned.IsAbsent() {
			pruned = withKeysOf(l, item, pruned)
		}
		rest.set(found.listIndex, pruned)
	}
	return rest.result()
}

// child returns the field or list item v without its released fields, or an absent value if v itself is removed. index
// is the index of the path element of v in s.released.
func (p *pruner) child(t *schema.Type, v document.Value, index int, declared bool, s pruneScope) document.Value {
	e := s.released.Element(index)
	previous, member := s.previous.Below(e)
	wasOwned, isOwned := member || declared, false
	below := pruneScope{previous: previous, released: s.released.Child(index), ownedStart: len(p.owned)}
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
