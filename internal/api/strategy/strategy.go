// Package strategy defines the interfaces between the write path and a kind: decoding, defaulting and validation at one
// version ([Values]), and conversion between the storage version and the requested version ([StorageConverter]).
// [builtin.Type] implements Values for built-in kinds; package crd implements both for custom resources.
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

// Values decodes, defaults and validates the objects of a kind at one version. [builtin.Type], which implements Values for
// built-in kinds, documents the methods.
type Values interface {
	DecodeWith(doc document.Value, options builtin.DecodeOptions) (read document.Value, unknown []string, err error)
	Default(doc document.Value) document.Value
	DefaultChanged(doc, defaulted document.Value) document.Value
	Empty() document.Value
	RetainZeroValues(doc, live document.Value, topology *schema.Type) document.Value
	DropEmptied(live, patched, patch document.Value) document.Value
	DropPruned(live, merged, config document.Value, topology *schema.Type) document.Value
	OneOfs(topology *schema.Type) *builtin.OneOfs
	Validate(obj, old document.Value) field.ErrorList
	ValidateSubresource(name string, obj, live document.Value) field.ErrorList
	Warnings(obj, old document.Value) []string
	StatusWarnings(obj, live document.Value) []string
	RequestWarnings(obj document.Value) []string
}

// Ratcheting is implemented by Values with ratcheting validation: an invalid value that an update does not change causes a
// warning instead of an error.
type Ratcheting interface {
	Check(obj, old document.Value) (errs field.ErrorList, warnings []string)
	CheckStatus(obj, live document.Value) (errs field.ErrorList, warnings []string)
}

// Definition is an [api.Definition] that also decodes, defaults and validates objects.
type Definition interface {
	api.Definition
	// Values returns the implementation of Values for the given version.
	Values(version string) (Values, error)
}

// StorageConverter is implemented by definitions whose schema or storage version can change while objects exist.
// Requests are processed at their own version; objects are stored at the storage version.
type StorageConverter interface {
	// IsServedAsStored reports whether an object that was written at revision can be served at version without conversion,
	// pruning or defaulting.
	IsServedAsStored(revision storage.Revision, version string) bool
	// FromStorage returns a stored object as it is served at version: converted, pruned and defaulted.
	FromStorage(stored document.Value, version string) (document.Value, error)
	// FromStorageAll is FromStorage for several objects, which may share one call to a conversion webhook. If an object cannot
	// be converted, FromStorageAll returns the error and the results for the objects before that object.
	FromStorageAll(stored []document.Value, version string) ([]document.Value, error)
	// ConvertUnpruned returns doc converted to the apiVersion to, without pruning unknown fields.
	ConvertUnpruned(doc document.Value, to string) (document.Value, error)
	// RoundTripped converts doc to the storage version and back: the result lacks fields that the storage version does not
	// define. If conversion requires a webhook, RoundTripped returns doc unchanged.
	RoundTripped(doc document.Value) document.Value
	// ToStorage returns doc converted to the storage version. It may call a conversion webhook.
	ToStorage(doc document.Value) (document.Value, error)
}

// ValuesOf returns the implementation of Values for k at apiVersion.
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

// BuiltinValues returns the implementation of Values for the built-in kind with the given group, version and kind name; the
// core group is "". It returns an error if there is no such kind or version.
func BuiltinValues(group, version, kind string) (Values, error) {
	t, ok := builtin.Builtin(api.TypeName(group, version, kind))
	if !ok {
		return nil, fmt.Errorf("kind %s of group %q at version %s: no schema", kind, group, version)
	}
	return t, nil
}
