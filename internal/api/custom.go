package api

import (
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
)

// customResetFields maps an endpoint ("" for the main endpoint) to its reset fields, for custom resources with the status
// subresource. The reset fields of built-in kinds are in kind files.
var customResetFields = map[string]fieldset.Set{
	"":                fieldset.New(fieldset.Names("status")),
	StatusSubresource: fieldset.New(fieldset.Names("metadata"), fieldset.Names("spec")),
}

// customResetFieldSets implements ResetFieldSets for custom resources: it maps each apiVersion that has the status
// subresource to the reset fields of an endpoint.
func (k *Kind) customResetFieldSets(endpoint string) map[string]fieldset.Set {
	at := map[string]fieldset.Set{}
	for _, version := range k.Versions {
		if set, ok := customResetFields[endpoint]; ok && k.HasSubresource(version, StatusSubresource) {
			at[k.APIVersion(version)] = set
		}
	}
	return at
}

// restoreCustomResetFields implements restoreResetFields for custom resources. With the status subresource, the main endpoint
// ignores the field status, and the status endpoint ignores all fields except status.
func (k *Kind) restoreCustomResetFields(endpoint, version string, obj, live document.Value) document.Value {
	switch {
	case !k.HasSubresource(version, StatusSubresource):
		return obj
	case endpoint == StatusSubresource:
		return put(live, obj.Get("status"), "status")
	}
	return put(obj, live.Get("status"), "status")
}

// nextCustomGeneration returns the generation of obj, a custom resource that is written at endpoint: 1 on create; the
// generation of live plus 1 if the main endpoint changes a field outside metadata; the generation of live for all other
// updates.
func nextCustomGeneration(endpoint string, obj, live document.Value) int64 {
	if live.IsAbsent() {
		return 1
	}
	generation, _ := live.Lookup("metadata", "generation").Int64()
	if endpoint == StatusSubresource || document.Equal(obj.Without("metadata"), live.Without("metadata")) {
		return generation
	}
	return generation + 1
}
