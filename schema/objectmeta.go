package schema

import (
	"sync"

	"github.com/cadastre/cadastre/document"
)

const objectMetaName = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"

// objectMetaDefinitions are the OpenAPI definitions of metadata that LoadCRD uses for every custom resource. They are
// built in because a structural schema can't refer to them and may not repeat them.
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
		panic("schema: parsing the definitions of metadata: " + err.Error())
	}
	return definitions
})

// linkObjectMeta returns the Type of metadata. All custom kinds share it, except those of CRDs with
// preserveUnknownFields.
var linkObjectMeta = sync.OnceValue(func() *Type {
	r := newReader()
	r.declareAll(parseObjectMeta(), nil)
	metadata := r.link(nil).types[objectMetaName]
	if err := r.err(); err != nil {
		panic("schema: loading the definitions of metadata: " + err.Error())
	}
	return metadata
})

// declareObjectMeta adds the type of metadata to the reader's definitions. In a CRD with preserveUnknownFields,
// metadata accepts unknown fields, too.
func (r *reader) declareObjectMeta() {
	if r.preserve {
		r.declareAll(parseObjectMeta(), nil)
		return
	}
	r.definitions[objectMetaName] = &unlinkedType{name: objectMetaName, linked: linkObjectMeta()}
}
