package custom

import (
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/rules"
	"github.com/cadastre/cadastre/internal/structural"
	"github.com/cadastre/cadastre/schema"
)

// values is what is known about the values of a custom resource at a version, as endpoints want it. Custom
// resources never were Go structs: nothing is there that nobody has set, and what is empty stays so. Only their metadata
// is that of all kinds.
type values struct{ *structural.Type }

// ReadWith reads a document. Whole numbers that are written as floats are floats.
func (v values) ReadWith(doc document.Value, _ rules.ReadOptions) (document.Value, []string, error) {
	return v.Read(doc)
}

// DefaultAgain fills in the defaults of a document, whether or not it had them before.
func (v values) DefaultAgain(doc, _ document.Value) document.Value { return v.Default(doc) }

// Empty is a new object in which nobody has set anything.
func (v values) Empty() document.Value { return document.NewMap() }

// KeepUnset returns the document: clients drop nothing from custom resources.
func (v values) KeepUnset(doc, _ document.Value, _ *schema.Type) document.Value { return doc }

// WithoutEmptied leaves out what a patch made empty in the metadata: what it leaves empty elsewhere is empty.
func (v values) WithoutEmptied(before, after, patch document.Value) document.Value {
	return withChanged(after, v.Metadata().WithoutEmptied(before.Get(metadata), after.Get(metadata), patch.Get(metadata)))
}

// WithoutPruned leaves out what an applier left empty in the metadata, and nothing else.
func (v values) WithoutPruned(before, after, config document.Value, topology *schema.Type) document.Value {
	var of *schema.Type
	if topology.Map != nil {
		of, _ = topology.Map.TypeOf(metadata)
	}
	return withChanged(after, v.Metadata().WithoutPruned(before.Get(metadata), after.Get(metadata), config.Get(metadata), of))
}

const metadata = "metadata"

// withChanged returns the document with other metadata, and itself if that is what it has already.
func withChanged(doc, value document.Value) document.Value {
	if document.Same(value, doc.Get(metadata)) {
		return doc
	}
	return doc.With(metadata, value)
}

// OneOfs returns none: schemas don't say which fields exclude each other.
func (v values) OneOfs(*schema.Type) *rules.OneOfs { return &rules.OneOfs{} }

// StatusWarnings returns none.
func (v values) StatusWarnings(_, _ document.Value) []string { return nil }

// SentWarnings returns none.
func (v values) SentWarnings(document.Value) []string { return nil }
