package apply

import (
	"sync"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
)

// versionedChanges compares the documents before and after an operation, at each version that a managed fields entry
// has. It compares them at most once per version.
type versionedChanges struct {
	engine        *Engine
	before, after versioned
	// afterUnset is the object before the operation, without the fields at which the configuration has unset markers.
	afterUnset versioned
	// unchanged reports that the documents are equal, so there are no changes at any version.
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

// newVersionedChanges returns a versionedChanges for the documents before and after an operation; see
// versionedChanges.afterUnset for the third document. It only determines whether before and after are equal; it
// computes the changes on demand.
func newVersionedChanges(e *Engine, before, after, afterUnset versioned) *versionedChanges {
	return &versionedChanges{engine: e, before: before, after: after, afterUnset: afterUnset, unchanged: document.Equal(before.doc, after.doc)}
}

// changesAtRequestVersion returns the changes at the version of the request. It computes them on the first call. It is
// safe for concurrent use.
func (c *versionedChanges) changesAtRequestVersion() changesAtVersion {
	c.requestedOnce.Do(func() { c.requested = c.compare(c.before, c.after, c.afterUnset) })
	return c.requested
}

// changesAt returns the changes at the given version. It returns an error if the documents can't be converted to that
// version. It is not safe for concurrent use.
func (c *versionedChanges) changesAt(version string) (changesAtVersion, error) {
	if version == c.after.version {
		return c.changesAtRequestVersion(), nil
	}
	if changes, ok := c.cached[version]; ok {
		return changes, nil
	}
	if err := c.errs[version]; err != nil {
		return changesAtVersion{}, err
	}
	changes, err := c.compareAtVersion(version)
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

// compareAtVersion converts the documents to version, which must differ from the version of the request, and compares
// the converted documents.
func (c *versionedChanges) compareAtVersion(version string) (changesAtVersion, error) {
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

// compare returns the changes from before to after. The three documents must be at one version.
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
