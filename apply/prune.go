package apply

import (
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
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
	//    other versions may need it to be converted at all, and may have less.
	full, here := before, rest
	for _, version := range versionsFrom(before.version, owners) {
		if full, rest, err = e.putBackOwned(full, rest, version, owners[version]); err != nil {
			return document.Value{}, err
		}
		if version == before.version {
			here = rest
		}
	}

	// 3. What was mine to remove goes, unless it is there by now.
	rest, err = e.at(rest, before.version)
	if isGone(err) {
		return merged.doc, nil
	}
	if err != nil {
		return document.Value{}, err
	}
	stays := pathsOf(here.t, here.doc).Union(pathsOf(rest.t, rest.doc))
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
	if less, err = e.at(less, doc.version); err != nil || document.Equal(back.doc, doc.doc) {
		return less.doc, err
	}
	return remove(doc.t, doc.doc, pathsOf(doc.t, back.doc).Difference(pathsOf(doc.t, less.doc))), nil
}

// putBackOwned restores in rest what full has and somebody owns at the version.
// Both are returned at that version, unless it is gone.
func (e *Engine) putBackOwned(full, rest versioned, version string, owned []fieldset.Set) (versioned, versioned, error) {
	fullThere, err := e.at(full, version)
	if isGone(err) {
		return full, rest, nil
	}
	if err != nil {
		return full, rest, err
	}
	restThere, err := e.at(rest, version)
	if isGone(err) {
		return fullThere, rest, nil
	}
	if err != nil {
		return full, rest, err
	}
	t := fullThere.t
	keep := pathsOf(t, restThere.doc)
	for _, set := range owned {
		keep = keep.Union(withNamed(set, t))
	}
	restThere.doc = remove(t, fullThere.doc, pathsOf(t, fullThere.doc).Difference(keep))
	return fullThere, restThere, nil
}

// versionsFrom returns the versions of the owners, the given one first if they
// have it.
func versionsFrom(first string, owners map[string][]fieldset.Set) []string {
	var versions []string
	if _, ok := owners[first]; ok {
		versions = append(versions, first)
	}
	for _, version := range sortedVersions(owners) {
		if version != first {
			versions = append(versions, version)
		}
	}
	return versions
}
