package fastdoc

import (
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/lib/access"
)

// AnyItem stands for every item of a list in the path of sealed values.
const AnyItem = access.AnyItem

// FieldsV1Path is the path of the field sets in a Kubernetes object, which most operations leave sealed. It must not
// be modified.
var FieldsV1Path = []string{"metadata", "managedFields", AnyItem, "fieldsV1"}

// ParseJSONSealed parses one JSON document and seals the lists and maps at a path of field names and AnyItem. A sealed
// value can be written and compared, but shows no fields or items; [document.Value.JSON] returns its text. Sealed text
// is checked like all other text, except that it may have duplicate names and nest deeper than the limit. It keeps the
// order of its names. Empty containers are not sealed.
func ParseJSONSealed[T document.Text](text T, limits document.Limits, path ...string) (document.Value, error) {
	return library.ParseJSON(string(text), limits, document.Value{}, path)
}

// ParseJSONBeside parses one JSON document that is expected to be similar to base, such as a configuration and the live
// object. Lists and maps with the same canonical text in the same place are shared with base and not parsed;
// [document.Same] reports that they are shared. The result equals what ParseJSONSealed returns.
func ParseJSONBeside[T document.Text](text T, limits document.Limits, base document.Value, sealed ...string) (document.Value, error) {
	return library.ParseJSON(string(text), limits, base, sealed)
}

// IsSealed reports whether a value is a list or map that is known only as text.
func IsSealed(v document.Value) bool {
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
//	reader.Reset() // v must not be used any more
type Reader struct {
	parser access.Parser[document.Value, document.Limits] // nil until the first document
}

// ParseJSON parses one JSON document as ParseJSONBeside does; base may be absent. The document is valid until Reset.
func (r *Reader) ParseJSON(text string, limits document.Limits, base document.Value, sealed ...string) (document.Value, error) {
	if r.parser == nil {
		r.parser = library.NewParser()
	}
	return r.parser.ParseJSON(text, limits, base, sealed)
}

// Reset makes the memory available for other documents. The parsed documents must not be used any more, nor must
// anything that shares parts with them: it would show parts of other documents. Strings stay valid, and so do the
// results of [document.Value.Clone].
func (r *Reader) Reset() {
	if r.parser != nil {
		r.parser.Reset()
	}
}
