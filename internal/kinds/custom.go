package kinds

import (
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
)

// What follows from a definition at each of its versions, and is in our tables for built-in kinds.

// The fields that nobody gets to own at the endpoints of a custom kind that has a status.
var customReset = map[string]fieldset.Set{
	"":       fieldset.New(fieldset.Names("status")),
	"status": fieldset.New(fieldset.Names("metadata"), fieldset.Names("spec")),
}

// resetCustom is Reset for custom kinds.
func (k *Kind) resetCustom(endpoint string) map[string]fieldset.Set {
	at := map[string]fieldset.Set{}
	for _, version := range k.Versions {
		if set, ok := customReset[endpoint]; ok && k.HasSubresource(version, "status") {
			at[k.APIVersion(version)] = set
		}
	}
	return at
}

// wipeCustom is Wipe for custom kinds. Their main endpoint does not write the status if that has one of its
// own, which writes nothing else.
func (k *Kind) wipeCustom(endpoint, version string, obj, live document.Value) document.Value {
	switch {
	case !k.HasSubresource(version, "status"):
		return obj
	case endpoint == "status":
		return put(live, obj.Get("status"), "status")
	}
	return put(obj, live.Get("status"), "status")
}

// nextCustomGeneration counts all changes but those of metadata.
func nextCustomGeneration(endpoint string, obj, live document.Value) int64 {
	if live.IsAbsent() {
		return 1
	}
	now, _ := live.Lookup("metadata", "generation").Int64()
	if endpoint == "status" || document.Equal(obj.Without("metadata"), live.Without("metadata")) {
		return now
	}
	return now + 1
}
