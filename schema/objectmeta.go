package schema

import (
	"sync"

	"github.com/cadastre/cadastre/document"
)

const objectMetaName = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"

// objectMetaDefinitions is what every custom resource has as metadata. Structural
// schemas can not refer to it, and may not repeat it.
const objectMetaDefinitions = `{
  "` + objectMetaName + `": {
    "type": "object",
    "properties": {
      "annotations": {"type": "object", "additionalProperties": {"type": "string", "default": ""}},
      "creationTimestamp": {"$ref": "#/definitions/Time"},
      "deletionGracePeriodSeconds": {"type": "integer", "format": "int64"},
      "deletionTimestamp": {"$ref": "#/definitions/Time"},
      "finalizers": {
        "type": "array",
        "items": {"type": "string", "default": ""},
        "x-kubernetes-list-type": "set"
      },
      "generateName": {"type": "string"},
      "generation": {"type": "integer", "format": "int64"},
      "labels": {"type": "object", "additionalProperties": {"type": "string", "default": ""}},
      "managedFields": {
        "type": "array",
        "items": {"$ref": "#/definitions/ManagedFieldsEntry"},
        "x-kubernetes-list-type": "atomic"
      },
      "name": {"type": "string"},
      "namespace": {"type": "string"},
      "ownerReferences": {
        "type": "array",
        "items": {"$ref": "#/definitions/OwnerReference"},
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["uid"]
      },
      "resourceVersion": {"type": "string"},
      "selfLink": {"type": "string"},
      "uid": {"type": "string"}
    }
  },
  "OwnerReference": {
    "type": "object",
    "x-kubernetes-map-type": "atomic",
    "properties": {
      "apiVersion": {"type": "string", "default": ""},
      "blockOwnerDeletion": {"type": "boolean"},
      "controller": {"type": "boolean"},
      "kind": {"type": "string", "default": ""},
      "name": {"type": "string", "default": ""},
      "uid": {"type": "string", "default": ""}
    }
  },
  "ManagedFieldsEntry": {
    "type": "object",
    "properties": {
      "apiVersion": {"type": "string"},
      "fieldsType": {"type": "string"},
      "fieldsV1": {"type": "object"},
      "manager": {"type": "string"},
      "operation": {"type": "string"},
      "subresource": {"type": "string"},
      "time": {"$ref": "#/definitions/Time"}
    }
  },
  "Time": {"type": "string", "format": "date-time"}
}`

var parseObjectMeta = sync.OnceValue(func() document.Value {
	definitions, err := document.ParseJSON([]byte(objectMetaDefinitions))
	if err != nil {
		panic("schema: the definitions of metadata are not JSON: " + err.Error())
	}
	return definitions
})

// linkObjectMeta makes the one Type of metadata that all custom kinds share, unless
// they preserve unknown fields everywhere.
var linkObjectMeta = sync.OnceValue(func() *Type {
	r := newReader()
	r.declareAll(parseObjectMeta(), nil)
	metadata := r.link(nil).types[objectMetaName]
	if err := r.err(); err != nil {
		panic("schema: the definitions of metadata are wrong: " + err.Error())
	}
	return metadata
})

// declareObjectMeta makes the type of metadata known to a reader. Where a whole CRD
// preserves unknown fields, metadata does so too.
func (r *reader) declareObjectMeta() {
	if r.preserve {
		r.declareAll(parseObjectMeta(), nil)
		return
	}
	r.definitions[objectMetaName] = &draft{name: objectMetaName, linked: linkObjectMeta()}
}
