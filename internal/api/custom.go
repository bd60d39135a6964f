package api

import (
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
)

// customResetFields are the reset fields of custom resources with the status subresource, by endpoint. Kind files list the
// reset fields of built-in kinds.
var customResetFields = map[string]fieldset.Set{
	"":                fieldset.New(fieldset.Names("status")),
	StatusSubresource: fieldset.New(fieldset.Names("metadata"), fieldset.Names("spec")),
}

// customResetFieldSets implements ResetFieldSets for custom resources.
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
// ignores the status, and the status endpoint ignores all other fields.
func (k *Kind) restoreCustomResetFields(endpoint, version string, obj, live document.Value) document.Value {
	switch {
	case !k.HasSubresource(version, StatusSubresource):
		return obj
	case endpoint == StatusSubresource:
		return put(live, obj.Get("status"), "status")
	}
	return put(obj, live.Get("status"), "status")
}

// nextCustomGeneration increments the generation on every change outside metadata.
func nextCustomGeneration(endpoint string, obj, live document.Value) int64 {
	if live.IsAbsent() {
		return 1
	}
	now, _ := live.Lookup("metadata", "generation").Int64()
	if endpoint == StatusSubresource || document.Equal(obj.Without("metadata"), live.Without("metadata")) {
		return now
	}
	return now + 1
}
