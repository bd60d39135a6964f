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

// Versions has the versions of a kind. Implementations must be safe for concurrent use.
type Versions interface {
	// Type returns the schema of a version; ok is false if the kind does not have the version.
	Type(version string) (t *schema.Type, ok bool)
	// Convert converts a document between two different versions that have a Type. An error that wraps
	// [ErrVersionGone] reports that one of them no longer exists, one that wraps [ErrConversionUnavailable] that the
	// conversion may succeed later.
	Convert(doc document.Value, from, to string) (document.Value, error)
}

// ErrVersionGone reports that the kind does not have a version, or no longer has it.
var ErrVersionGone = errors.New("the kind does not have this version")

// ErrConversionUnavailable reports that a conversion failed but may succeed later. Update then keeps the entries of
// that version unchanged; Apply, which could miss conflicts, fails.
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

// versioned is a document at a version, with its topology there.
type versioned struct {
	doc     document.Value
	t       *schema.Type
	version string
}

// convertTo returns a document at another version.
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
		return v, fmt.Errorf("convert from %s to %s: expected an object, and a topology that takes a map, received %s", v.version, version, describe(doc))
	}
	return versioned{doc, t, version}, nil
}

func isVersionGone(err error) bool { return errors.Is(err, ErrVersionGone) }

func sortedVersions(sets map[string][]fieldset.Set) []string {
	return slices.Sorted(maps.Keys(sets))
}
