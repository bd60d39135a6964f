package schema

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/cadastre/cadastre/document"
)

// FromGoType returns the topology of the JSON encoding of a Go type.
//
// Fields have the names that encoding/json gives them. The tags patchStrategy and patchMergeKey of a list field
// determine the relationship of its items; lists without these tags are atomic, maps and structs are granular. Structs
// reject undeclared fields, except structs without any fields. The default of a field that is always encoded is its
// zero value. If a type declares its JSON type, with a method OpenAPISchemaType or by implementing
// encoding.TextMarshaler, its topology is that of the declared type; other types with custom JSON are [Opaque].
//
// Tags can't express other defaults, atomic maps and structs, or lists with more than one key.
func FromGoType(t reflect.Type) (*Type, error) {
	if t == nil {
		return nil, &Error{Expected: "a Go type", Received: "nil", Advice: "pass reflect.TypeFor[T]()"}
	}
	g := &goReader{types: map[goShape]*unlinkedType{}}
	l := newLinker(&g.problems)
	typ := l.typeOf(ref{to: g.read(t, tags{}, rootLocation(t.String()), 0)})
	l.run()
	if err := g.err(); err != nil {
		return nil, err
	}
	return typ, nil
}

// adviceOmit is the advice in the error for a field whose type JSON can't express.
const adviceOmit = `exclude the field with the tag json:"-"`

// goReader converts Go types to unlinkedTypes.
type goReader struct {
	problems
	types map[goShape]*unlinkedType
}

// goShape identifies an unlinkedType in a goReader. It includes the tags, because fields of the same Go type may have
// different ones.
type goShape struct {
	typ  reflect.Type
	tags tags
}

// tags are the struct tags patchStrategy and patchMergeKey of a list field.
type tags struct{ strategy, key string }

// read returns the unlinked type of the Go type t. It stores the unlinked type in g.types before filling it, so that
// reading a recursive type terminates.
func (g *goReader) read(t reflect.Type, tg tags, at *location, depth int) *unlinkedType {
	t = g.deref(t, at)
	if depth > maxNesting {
		g.add(at, fmt.Sprintf("at most %d levels of nested types", maxNesting), "more levels", adviceOmit)
		return unlinkedOpaque
	}
	if !isList(t) {
		tg = tags{} // patch strategies of maps and structs do not affect the topology
	}
	shape := goShape{t, tg}
	if d, ok := g.types[shape]; ok {
		return d
	}
	d := &unlinkedType{name: goName(t)}
	g.types[shape] = d
	if fillCustomJSON(d, t) {
		return d
	}
	switch t.Kind() {
	case reflect.Struct:
		d.fields = &unlinkedMap{fields: g.readStruct(t, at, depth)}
		if len(d.fields.fields) == 0 {
			d.fields.element = ref{to: unlinkedUntyped} // a struct without fields accepts any field, as in OpenAPI
		}
	case reflect.Map:
		g.checkKey(t.Key(), at)
		d.fields = &unlinkedMap{element: ref{to: g.read(t.Elem(), tags{}, at.field("*"), depth+1)}}
	case reflect.Slice, reflect.Array:
		g.readList(d, t, tg, at, depth)
	case reflect.Interface:
		d.alias = &ref{to: unlinkedUntyped}
	default:
		d.scalar = g.scalar(t, at)
	}
	return d
}

// deref returns the type to which the pointer type t points, because pointers are not visible in JSON; it returns other
// types unchanged. It adds a problem for a pointer type that refers to itself.
func (g *goReader) deref(t reflect.Type, at *location) reflect.Type {
	for range maxNesting {
		if t.Kind() != reflect.Pointer {
			return t
		}
		t = t.Elem()
	}
	g.add(at, "a type without endless pointers", "the endless pointer type "+quote(t.String()), adviceOmit)
	return reflect.TypeFor[any]()
}

func goName(t reflect.Type) string {
	if t.Name() == "" {
		return ""
	}
	return t.String()
}

func isList(t reflect.Type) bool { return t.Kind() == reflect.Slice || t.Kind() == reflect.Array }

// openAPIType is implemented by Kubernetes' types with custom JSON, such as metav1.Time, to declare their OpenAPI type.
type openAPIType interface {
	OpenAPISchemaType() []string
}

// openAPIFormat is implemented by the types that also declare an OpenAPI format.
type openAPIFormat interface {
	OpenAPISchemaFormat() string
}

// fillCustomJSON sets the alternatives of d for a type with custom JSON. It returns false for other types.
func fillCustomJSON(d *unlinkedType, t reflect.Type) bool {
	switch {
	case t == reflect.TypeFor[time.Time]():
		d.scalar = AnyScalar // the same as for an OpenAPI string with the format date-time
	case t == reflect.TypeFor[json.Number]():
		d.scalar = Numeric
	case t.Kind() == reflect.Interface:
		return false
	case implements[openAPIType](t):
		fillFromOpenAPI(d, t)
	case implements[json.Marshaler](t):
		d.alias = &ref{to: unlinkedOpaque}
	case implements[encoding.TextMarshaler](t):
		d.scalar = String
	default:
		return false
	}
	return true
}

// implements reports whether the type t, or a pointer to it, implements an interface.
func implements[I any](t reflect.Type) bool {
	i := reflect.TypeFor[I]()
	return t.Implements(i) || reflect.PointerTo(t).Implements(i)
}

// fillFromOpenAPI sets the alternatives of d from the OpenAPI methods of a type.
func fillFromOpenAPI(d *unlinkedType, t reflect.Type) {
	self := reflect.New(t).Interface()
	format := ""
	if f, ok := self.(openAPIFormat); ok {
		format = f.OpenAPISchemaFormat()
	}
	word := ""
	if words := self.(openAPIType).OpenAPISchemaType(); len(words) > 0 {
		word = words[0]
	}
	// The OpenAPI type of a quantity is string, but its JSON may be a number.
	_, alsoNumber := self.(interface{ OpenAPIV3OneOfTypes() []string })
	switch {
	case word == "string" && alsoNumber:
		d.scalar = AnyScalar
	case word == "string":
		d.scalar = stringScalar(format)
	case word == "integer", word == "number":
		d.scalar = Numeric
	case word == "boolean":
		d.scalar = Boolean
	case word == "object":
		d.fields = &unlinkedMap{element: ref{to: unlinkedUntyped}}
	case word == "array":
		d.list = &unlinkedList{item: ref{to: unlinkedOpaque}}
	default:
		d.alias = &ref{to: unlinkedUntyped}
	}
}

func (g *goReader) readList(d *unlinkedType, t reflect.Type, tg tags, at *location, depth int) {
	if isBytes(t) {
		d.scalar = String // encoding/json writes a byte slice as a base64 string
		return
	}
	d.list = &unlinkedList{at: at}
	if tg.strategy != "" {
		key := document.Value{}
		if tg.key != "" {
			key = document.NewString(tg.key)
		}
		d.list.associative, d.list.keys = g.patchStrategy(tg.strategy, key, at)
	}
	d.list.item = ref{to: g.read(t.Elem(), tags{}, at.field("[]"), depth+1)}
}

func isBytes(t reflect.Type) bool {
	e := t.Elem()
	return t.Kind() == reflect.Slice && e.Kind() == reflect.Uint8 &&
		!implements[json.Marshaler](e) && !implements[encoding.TextMarshaler](e)
}

func (g *goReader) scalar(t reflect.Type, at *location) Scalar {
	switch t.Kind() {
	case reflect.String:
		return String
	case reflect.Bool:
		return Boolean
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr,
		reflect.Float32, reflect.Float64:
		return Numeric
	}
	g.add(at, "a type that JSON can express", "the Go type "+quote(t.String()), adviceOmit)
	return AnyScalar
}

// checkKey adds a problem if the keys of a map can't be names in JSON.
func (g *goReader) checkKey(key reflect.Type, at *location) {
	switch key.Kind() {
	case reflect.String,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return
	}
	if !implements[encoding.TextMarshaler](key) {
		g.add(at, "a map whose keys are strings", "keys of the Go type "+quote(key.String()), adviceOmit)
	}
}
