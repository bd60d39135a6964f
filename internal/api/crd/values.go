package crd

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api/builtin"
	"github.com/cadastre/cadastre/internal/api/crd/structural"
	"github.com/cadastre/cadastre/schema"
)

// values implements strategy.Values for custom resources. kube-apiserver decodes only metadata of custom resources into a Go
// struct, so encoding drops empty fields only in metadata.
type values struct{ *structural.Type }

// DecodeWith decodes a document as Decode does. The options are ignored: 1.0 is never an integer in a custom resource.
func (v values) DecodeWith(doc document.Value, _ builtin.DecodeOptions) (document.Value, []string, error) {
	return v.Decode(doc)
}

// DefaultChanged sets the defaults of the whole document, regardless of the parts that have changed.
func (v values) DefaultChanged(doc, _ document.Value) document.Value { return v.Default(doc) }

// Empty returns an empty object.
func (v values) Empty() document.Value { return document.NewMap() }

// RetainZeroValues returns doc unchanged, because clients do not decode custom resources into Go structs with omitempty.
func (v values) RetainZeroValues(doc, _ document.Value, _ *schema.Type) document.Value { return doc }

// DropEmptied returns the patched object without the fields of metadata that a patch has emptied. Other empty fields are
// retained.
func (v values) DropEmptied(live, patched, patch document.Value) document.Value {
	return replaceMetadata(patched, v.Metadata().DropEmptied(live.Get(metadata), patched.Get(metadata), patch.Get(metadata)))
}

// DropPruned returns the merged object without the fields of metadata that an apply has emptied. Other empty fields are
// retained.
func (v values) DropPruned(live, merged, config document.Value, topology *schema.Type) document.Value {
	var of *schema.Type
	if topology.Map != nil {
		of, _ = topology.Map.TypeOf(metadata)
	}
	return replaceMetadata(merged, v.Metadata().DropPruned(live.Get(metadata), merged.Get(metadata), config.Get(metadata), of))
}

const metadata = "metadata"

// replaceMetadata returns a document with the given metadata; the same document if the metadata is unchanged.
func replaceMetadata(doc, value document.Value) document.Value {
	if document.Same(value, doc.Get(metadata)) {
		return doc
	}
	return doc.With(metadata, value)
}

// OneOfs returns an empty set, because schemas of CustomResourceDefinitions do not declare unions.
func (v values) OneOfs(*schema.Type) *builtin.OneOfs { return &builtin.OneOfs{} }

// ValidateSubresource returns the errors of an update of the status. A write of the scale subresource is validated as a write
// of the whole object, by Validate.
func (v values) ValidateSubresource(_ string, obj, live document.Value) field.ErrorList {
	return v.ValidateStatus(obj, live)
}

// StatusWarnings returns nil: there are no warnings about the status of custom resources.
func (v values) StatusWarnings(_, _ document.Value) []string { return nil }

// RequestWarnings returns nil: all warnings come from Warnings.
func (v values) RequestWarnings(document.Value) []string { return nil }
