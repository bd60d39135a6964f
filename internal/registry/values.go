package registry

import (
	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/api/strategy"
)

// Aliases for the interfaces of a kind: Values decodes, defaults and validates its objects, Ratcheting validates custom resources
// with ratcheting, and Evolving converts custom resources to and from the storage version.
type (
	Values     = strategy.Values
	Ratcheting = strategy.Ratcheting
	Evolving   = strategy.StorageConverter
)

// valuesOf returns the Values of a kind at an apiVersion.
func valuesOf(k *api.Kind, apiVersion string) (Values, error) {
	return strategy.ValuesOf(k, apiVersion)
}

// builtinValues returns the Values of a built-in kind, for instance of Scale, the kind of a subresource body.
func builtinValues(group, version, kind string) (Values, error) {
	return strategy.BuiltinValues(group, version, kind)
}
