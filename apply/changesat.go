package apply

import (
	"sync"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
)

// changesAt compares the object before and after an operation at every version
// that an owner's set is of, each once.
type changesAt struct {
	engine    *Engine
	was, will versioned
	// justUnset is what the object was, without the fields that markers are at.
	justUnset versioned
	// none says that there is no difference at any version.
	none bool
	seen map[string]changesThere
	// failed are the versions at which nothing can be compared, with the reason: it is not asked for twice.
	failed map[string]error
	// own are the changes at the version of the operation, found when somebody asks: Result
	// gives them to whoever does, as long as the documents are valid.
	own     changesThere
	ownOnce sync.Once
}

// changesThere are the changes at one version.
type changesThere struct {
	was, will versioned
	// all are the changes; counting are those of fields that are not reset.
	all, counting Changes
	// minded are those that an owner minds: what has a new value, and what markers
	// removed.
	minded fieldset.Set
}

func newChangesAt(e *Engine, was, will, justUnset versioned) *changesAt {
	return &changesAt{engine: e, was: was, will: will, justUnset: justUnset, none: document.Equal(was.doc, will.doc)}
}

// here returns the changes at the version of the operation.
func (c *changesAt) here() changesThere {
	c.ownOnce.Do(func() { c.own = c.compare(c.was, c.will, c.justUnset) })
	return c.own
}

// at returns the changes at a version.
func (c *changesAt) at(version string) (changesThere, error) {
	if version == c.will.version {
		return c.here(), nil
	}
	if there, ok := c.seen[version]; ok {
		return there, nil
	}
	if err := c.failed[version]; err != nil {
		return changesThere{}, err
	}
	there, err := c.convert(version)
	if err != nil {
		if c.failed == nil {
			c.failed = map[string]error{}
		}
		c.failed[version] = err
		return changesThere{}, err
	}
	if c.seen == nil {
		c.seen = map[string]changesThere{}
	}
	c.seen[version] = there
	return there, nil
}

// convert compares at another version than that of the operation.
func (c *changesAt) convert(version string) (changesThere, error) {
	was, err := c.engine.at(c.was, version)
	if err != nil {
		return changesThere{}, err
	}
	will, err := c.engine.at(c.will, version)
	if err != nil {
		return changesThere{}, err
	}
	justUnset := was
	if c.justUnset.doc != c.was.doc {
		if justUnset, err = c.engine.at(c.justUnset, version); err != nil {
			return changesThere{}, err
		}
	}
	return c.compare(was, will, justUnset), nil
}

func (c *changesAt) compare(was, will, justUnset versioned) changesThere {
	there := changesThere{was: was, will: will}
	if c.none {
		return there
	}
	there.all = c.engine.compare(was.t, was.doc, will.doc)
	there.counting = there.all.without(c.engine.options.Reset[was.version])
	there.minded = there.counting.set()
	if justUnset.doc != was.doc {
		byMarkers := c.engine.compare(was.t, was.doc, justUnset.doc).Removed
		there.minded = there.minded.Union(there.counting.Removed.Intersection(byMarkers))
	}
	return there
}
