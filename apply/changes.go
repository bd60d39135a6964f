package apply

import (
	"sync"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
)

// versionedChanges compares the object before and after an operation at the versions of its managed fields entries. It
// compares each version at most once.
type versionedChanges struct {
	engine        *Engine
	before, after versioned
	// afterUnset is the object before the operation, without the fields at which the configuration has unset markers.
	afterUnset versioned
	// unchanged reports that the documents are equal, so that there are no changes at any version.
	unchanged bool
	// cached holds the changes at each version other than the version of the request.
	cached map[string]changesAtVersion
	// errs are the conversion errors by version. A failed conversion is not repeated.
	errs map[string]error
	// requested holds the changes at the version of the request. It is computed on demand, because Result.Changes may
	// be called later and concurrently.
	requested     changesAtVersion
	requestedOnce sync.Once
}

// changesAtVersion are the changes between two documents at one version.
type changesAtVersion struct {
	before, after versioned
	// all contains all changes; tracked contains the changes outside of reset fields.
	all, tracked Changes
	// conflicting are the tracked changes that conflict if another manager owns the field: added and modified fields,
	// and fields removed by unset markers. All other removed fields were pruned, and do not conflict.
	conflicting fieldset.Set
}

// newVersionedChanges returns a versionedChanges for the document before and the document after the operation. It only
// determines whether the two documents are equal; the changes are computed on demand.
func newVersionedChanges(e *Engine, before, after, afterUnset versioned) *versionedChanges {
	return &versionedChanges{engine: e, before: before, after: after, afterUnset: afterUnset, unchanged: document.Equal(before.doc, after.doc)}
}

// atRequestVersion returns the changes at the version of the request, which it computes on the first call. It is safe
// for concurrent use.
func (c *versionedChanges) atRequestVersion() changesAtVersion {
	c.requestedOnce.Do(func() { c.requested = c.compare(c.before, c.after, c.afterUnset) })
	return c.requested
}

// at returns the changes at a version. It returns an error if the documents can't be converted to the version. It is
// not safe for concurrent use.
func (c *versionedChanges) at(version string) (changesAtVersion, error) {
	if version == c.after.version {
		return c.atRequestVersion(), nil
	}
	if changes, ok := c.cached[version]; ok {
		return changes, nil
	}
	if err := c.errs[version]; err != nil {
		return changesAtVersion{}, err
	}
	changes, err := c.compareAt(version)
	if err != nil {
		if c.errs == nil {
			c.errs = map[string]error{}
		}
		c.errs[version] = err
		return changesAtVersion{}, err
	}
	if c.cached == nil {
		c.cached = map[string]changesAtVersion{}
	}
	c.cached[version] = changes
	return changes, nil
}

// compareAt converts the documents to a version other than the request's, and compares the converted documents.
func (c *versionedChanges) compareAt(version string) (changesAtVersion, error) {
	before, err := c.engine.convertTo(c.before, version)
	if err != nil {
		return changesAtVersion{}, err
	}
	after, err := c.engine.convertTo(c.after, version)
	if err != nil {
		return changesAtVersion{}, err
	}
	afterUnset := before
	if c.afterUnset.doc != c.before.doc {
		if afterUnset, err = c.engine.convertTo(c.afterUnset, version); err != nil {
			return changesAtVersion{}, err
		}
	}
	return c.compare(before, after, afterUnset), nil
}

// compare returns the changes between documents that are at the same version.
func (c *versionedChanges) compare(before, after, afterUnset versioned) changesAtVersion {
	changes := changesAtVersion{before: before, after: after}
	if c.unchanged {
		return changes
	}
	changes.all = c.engine.compare(before.t, before.doc, after.doc)
	changes.tracked = changes.all.without(c.engine.options.Reset[before.version])
	changes.conflicting = changes.tracked.addedOrModified()
	if afterUnset.doc != before.doc {
		unset := c.engine.compare(before.t, before.doc, afterUnset.doc).Removed
		changes.conflicting = changes.conflicting.Union(changes.tracked.Removed.Intersection(unset))
	}
	return changes
}
