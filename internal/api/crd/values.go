package crd

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api/builtin"
	"github.com/cadastre/cadastre/internal/api/crd/structural"
	"github.com/cadastre/cadastre/schema"
)

// values implements strategy.Values for custom resources. Unlike built-in kinds they are never decoded into Go structs:
// only metadata has fields that are written although they are unset, and drops empty ones.
type values struct{ *structural.Type }

// ReadWith prunes and checks a document. 1.0 is a float, whatever the options are.
func (v values) ReadWith(doc document.Value, _ builtin.ReadOptions) (document.Value, []string, error) {
	return v.Read(doc)
}

// DefaultAgain is Default.
func (v values) DefaultAgain(doc, _ document.Value) document.Value { return v.Default(doc) }

// Empty returns an empty object.
func (v values) Empty() document.Value { return document.NewMap() }

// KeepUnset returns the document: clients omit no unset fields of custom resources.
func (v values) KeepUnset(doc, _ document.Value, _ *schema.Type) document.Value { return doc }

// WithoutEmptied removes fields of metadata that a patch has emptied; empty fields elsewhere stay.
func (v values) WithoutEmptied(before, after, patch document.Value) document.Value {
	return withChanged(after, v.Metadata().WithoutEmptied(before.Get(metadata), after.Get(metadata), patch.Get(metadata)))
}

// WithoutPruned removes fields of metadata that an apply has emptied; empty fields elsewhere stay.
func (v values) WithoutPruned(before, after, config document.Value, topology *schema.Type) document.Value {
	var of *schema.Type
	if topology.Map != nil {
		of, _ = topology.Map.TypeOf(metadata)
	}
	return withChanged(after, v.Metadata().WithoutPruned(before.Get(metadata), after.Get(metadata), config.Get(metadata), of))
}

const metadata = "metadata"

// withChanged returns the document with other metadata; itself if the metadata is the same.
func withChanged(doc, value document.Value) document.Value {
	if document.Same(value, doc.Get(metadata)) {
		return doc
	}
	return doc.With(metadata, value)
}

// OneOfs returns none: schemas do not declare them.
func (v values) OneOfs(*schema.Type) *builtin.OneOfs { return &builtin.OneOfs{} }

// ValidateSubresource validates an update of the status: scales are validated as objects.
func (v values) ValidateSubresource(_ string, obj, live document.Value) field.ErrorList {
	return v.ValidateStatus(obj, live)
}

// StatusWarnings returns none.
func (v values) StatusWarnings(_, _ document.Value) []string { return nil }

// SentWarnings returns none.
func (v values) SentWarnings(document.Value) []string { return nil }
