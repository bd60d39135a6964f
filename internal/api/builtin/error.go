package builtin

import (
	"fmt"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// ValueError reports a value in a document that does not match its type.
type ValueError struct {
	// Path is the path of the value: spec.template.spec.containers[1].image.
	Path string
	// Expected and Received describe the values.
	Expected, Received string
	// upstream is kube-apiserver's message.
	upstream string
}

// Error returns kube-apiserver's message, followed by the path, the expected and the received value.
func (e *ValueError) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("%s (expected %s, received %s)", e.upstream, e.Expected, e.Received)
	}
	return fmt.Sprintf("%s (%s: expected %s, received %s)", e.upstream, e.Path, e.Expected, e.Received)
}

// expectations describe the valid values of each kind.
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

// wrongKind returns the error for a value of a JSON type that Go cannot decode into the type.
func (r *decoder) wrongKind(t *Type, v document.Value) error {
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

// badValue returns the error for a value with kube-apiserver's message.
func (r *decoder) badValue(t *Type, v document.Value, upstream string) error {
	return &ValueError{
		Path:     r.pathTo(""),
		Expected: expectations[t.Kind],
		Received: r.describe(t, v),
		upstream: upstream,
	}
}

// describe returns a value for an error message: short scalars themselves, and the JSON type of other values and of
// values in Secrets.
func (r *decoder) describe(t *Type, v document.Value) string {
	const maxLength = 60
	text := v.JSON()
	if t.Kind == Bytes || !v.IsScalar() || len(text) > maxLength || r.root.Name == "io.k8s.api.core.v1.Secret" {
		return "a " + v.Kind().String()
	}
	return text
}

// jsonKind returns the JSON type of a value in Go's terms.
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

// pathStep is one step of a path: a struct field, a list item or a map key.
type pathStep struct {
	name  string
	index int // the index of a list item; then name is ""
	in    *Type
	field *Field // nil unless in is a struct
}

// goPath returns the path in Go's terms: the name of the innermost struct, and the Go fields from the root. Items and
// keys are left out.
func (r *decoder) goPath() (owner, fields string) {
	var names []string
	for _, p := range r.path {
		if p.in.Kind == Struct {
			names = append(names, p.field.goName)
			_, owner, _ = strings.Cut(p.in.GoName, ".")
		}
	}
	return owner, strings.Join(names, ".")
}

// pathTo returns the path of a field of the current value, or of the current value itself if field is "".
func (r *decoder) pathTo(field string) string {
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
