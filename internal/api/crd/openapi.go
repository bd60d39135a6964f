package crd

import (
	"crypto/sha256"
	"encoding/json"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	openapiv2 "k8s.io/apiextensions-apiserver/pkg/controller/openapi/v2"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// SchemaHash returns a hash of the schema of the given version and of spec.preserveUnknownFields, which determine the result of
// [Resource.OpenAPI]. It returns zero if there is no such version.
func (r *Resource) SchemaHash(version string) [sha256.Size]byte {
	v := r.at(version)
	if v == nil {
		return [sha256.Size]byte{}
	}
	return v.hash()
}

// OpenAPI returns the schema of the given version for publication in OpenAPI v2 (if isV2 is set) or v3, without apiVersion,
// kind and metadata. It returns nil if the schema must not be published, because clients would reject fields that it does not
// define.
func (r *Resource) OpenAPI(version string, isV2 bool) (*spec.Schema, error) {
	v := r.at(version)
	if v == nil {
		return nil, nil
	}
	doc, err := openSchema(v.Schema)
	if err != nil || doc.IsAbsent() {
		return nil, err
	}
	var props apiextensionsv1.JSONSchemaProps
	if err := json.Unmarshal([]byte(doc.JSON()), &props); err != nil {
		return nil, err
	}
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&props, &internal, nil); err != nil {
		return nil, err
	}
	s, err := structuralschema.NewStructural(&internal)
	if err != nil {
		return nil, nil // the schema is not structural, which only spec.preserveUnknownFields=true allows
	}
	s = s.Unfold() // Unfold represents x-kubernetes-int-or-string as anyOf.
	if isV2 {
		if r.PreserveUnknownFields || s.XPreserveUnknownFields {
			return nil, nil
		}
		s = openapiv2.ToStructuralOpenAPIV2(s)
		defaultRemover.Visit(s)
	}
	return s.ToKubeOpenAPI(), nil
}

// defaultRemover removes defaults from a schema. Kubernetes publishes defaults only in OpenAPI v3.
var defaultRemover = structuralschema.Visitor{Structural: func(s *structuralschema.Structural) (changed bool) {
	changed, s.Default = s.Default.Object != nil, structuralschema.JSON{}
	return changed
}}
