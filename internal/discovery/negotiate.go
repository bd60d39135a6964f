package discovery

import (
	"strings"

	"github.com/munnerz/goautoneg"
)

// Media types of OpenAPI documents; constants with Old in their names are former media types, which clients may still
// request. Discovery documents have the media types of package encoding.
const (
	mediaJSON = "application/json"

	mediaOpenAPI2    = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
	mediaOpenAPI2Old = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
	mediaOpenAPI3    = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf"
	mediaOpenAPI3Old = "application/com.github.proto-openapi.spec.v3@v1.0+protobuf"
)

// choose returns the media type in offers that accept, an Accept header, prefers, and the parameters of the clause of accept
// that matches it. ok is false if no clause matches. choose ignores clauses whose parameters are not allowed.
func choose(accept string, offers []string, allowed func(parameters map[string]string) bool) (mediaType string, parameters map[string]string, ok bool) {
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

// hasNoShape reports whether parameters, those of an Accept clause, request the document in its usual representation, as
// opposed to, for example, aggregated discovery.
func hasNoShape(parameters map[string]string) bool {
	for _, name := range []string{"as", "g", "v", "sv"} {
		if _, ok := parameters[name]; ok {
			return false
		}
	}
	return true
}

// selectsAggregated reports whether the parameters of an Accept clause request aggregated discovery at v2 or v2beta1.
func selectsAggregated(parameters map[string]string) bool {
	version := parameters["v"]
	return parameters["g"] == aggregatedGroup && parameters["as"] == aggregatedKind && (version == "v2" || version == "v2beta1")
}

func acceptsAnyParameters(map[string]string) bool { return true }
