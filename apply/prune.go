package apply

import (
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/schema"
)

// Pruning removes what an applier applied before and does not apply any more,
// unless somebody else owns it. It is defined here in terms of sets, for owners at
// any number of versions; prunewalk.go does the usual case, all owners at one
// version, in one walk.

// prune returns the merged document without what only I owned and no longer want. The
// owners have my new configuration already; last is what I owned before.
func (e *Engine) prune(merged versioned, owners *owners, me int, last owner) (document.Value, error) {
	if !e.options.Plain && owners.allAt(merged.version) && last.entry.APIVersion == merged.version {
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
