package catalog

import (
	"strings"

	"github.com/munnerz/goautoneg"
)

// Media types that documents are offered in.
const (
	mediaJSON  = "application/json"
	mediaYAML  = "application/yaml"
	mediaProto = "application/vnd.kubernetes.protobuf"
	mediaCBOR  = "application/cbor"

	mediaOpenAPI2    = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
	mediaOpenAPI2Old = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
	mediaOpenAPI3    = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf"
	mediaOpenAPI3Old = "application/com.github.proto-openapi.spec.v3@v1.0+protobuf"
)

// choose returns the offered media type that an Accept header likes best and the parameters that it
// has there, or false. Clauses whose parameters are not allowed count for nothing.
func choose(accept string, offers []string, allowed func(parameters map[string]string) bool) (string, map[string]string, bool) {
	if accept == "" {
		accept = "*/*"
	}
	for _, clause := range goautoneg.ParseAccept(accept) {
		if !allowed(clause.Params) {
			continue
		}
		for _, offer := range offers {
			major, minor, _ := strings.Cut(offer, "/")
			if (clause.Type == major || clause.Type == "*") && (clause.SubType == minor || clause.SubType == "*") {
				return offer, clause.Params, true
			}
		}
	}
	return "", nil, false
}

// plain allows clauses that do not ask for another form of the document.
func plain(parameters map[string]string) bool {
	for _, name := range []string{"as", "g", "v", "sv"} {
		if _, ok := parameters[name]; ok {
			return false
		}
	}
	return true
}

// wantsAggregated allows clauses that ask for aggregated discovery.
func wantsAggregated(parameters map[string]string) bool {
	version := parameters["v"]
	return parameters["g"] == aggregatedGroup && parameters["as"] == aggregatedKind && (version == "v2" || version == "v2beta1")
}

func anyParameters(map[string]string) bool { return true }
