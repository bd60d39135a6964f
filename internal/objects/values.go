package objects

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/kinds"
	"github.com/cadastre/cadastre/internal/rules"
	"github.com/cadastre/cadastre/internal/store"
	"github.com/cadastre/cadastre/schema"
)

// Values is what is known about the values of a kind at one version, beyond how they merge. [rules.Type] has
// it for the built-in kinds, and says what each method does.
type Values interface {
	ReadWith(doc document.Value, options rules.ReadOptions) (read document.Value, unknown []string, err error)
	Default(doc document.Value) document.Value
	DefaultAgain(doc, done document.Value) document.Value
	Empty() document.Value
	KeepUnset(doc, before document.Value, topology *schema.Type) document.Value
	WithoutEmptied(before, after, patch document.Value) document.Value
	WithoutPruned(before, after, config document.Value, topology *schema.Type) document.Value
	OneOfs(topology *schema.Type) *rules.OneOfs
	Validate(obj, old document.Value) field.ErrorList
	ValidateStatus(obj, live document.Value) field.ErrorList
	Warnings(obj, old document.Value) []string
	StatusWarnings(obj, live document.Value) []string
	SentWarnings(obj document.Value) []string
}

// Ratcheting is for values of which rules may ask more than they did when an object was written: it may go on
// as it is, and clients are told.
type Ratcheting interface {
	Check(obj, old document.Value) (errs field.ErrorList, warnings []string)
	CheckStatus(obj, live document.Value) (errs field.ErrorList, warnings []string)
}

// Definition is what a kind brings with it that is not in our tables.
type Definition interface {
	kinds.Definition
	// Values returns what is known about the values at a version.
	Values(version string) (Values, error)
}

// Evolving is a definition that changes while there are objects. Requests work on objects at their own
// version, and they are stored at one that may be another tomorrow.
type Evolving interface {
	// IsAt reports whether objects that were written at a revision are stored just as they are shown at a
	// version.
	IsAt(revision store.Revision, version string) bool
	// At returns an object that is stored as it is shown at a version: converted, without what the schema
	// does not have, with its defaults.
	At(stored document.Value, version string) (document.Value, error)
	// AllAt is At for many, for which somebody else may have to be asked only once: it returns those before the first
	// that can't be shown, and why that can't.
	AllAt(stored []document.Value, version string) ([]document.Value, error)
	// Whole returns an object at another apiVersion, with all that it has: nothing is dropped that the schema does not
	// have there.
	Whole(doc document.Value, to string) (document.Value, error)
	// Readable returns an object as it will be read again at its version, as far as that is known without
	// asking anybody: the version that is stored may not have all of it.
	Readable(doc document.Value) document.Value
	// Stored returns an object as it is stored.
	Stored(doc document.Value) (document.Value, error)
}

// valuesOf returns what is known about the values of a kind at an apiVersion.
func valuesOf(k *kinds.Kind, apiVersion string) (Values, error) {
	group, version, hasGroup := strings.Cut(apiVersion, "/")
	if !hasGroup {
		group, version = "", apiVersion
	}
	if d, ok := k.Definition.(Definition); ok {
		return d.Values(version)
	}
	return builtinValues(group, version, k.Name)
}

func builtinValues(group, version, kind string) (Values, error) {
	t, ok := rules.Builtin(kinds.TypeName(group, version, kind))
	if !ok {
		return nil, fmt.Errorf("kind %s of group %q at version %s has no rules", kind, group, version)
	}
	return t, nil
}
