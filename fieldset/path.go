package fieldset

import (
	"strconv"
	"strings"

	"github.com/cadastre/cadastre/document"
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
	var b strings.Builder
	for _, e := range p {
		b.WriteString(e.quoted())
	}
	return b.String()
}

func (e Element) quoted() string {
	switch e.kind {
	case FieldName:
		return "." + quotedName(e.text)
	case Key:
		fields := e.KeyFields()
		shown := make([]string, len(fields))
		for i, f := range fields {
			shown[i] = quotedName(f.Name) + "=" + quotedValue(f.Value)
		}
		return "[" + strings.Join(shown, ",") + "]"
	case SetValue:
		return "[=" + quotedValue(e.Value()) + "]"
	}
	return e.String()
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
