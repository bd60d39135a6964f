package fastdoc

import (
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/lib/access"
)

// AnyItem is the path element that matches every item of a list.
const AnyItem = access.AnyItem

// FieldsV1Path is the path of the field sets (fieldsV1) in the managedFields of an object; most operations leave these
// unparsed. The slice must not be modified.
var FieldsV1Path = []string{"metadata", "managedFields", AnyItem, "fieldsV1"}

// ParseJSONExcept parses one JSON document, but leaves the lists and maps at path, which consists of field names and
// AnyItem, unparsed. An unparsed value can be written and compared, but has no fields or items; [document.Value.JSON]
// returns its text. Invalid JSON is rejected in unparsed values, too, but they may nest deeper than the limit, and a
// field set may contain duplicate names and keeps the order of its names. Empty lists and maps are always parsed.
func ParseJSONExcept[T document.Text](text T, limits document.Limits, path ...string) (document.Value, error) {
	return library.ParseJSON(string(text), limits, document.Value{}, path)
}

// ParseJSONWithBase parses one JSON document that is expected to be similar to base, such as an applied configuration
// with the live object as base. A list or map whose text is the canonical text of the value at the same path in base is
// not parsed but shared with base; [document.Same] detects this. The result equals that of ParseJSONExcept.
func ParseJSONWithBase[T document.Text](text T, limits document.Limits, base document.Value, unparsed ...string) (document.Value, error) {
	return library.ParseJSON(string(text), limits, base, unparsed)
}

// IsUnparsed reports whether a value is a list or map that the parser stored as text only; see ParseJSONExcept.
func IsUnparsed(v document.Value) bool {
	if v.Len() > 0 {
		return false
	}
	text, ok := v.CanonicalJSON()
	return ok && len(text) > len("{}")
}

// Reader parses documents that are used for a short time, such as during one request, into memory that it reuses. The
// zero Reader is ready to use. It is not safe for concurrent use.
//
//	v, err := reader.ParseJSON(text, document.Limits{}, document.Value{})
//	…
//	reader.Reset() // v must not be used afterwards
type Reader struct {
	parser access.Parser[document.Value, document.Limits] // nil before the first call of ParseJSON
}

// ParseJSON parses one JSON document as ParseJSONWithBase does; base may be absent. The document is valid until Reset.
func (r *Reader) ParseJSON(text string, limits document.Limits, base document.Value, unparsed ...string) (document.Value, error) {
	if r.parser == nil {
		r.parser = library.NewParser()
	}
	return r.parser.ParseJSON(text, limits, base, unparsed)
}

// Reset makes the memory of the parsed documents available for further documents. Neither the parsed documents nor
// values that share parts with them may be used afterwards, because their content may change. Strings stay valid, and
// so do the results of [document.Value.Clone].
func (r *Reader) Reset() {
	if r.parser != nil {
		r.parser.Reset()
	}
}
