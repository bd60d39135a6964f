package apply

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/schema"
)

// Versions knows the versions of a kind.
type Versions interface {
	// Type returns the topology of the kind at a version; ok is false if the kind
	// does not have that version, or not any more.
	Type(version string) (t *schema.Type, ok bool)
	// Convert returns a document at another version. It is only called with
	// versions that have a Type, and never with twice the same. An error that
	// wraps ErrVersionGone says that one of them can't be converted to any more, one
	// that wraps ErrUnavailable that this can't be done now.
	Convert(doc document.Value, from, to string) (document.Value, error)
}

// ErrVersionGone says that a kind does not have a version, or not any more.
var ErrVersionGone = errors.New("the kind does not have this version")

// ErrUnavailable says that documents can't be converted now, and that this may be otherwise later. An update leaves the
// entries as they are that it would need the conversion for; an apply, which could not see conflicts, fails.
var ErrUnavailable = errors.New("the conversion is not available")

// OneVersion is the Versions of a kind that has only one.
func OneVersion(version string, t *schema.Type) Versions { return oneVersion{version, t} }

type oneVersion struct {
	version string
	t       *schema.Type
}

func (o oneVersion) Type(version string) (*schema.Type, bool) { return o.t, version == o.version }

func (o oneVersion) Convert(_ document.Value, from, to string) (document.Value, error) {
	return document.Value{}, fmt.Errorf("convert from %s to %s: %w", from, to, ErrVersionGone)
}

// versioned is a document at a version, with its topology there.
type versioned struct {
	doc     document.Value
	t       *schema.Type
	version string
}

// at returns a document at another version.
func (e *Engine) at(v versioned, version string) (versioned, error) {
	if v.version == version {
		return v, nil
	}
	t, ok := e.options.Versions.Type(version)
	if !ok {
		return v, fmt.Errorf("%q: %w", version, ErrVersionGone)
	}
	doc, err := e.options.Versions.Convert(v.doc, v.version, version)
	if err != nil {
		return v, fmt.Errorf("convert from %s to %s: %w", v.version, version, err)
	}
	if t == nil || t.Map == nil || doc.Kind() != document.Map {
		return v, fmt.Errorf("convert from %s to %s: expected an object, and a topology that takes a map, received %s", v.version, version, describe(doc))
	}
	return versioned{doc, t, version}, nil
}

func isGone(err error) bool { return errors.Is(err, ErrVersionGone) }

func sortedVersions(sets map[string][]fieldset.Set) []string {
	return slices.Sorted(maps.Keys(sets))
}
