package builtin

import (
	"fmt"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// ValueError reports a value in a document that does not match its type.
type ValueError struct {
	// Path is the path of the value, such as spec.template.spec.containers[1].image; "" for the whole document.
	Path string
	// Expected describes the valid values, such as "a string". Received is the value, or a description of it if it is long or
	// secret.
	Expected, Received string
	// upstream is the message that kube-apiserver returns for the value.
	upstream string
}

// Error returns kube-apiserver's message, followed by the path, the expected and the received value.
func (e *ValueError) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("%s (expected %s, received %s)", e.upstream, e.Expected, e.Received)
	}
	return fmt.Sprintf("%s (%s: expected %s, received %s)", e.upstream, e.Path, e.Expected, e.Received)
}

// expectations describes the valid values of types of each Kind, for ValueError.Expected.
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

// newKindError returns the ValueError for v, whose JSON type Go cannot decode into t.
func (d *decoder) newKindError(t *Type, v document.Value) error {
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
	if structName, fields := d.goPath(); structName != "" {
		message = fmt.Sprintf("json: cannot unmarshal %s into Go struct field %s.%s of type %s", received, structName, fields, goName)
	}
	return d.newValueError(t, v, message)
}

// newValueError returns the ValueError for v, the current value of the decoder; upstream is kube-apiserver's message.
func (d *decoder) newValueError(t *Type, v document.Value, upstream string) error {
	return &ValueError{
		Path:     d.pathTo(""),
		Expected: expectations[t.Kind],
		Received: d.describe(t, v),
		upstream: upstream,
	}
}

// describe returns the text of v for an error message: the JSON of a short scalar, and the type, such as "a string", of all
// other values. It never returns a value of a Secret.
func (d *decoder) describe(t *Type, v document.Value) string {
	const maxLength = 60
	text := v.JSON()
	if t.Kind == Bytes || !v.IsScalar() || len(text) > maxLength || d.root.Name == "io.k8s.api.core.v1.Secret" {
		return "a " + v.Kind().String()
	}
	return text
}

// jsonKind returns the name of a value's JSON type in errors of encoding/json.
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
	name   string
	index  int    // index is the index of a list item, for which name is "".
	parent *Type  // parent is the type of the struct, list or map that contains the step.
	field  *Field // field is nil unless the parent is a struct.
}

// goPath returns the path of the current value in errors of encoding/json: the name of the innermost Go struct, and the field
// names from the root, without list items and map keys.
func (d *decoder) goPath() (structName, fields string) {
	var names []string
	for _, p := range d.path {
		if p.parent.Kind == Struct {
			names = append(names, p.field.goName)
			_, structName, _ = strings.Cut(p.parent.GoName, ".")
		}
	}
	return structName, strings.Join(names, ".")
}

// pathTo returns the path of the given field of the current value, or of the current value itself if field is "".
func (d *decoder) pathTo(field string) string {
	var b strings.Builder
	for _, p := range d.path {
		if p.parent.Kind == List {
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
