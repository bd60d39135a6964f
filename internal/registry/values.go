package registry

import (
	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/api/strategy"
)

// The interfaces of a kind, under the names that this package uses.
type (
	Values     = strategy.Values
	Ratcheting = strategy.Ratcheting
	Evolving   = strategy.StorageConverter
)

func valuesOf(k *api.Kind, apiVersion string) (Values, error) {
	return strategy.ValuesOf(k, apiVersion)
}

func builtinValues(group, version, kind string) (Values, error) {
	return strategy.BuiltinValues(group, version, kind)
}
