package crdtest

import "fmt"

// List types and map types for the schemas of [ListAndMap] and [TwoMaps].
const (
	ListByName = `"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],`
	ListByID   = `"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["id"],`
	AtomicList = `"x-kubernetes-list-type":"atomic",`
	AtomicMap  = `"x-kubernetes-map-type":"atomic",`
	Granular   = ""
)

// AnySchema is the YAML member schema of a CRD version: an object that preserves unknown fields.
const AnySchema = `schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}`

// TwoSizes are the CRD versions v1, the storage version, and v2. Their only field is called size in v1 and sizes in v2; the fake
// conversion webhooks of this package rename the field.
const TwoSizes = `{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {size: {type: integer}}}}},
  {name: v2, served: true, storage: false, schema: {openAPIV3Schema: {type: object, properties: {sizes: {type: integer, maximum: 9}}}}}`

// ListAndMap returns the CRD version v1 with a list, whose items have a name and an id, and a map of integers.
func ListAndMap(listType, mapType string) string {
	return fmt.Sprintf(`{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{
  "list":{"type":"array",%s"items":{"type":"object","required":["name","id"],"properties":{"name":{"type":"string"},"id":{"type":"string"},"num":{"type":"integer"}}}},
  "map":{"type":"object",%s"additionalProperties":{"type":"integer"}}}}}}`, listType, mapType)
}

// TwoMaps returns the CRD versions v1, the storage version, and v2. Each has a map of integers at the top level and in the
// status, and the field size or sizes of [TwoSizes].
func TwoMaps(mapType string) string {
	return fmt.Sprintf(`{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},"schema":{"openAPIV3Schema":{"type":"object","properties":{"size":{"type":"integer"},
    "map":{"type":"object",%[1]s"additionalProperties":{"type":"integer"}},"status":{"type":"object","properties":{"map":{"type":"object",%[1]s"additionalProperties":{"type":"integer"}}}}}}}},
  {"name":"v2","served":true,"storage":false,"subresources":{"status":{}},"schema":{"openAPIV3Schema":{"type":"object","properties":{"sizes":{"type":"integer"},
    "map":{"type":"object",%[1]s"additionalProperties":{"type":"integer"}},"status":{"type":"object","properties":{"map":{"type":"object",%[1]s"additionalProperties":{"type":"integer"}}}}}}}}`, mapType)
}
