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

// Versions returns the schemas of a kind's versions and converts documents between them. Implementations must be safe
// for concurrent use.
type Versions interface {
	// Type returns the schema of a version; ok is false if the kind does not have the version.
	Type(version string) (t *schema.Type, ok bool)
	// Convert converts a document between two different versions. It returns an error that wraps [ErrVersionGone] if
	// one of the versions no longer exists, and an error that wraps [ErrConversionUnavailable] if the conversion failed
	// but may succeed later.
	Convert(doc document.Value, from, to string) (document.Value, error)
}

// ErrVersionGone reports that the kind does not have a version, or no longer has it.
var ErrVersionGone = errors.New("the kind does not have this version")

// ErrConversionUnavailable reports that a conversion failed but may succeed later. Update then leaves the managed
// fields entries of that version unchanged; Apply returns the error, because it can't detect conflicts with these
// entries.
var ErrConversionUnavailable = errors.New("the conversion is not available")

// OneVersion returns the Versions of a kind with a single version.
func OneVersion(version string, t *schema.Type) Versions { return oneVersion{version, t} }

type oneVersion struct {
	version string
	t       *schema.Type
}

func (o oneVersion) Type(version string) (*schema.Type, bool) { return o.t, version == o.version }

func (o oneVersion) Convert(_ document.Value, from, to string) (document.Value, error) {
	return document.Value{}, fmt.Errorf("convert from %s to %s: %w", from, to, ErrVersionGone)
}

// versioned is a document with its version and the topology of that version.
type versioned struct {
	doc     document.Value
	t       *schema.Type
	version string
}

// convertTo converts the document in v to the given version. It returns an error that wraps ErrVersionGone if the
// kind does not have that version, and another error if the converted document is not an object.
func (e *Engine) convertTo(v versioned, version string) (versioned, error) {
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
		return v, fmt.Errorf("convert from %s to %s: expected an object and a topology for maps, received %s", v.version, version, describe(doc))
	}
	return versioned{doc, t, version}, nil
}

// isVersionGone reports whether an error wraps ErrVersionGone.
func isVersionGone(err error) bool { return errors.Is(err, ErrVersionGone) }

func sortedVersions(sets map[string][]fieldset.Set) []string {
	return slices.Sorted(maps.Keys(sets))
}
