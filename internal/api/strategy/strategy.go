// Package strategy defines the interfaces through which the write path uses a kind: decoding, defaulting and
// validation at one version ([Values]), and conversion between the stored and the requested version ([Evolving]).
// [builtin.Type] implements them for built-in kinds, package crd for custom resources.
package strategy

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/api/builtin"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/schema"
)

// Values decodes, defaults and validates the objects of a kind at one version. [builtin.Type] implements it for the
// built-in kinds and documents each method.
type Values interface {
	ReadWith(doc document.Value, options builtin.ReadOptions) (read document.Value, unknown []string, err error)
	Default(doc document.Value) document.Value
	DefaultAgain(doc, done document.Value) document.Value
	Empty() document.Value
	KeepUnset(doc, before document.Value, topology *schema.Type) document.Value
	WithoutEmptied(before, after, patch document.Value) document.Value
	WithoutPruned(before, after, config document.Value, topology *schema.Type) document.Value
	OneOfs(topology *schema.Type) *builtin.OneOfs
	Validate(obj, old document.Value) field.ErrorList
	ValidateSubresource(name string, obj, live document.Value) field.ErrorList
	Warnings(obj, old document.Value) []string
	StatusWarnings(obj, live document.Value) []string
	SentWarnings(obj document.Value) []string
}

// Ratcheting is implemented by Values whose rules may be stricter than when an object was written: an invalid value
// that an update leaves unchanged yields a warning instead of an error.
type Ratcheting interface {
	Check(obj, old document.Value) (errs field.ErrorList, warnings []string)
	CheckStatus(obj, live document.Value) (errs field.ErrorList, warnings []string)
}

// Definition is implemented by the definition of a kind that is not in the built-in tables.
type Definition interface {
	api.Definition
	// Values returns the values of a version.
	Values(version string) (Values, error)
}

// Evolving is implemented by definitions that change while objects exist. A request works on an object at the
// version of the request; the object is stored at the storage version, which may be another one tomorrow.
type Evolving interface {
	// IsAt reports whether objects written at a revision are stored exactly as they are served at a version.
	IsAt(revision storage.Revision, version string) bool
	// At returns a stored object as it is served at a version: converted, pruned and defaulted.
	At(stored document.Value, version string) (document.Value, error)
	// AllAt is At for several objects, which may share one call of a conversion webhook. It returns the objects before
	// the first that failed, and the error of that one.
	AllAt(stored []document.Value, version string) ([]document.Value, error)
	// Whole returns an object at another apiVersion without pruning it.
	Whole(doc document.Value, to string) (document.Value, error)
	// Readable returns an object as it will be read again at its version, as far as that is known without calling a
	// webhook: the storage version may lack some of its fields.
	Readable(doc document.Value) document.Value
	// Stored returns an object at the storage version.
	Stored(doc document.Value) (document.Value, error)
}

// ValuesOf returns the values of a kind at an apiVersion.
func ValuesOf(k *api.Kind, apiVersion string) (Values, error) {
	group, version, hasGroup := strings.Cut(apiVersion, "/")
	if !hasGroup {
		group, version = "", apiVersion
	}
	if d, ok := k.Definition.(Definition); ok {
		return d.Values(version)
	}
	return BuiltinValues(group, version, k.Name)
}

// BuiltinValues returns the values of a built-in kind at a version; the group of the core API is "".
func BuiltinValues(group, version, kind string) (Values, error) {
	t, ok := builtin.Builtin(api.TypeName(group, version, kind))
	if !ok {
		return nil, fmt.Errorf("kind %s of group %q at version %s has no rules", kind, group, version)
	}
	return t, nil
}
