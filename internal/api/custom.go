package api

import (
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
)

// customEndpoint describes an endpoint of custom resources with the status subresource. Kind files describe the endpoints of
// built-in kinds.
type customEndpoint struct {
	// unowned are the fields that no field manager can own through this endpoint.
	unowned fieldset.Set
	// restore returns obj with the values of live in the fields that the endpoint ignores.
	restore func(obj, live document.Value) document.Value
}

// customEndpoints lists the endpoints with reset fields; "" is the main endpoint.
var customEndpoints = map[string]customEndpoint{
	"": {
		fieldset.New(fieldset.Names("status")),
		func(obj, live document.Value) document.Value { return put(obj, live.Get("status"), "status") },
	},
	StatusSubresource: {
		fieldset.New(fieldset.Names("metadata"), fieldset.Names("spec")),
		func(obj, live document.Value) document.Value { return put(live, obj.Get("status"), "status") },
	},
}

// customResetFieldSets implements ResetFieldSets for custom resources: it maps each apiVersion that has the status
// subresource to the reset fields of an endpoint.
func (k *Kind) customResetFieldSets(endpoint string) map[string]fieldset.Set {
	at := map[string]fieldset.Set{}
	for _, version := range k.Versions {
		if e, ok := customEndpoints[endpoint]; ok && k.HasSubresource(version, StatusSubresource) {
			at[k.APIVersion(version)] = e.unowned
		}
	}
	return at
}

// restoreCustomResetFields implements restoreResetFields for custom resources. Without the status subresource, they have no
// reset fields.
func (k *Kind) restoreCustomResetFields(endpoint, version string, obj, live document.Value) document.Value {
	if e, ok := customEndpoints[endpoint]; ok && k.HasSubresource(version, StatusSubresource) {
		return e.restore(obj, live)
	}
	return obj
}

// nextCustomGeneration returns the generation of obj, a custom resource: 1 on create; the generation of live plus 1 if a field
// outside metadata changes, or, with the status subresource, a field outside metadata and status; the generation of live for
// all other updates.
func (k *Kind) nextCustomGeneration(version string, obj, live document.Value) int64 {
	if live.IsAbsent() {
		return 1
	}
	generation, _ := live.Lookup("metadata", "generation").Int64()
	obj, live = obj.Without("metadata"), live.Without("metadata")
	if k.HasSubresource(version, StatusSubresource) {
		obj, live = obj.Without("status"), live.Without("status")
	}
	if document.Equal(obj, live) {
		return generation
	}
	return generation + 1
}
