package custom

import (
	"crypto/sha256"
	"encoding/json"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	openapiv2 "k8s.io/apiextensions-apiserver/pkg/controller/openapi/v2"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// SchemaHash is a hash of all that [definition.OpenAPI] makes its schema of.
func (d *definition) SchemaHash(version string) [sha256.Size]byte {
	v := d.at(version)
	if v == nil {
		return [sha256.Size]byte{}
	}
	return v.hash()
}

// OpenAPI returns the schema of a version as OpenAPI of version 2 or 3 tells it, without what all objects have. It
// is nil if nothing is to be told about fields: clients take what is not there for forbidden.
func (d *definition) OpenAPI(version string, isForm2 bool) (*spec.Schema, error) {
	v := d.at(version)
	if v == nil {
		return nil, nil
	}
	doc, err := openSchema(v.schema)
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
		return nil, nil // only definitions that preserve unknown fields may have such schemas
	}
	s = s.Unfold() // that a field may be a number or a text is said in words that all know
	if isForm2 {
		if d.preserve || s.XPreserveUnknownFields {
			return nil, nil
		}
		s = openapiv2.ToStructuralOpenAPIV2(s)
		withoutDefaults.Visit(s)
	}
	return s.ToKubeOpenAPI(), nil
}

// withoutDefaults removes defaults, which Kubernetes tells in version 3 only.
var withoutDefaults = structuralschema.Visitor{Structural: func(s *structuralschema.Structural) (changed bool) {
	changed, s.Default = s.Default.Object != nil, structuralschema.JSON{}
	return changed
}}
