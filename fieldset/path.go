package fieldset

import (
	"strconv"
	"strings"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/scan"
)

// Path says where a field is. The empty path is the whole document.
type Path []Element

// Names makes a path of field names.
func Names(names ...string) Path {
	p := make(Path, len(names))
	for i, name := range names {
		p[i] = NameElement(name)
	}
	return p
}

// String returns the path as Kubernetes shows it in errors:
// .spec.containers[name="app"].image. A field name that holds a dot or a bracket
// is shown as it is; see Quoted.
func (p Path) String() string {
	var array [128]byte
	dst := array[:0]
	for _, e := range p {
		dst = e.appendShown(dst)
	}
	return string(dst)
}

// Quoted returns the path in a form from which ParsePath reads the same path back:
// with quotes around the names that need them, and with lists and maps as JSON:
// .metadata.labels."example.com/app".
func (p Path) Quoted() string {
	var array [128]byte
	dst := array[:0]
	for _, e := range p {
		dst = e.appendQuoted(dst)
	}
	return string(dst)
}

func (e Element) appendQuoted(dst []byte) []byte {
	switch e.kind {
	case FieldName:
		return appendQuotedName(append(dst, '.'), e.text)
	case Key:
		return append(e.appendQuotedKey(append(dst, '[')), ']')
	case SetValue:
		dst = append(dst, "[="...)
		dst = append(dst, quotedValue(e.Value())...)
		return append(dst, ']')
	}
	return e.appendShown(dst)
}

// appendQuotedKey appends a key. A usual one whose names need no quotes is what String has.
func (e Element) appendQuotedKey(dst []byte) []byte {
	if usual, ok := e.appendUsualKey(dst, isPlainName); ok {
		return usual
	}
	for i, f := range e.KeyFields() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendQuotedName(dst, f.Name), '=')
		dst = append(dst, quotedValue(f.Value)...)
	}
	return dst
}

// isPlainName reports whether a name is read back as it is, without quotes.
func isPlainName(name string) bool {
	return name != "" && scan.AllOrdinary(name) && !strings.ContainsAny(name, ".[]=, \x7f")
}

func appendQuotedName(dst []byte, name string) []byte {
	if isPlainName(name) {
		return append(dst, name...)
	}
	return append(dst, quotedName(name)...)
}

// quotedName puts quotes around a name that would be misread, or not be readable,
// without them.
func quotedName(name string) string {
	quoted := strconv.Quote(name)
	if name == "" || len(quoted) != len(name)+2 || strings.ContainsAny(name, ".[]=, ") {
		return quoted
	}
	return name
}

func quotedValue(v document.Value) string {
	if v.Kind() == document.String {
		return strconv.Quote(v.Text())
	}
	return v.JSON()
}

// Equal reports whether two paths are the same.
func (p Path) Equal(other Path) bool { return p.Compare(other) == 0 }

// Compare orders paths element by element; a path comes before those below it.
func (p Path) Compare(other Path) int {
	if len(p) > 0 && len(other) > 0 && &p[0] == &other[0] {
		return len(p) - len(other) // one is the beginning of the other
	}
	for i := range min(len(p), len(other)) {
		if c := p[i].Compare(other[i]); c != 0 {
			return c
		}
	}
	return len(p) - len(other)
}
