package fastdoc

import (
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/lib/access"
)

// library is the access to the unexported parts of package document.
var library = access.OpenDocument[document.Value, document.Field, document.Limits]()

// HasPlainNames reports whether all field names of a parsed map are plain: ASCII that needs no escapes in JSON. It
// returns false for maps that were not parsed.
func HasPlainNames(v document.Value) bool { return library.HasPlainNames(v) }

// ScalarDifferences compares two maps that have the same field names, at most 64, and only booleans, numbers and
// strings as values. Bit i of differ is set if the fields at index i differ. ok is false if a map does not meet these
// conditions, or if two numbers are equal but spelled differently.
func ScalarDifferences(a, b document.Value) (differ uint64, ok bool) {
	return library.ScalarDifferences(a, b)
}
