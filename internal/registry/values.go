package registry

import (
	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/api/strategy"
)

// The names of this package for the interfaces through which a kind decodes, defaults and validates its objects (Values),
// validates custom resources with ratcheting (Ratcheting), and converts them to and from the storage version (Evolving).
type (
	Values     = strategy.Values
	Ratcheting = strategy.Ratcheting
	Evolving   = strategy.StorageConverter
)

// valuesOf returns the Values of a kind at an apiVersion.
func valuesOf(k *api.Kind, apiVersion string) (Values, error) {
	return strategy.ValuesOf(k, apiVersion)
}

// builtinValues returns the Values of a built-in kind, such as that of a subresource body.
func builtinValues(group, version, kind string) (Values, error) {
	return strategy.BuiltinValues(group, version, kind)
}
