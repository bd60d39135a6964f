package builtin

import (
	"fmt"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// ValueError says which value in a document can not be what its type wants.
type ValueError struct {
	// Path is where the value is: spec.template.spec.containers[1].image.
	Path string
	// Expected and Received describe the values for people.
	Expected, Received string
	// upstream is what kube-apiserver says.
	upstream string
}

// Error starts with what kube-apiserver says, and goes on with what it does not.
func (e *ValueError) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("%s (expected %s, received %s)", e.upstream, e.Expected, e.Received)
	}
	return fmt.Sprintf("%s (%s: expected %s, received %s)", e.upstream, e.Path, e.Expected, e.Received)
}

// expectations are what people are told to send.
var expectations = [kindCount]string{
	Struct:      "a map",
	List:        "a list",
	Map:         "a map",
	String:      "a string",
	Bool:        "true or false",
	Int32:       "an integer of 32 bits",
	Int64:       "an integer of 64 bits",
	Bytes:       "a string in base 64",
	Quantity:    "a quantity such as 500m, 1.5 or 2Gi",
	Time:        "a time such as 2006-01-02T15:04:05Z",
	MicroTime:   "a time such as 2006-01-02T15:04:05.000000Z",
	IntOrString: "an integer of 32 bits or a string",
}

// wrongKind is the error for a value that Go can not put into the type at all.
func (r *reader) wrongKind(t *Type, v document.Value) error {
	received := jsonKind(v)
	if v.Kind() == document.Number && (t.Kind.IsInteger() || t.Kind == IntOrString || t == byteItem) {
		received += " " + v.Text()
	}
	goName := t.GoName
	switch t.Kind {
	case IntOrString:
		goName = "int32"
	case Time, MicroTime:
		goName = "string"
	}
	message := fmt.Sprintf("json: cannot unmarshal %s into Go value of type %s", received, goName)
	if owner, fields := r.goPath(); owner != "" {
		message = fmt.Sprintf("json: cannot unmarshal %s into Go struct field %s.%s of type %s", received, owner, fields, goName)
	}
	return r.badValue(t, v, message)
}

// badValue is the error for a value, with what kube-apiserver says of it.
func (r *reader) badValue(t *Type, v document.Value, upstream string) error {
	return &ValueError{
		Path:     r.pathTo(""),
		Expected: expectations[t.Kind],
		Received: r.describe(t, v),
		upstream: upstream,
	}
}

// describe shows a value to people. What is in a Secret is nobody's business.
func (r *reader) describe(t *Type, v document.Value) string {
	const longest = 60
	text := v.JSON()
	if t.Kind == Bytes || !v.IsScalar() || len(text) > longest || r.root.Name == "io.k8s.api.core.v1.Secret" {
		return "a " + v.Kind().String()
	}
	return text
}

// jsonKind is what Go calls the kind of a value.
func jsonKind(v document.Value) string {
	switch v.Kind() {
	case document.Map:
		return "object"
	case document.List:
		return "array"
	case document.Bool:
		return "bool"
	}
	return v.Kind().String()
}

// place is a step from a value to one in it: to a field, to an item or to a key of a map.
type place struct {
	name  string
	index int // of an item; then there is no name
	in    *Type
	field *Field // of a struct
}

// goPath is how Go names the place where the reader is: the innermost struct, and the fields from
// the root on. Items and keys are left out.
func (r *reader) goPath() (owner, fields string) {
	var names []string
	for _, p := range r.path {
		if p.in.Kind == Struct {
			names = append(names, p.field.goName)
			_, owner, _ = strings.Cut(p.in.GoName, ".")
		}
	}
	return owner, strings.Join(names, ".")
}

// pathTo returns the path of a field of the value where the reader is, or of that value.
func (r *reader) pathTo(field string) string {
	var b strings.Builder
	for _, p := range r.path {
		if p.in.Kind == List {
			fmt.Fprintf(&b, "[%d]", p.index)
			continue
		}
		appendName(&b, p.name)
	}
	if field != "" {
		appendName(&b, field)
	}
	return b.String()
}

func appendName(b *strings.Builder, name string) {
	if b.Len() > 0 {
		b.WriteByte('.')
	}
	b.WriteString(name)
}
