package crd

import (
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api/builtin"
	"github.com/cadastre/cadastre/internal/api/crd/structural"
	"github.com/cadastre/cadastre/schema"
)

// values implements strategy.Values for custom resources. Unlike built-in kinds, they are not decoded into Go structs:
// only their metadata has fields that are always written, and drops empty fields.
type values struct{ *structural.Type }

// DecodeWith prunes and validates the types of a document. 1.0 is a float regardless of the options.
func (v values) DecodeWith(doc document.Value, _ builtin.DecodeOptions) (document.Value, []string, error) {
	return v.Decode(doc)
}

// DefaultChanged calls Default for the whole document.
func (v values) DefaultChanged(doc, _ document.Value) document.Value { return v.Default(doc) }

// Empty returns an empty object.
func (v values) Empty() document.Value { return document.NewMap() }

// RetainUnset returns the document: clients do not drop unset fields of custom resources.
func (v values) RetainUnset(doc, _ document.Value, _ *schema.Type) document.Value { return doc }

// DropEmptied removes metadata fields that a patch has emptied; empty fields elsewhere are retained.
func (v values) DropEmptied(before, after, patch document.Value) document.Value {
	return withChanged(after, v.Metadata().DropEmptied(before.Get(metadata), after.Get(metadata), patch.Get(metadata)))
}

// DropPruned removes metadata fields that an apply has emptied; empty fields elsewhere are retained.
func (v values) DropPruned(before, after, config document.Value, topology *schema.Type) document.Value {
	var of *schema.Type
	if topology.Map != nil {
		of, _ = topology.Map.TypeOf(metadata)
	}
	return withChanged(after, v.Metadata().DropPruned(before.Get(metadata), after.Get(metadata), config.Get(metadata), of))
}

const metadata = "metadata"

// withChanged returns the document with the given metadata; the document itself if the metadata is unchanged.
func withChanged(doc, value document.Value) document.Value {
	if document.Same(value, doc.Get(metadata)) {
		return doc
	}
	return doc.With(metadata, value)
}

// OneOfs returns an empty set: CRD schemas do not declare unions.
func (v values) OneOfs(*schema.Type) *builtin.OneOfs { return &builtin.OneOfs{} }

// StatusWarnings returns nil.
func (v values) StatusWarnings(_, _ document.Value) []string { return nil }

// RequestWarnings returns nil.
func (v values) RequestWarnings(document.Value) []string { return nil }
