package apply

import (
	"sync"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
)

// versionedChanges compares the object before and after an operation at every version
// that an owner's set is of, each once.
type versionedChanges struct {
	engine    *Engine
	before, after versioned
	// justUnset is what the object was, without the fields that markers are at.
	afterUnset versioned
	// none says that there is no difference at any version.
	unchanged bool
	cached map[string]changesAtVersion
	// failed are the versions at which nothing can be compared, with the reason: it is not asked for twice.
	errs map[string]error
	// own are the changes at the version of the operation, found when somebody asks: Result
	// gives them to whoever does, as long as the documents are valid.
	requested     changesAtVersion
	requestedOnce sync.Once
}

// changesAtVersion are the changes at one version.
type changesAtVersion struct {
	before, after versioned
	// all are the changes; counting are those of fields that are not reset.
	all, tracked Changes
	// minded are those that an owner minds: what has a new value, and what markers
	// removed.
	conflicting fieldset.Set
}

func newVersionedChanges(e *Engine, before, after, afterUnset versioned) *versionedChanges {
	return &versionedChanges{engine: e, before: before, after: after, afterUnset: afterUnset, unchanged: document.Equal(before.doc, after.doc)}
}

// atRequestVersion returns the changes at the version of the operation.
func (c *versionedChanges) atRequestVersion() changesAtVersion {
	c.requestedOnce.Do(func() { c.requested = c.compare(c.before, c.after, c.afterUnset) })
	return c.requested
}

// at returns the changes at a version.
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

// compareAt compares at another version than that of the operation.
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

func (c *versionedChanges) compare(before, after, afterUnset versioned) changesAtVersion {
	changes := changesAtVersion{before: before, after: after}
	if c.unchanged {
		return changes
	}
	changes.all = c.engine.compare(before.t, before.doc, after.doc)
	changes.tracked = changes.all.without(c.engine.options.Reset[before.version])
	changes.conflicting = changes.tracked.set()
	if afterUnset.doc != before.doc {
		unset := c.engine.compare(before.t, before.doc, afterUnset.doc).Removed
		changes.conflicting = changes.conflicting.Union(changes.tracked.Removed.Intersection(unset))
	}
	return changes
}
