package schema

import (
	"encoding"
	"encoding/json"
	"reflect"
	"time"

	"github.com/cadastre/cadastre/document"
)

// FromGoType returns the topology of the JSON that values of a Go type have.
//
// Fields are named as encoding/json names them. The tags patchStrategy and
// patchMergeKey of a field that is a list say how its items belong together; lists
// without them are atomic, maps and structs are granular. Undeclared fields are
// refused by structs, except by those without any fields. A field that Go always
// writes has its zero value as default. Types that say what their JSON is, with a method
// OpenAPISchemaType or by being text, are believed; other types with a JSON of
// their own are [Opaque].
//
// Tags know less than schemas do: nothing about other defaults, atomic maps and
// structs, or more than one key.
func FromGoType(t reflect.Type) (*Type, error) {
	if t == nil {
		return nil, &Error{Expected: "a Go type", Received: "nil", Advice: "pass reflect.TypeFor[T]()"}
	}
	g := &goReader{drafts: map[goShape]*draft{}}
	l := newLinker(&g.problems)
	typ := l.mention(ref{to: g.read(t, tags{}, rootPlace(t.String()), 0)})
	l.run()
	if err := g.err(); err != nil {
		return nil, err
	}
	return typ, nil
}

// leaveOut is the advice for what JSON can not hold.
const leaveOut = `leave the field out with the tag json:"-"`

// goReader reads Go types as drafts.
type goReader struct {
	problems
	drafts map[goShape]*draft
}

// goShape is what decides a draft: the same Go type may be used by fields with
// different tags.
type goShape struct {
	typ  reflect.Type
	tags tags
}

// tags are the tags of a field that say how its items belong together.
type tags struct{ strategy, key string }

// read returns the draft of a Go type. It is remembered before it is filled, so
// that recursive types end.
func (g *goReader) read(t reflect.Type, tg tags, at *place, depth int) *draft {
	t = g.value(t, at)
	if depth > maxNesting {
		g.add(at, "types nested less deep than the limit", "more levels than it allows", leaveOut)
		return opaqueDraft
	}
	if !isList(t) {
		tg = tags{} // strategies for maps and structs do not change the topology
	}
	shape := goShape{t, tg}
	if d, ok := g.drafts[shape]; ok {
		return d
	}
	d := &draft{name: goName(t)}
	g.drafts[shape] = d
	if ownJSON(d, t) {
		return d
	}
	switch t.Kind() {
	case reflect.Struct:
		d.fields = &mapDraft{fields: g.readStruct(t, at, depth)}
		if len(d.fields.fields) == 0 {
			d.fields.element = ref{to: untypedDraft} // as OpenAPI takes an empty struct
		}
	case reflect.Map:
		g.checkKey(t.Key(), at)
		d.fields = &mapDraft{element: ref{to: g.read(t.Elem(), tags{}, at.field("*"), depth+1)}}
	case reflect.Slice, reflect.Array:
		g.readList(d, t, tg, at, depth)
	case reflect.Interface:
		d.alias = &ref{to: untypedDraft}
	default:
		d.scalar = g.scalar(t, at)
	}
	return d
}

// value follows pointers, which JSON does not show. A pointer type can be made of
// nothing but itself.
func (g *goReader) value(t reflect.Type, at *place) reflect.Type {
	for range maxNesting {
		if t.Kind() != reflect.Pointer {
			return t
		}
		t = t.Elem()
	}
	g.add(at, "a type that ends", "the endless pointer type "+quote(t.String()), leaveOut)
	return reflect.TypeFor[any]()
}

func goName(t reflect.Type) string {
	if t.Name() == "" {
		return ""
	}
	return t.String()
}

func isList(t reflect.Type) bool { return t.Kind() == reflect.Slice || t.Kind() == reflect.Array }

// openAPIType is what the types of Kubernetes whose JSON is not that of their
// structure implement.
type openAPIType interface {
	OpenAPISchemaType() []string
}

type openAPIFormat interface {
	OpenAPISchemaFormat() string
}

// ownJSON fills the draft of a type whose JSON does not follow from its structure.
func ownJSON(d *draft, t reflect.Type) bool {
	switch {
	case t == reflect.TypeFor[time.Time]():
		d.scalar = AnyScalar // as a string of the format date-time
	case t == reflect.TypeFor[json.Number]():
		d.scalar = Numeric
	case t.Kind() == reflect.Interface:
		return false
	case implements[openAPIType](t):
		saysOpenAPI(d, t)
	case implements[json.Marshaler](t):
		d.alias = &ref{to: opaqueDraft}
	case implements[encoding.TextMarshaler](t):
		d.scalar = String
	default:
		return false
	}
	return true
}

// implements reports whether values of type t, or pointers to them, have the
// methods of an interface.
func implements[I any](t reflect.Type) bool {
	i := reflect.TypeFor[I]()
	return t.Implements(i) || reflect.PointerTo(t).Implements(i)
}

// saysOpenAPI fills a draft with what a type's own methods say.
func saysOpenAPI(d *draft, t reflect.Type) {
	self := reflect.New(t).Interface()
	format := ""
	if f, ok := self.(openAPIFormat); ok {
		format = f.OpenAPISchemaFormat()
	}
	word := ""
	if words := self.(openAPIType).OpenAPISchemaType(); len(words) > 0 {
		word = words[0]
	}
	// OpenAPI says of a quantity that it is a string, but its JSON may be a number.
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
		d.fields = &mapDraft{element: ref{to: untypedDraft}}
	case word == "array":
		d.list = &listDraft{item: ref{to: opaqueDraft}}
	default:
		d.alias = &ref{to: untypedDraft}
	}
}

func (g *goReader) readList(d *draft, t reflect.Type, tg tags, at *place, depth int) {
	if isBytes(t) {
		d.scalar = String // base64
		return
	}
	d.list = &listDraft{at: at}
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

func (g *goReader) scalar(t reflect.Type, at *place) Scalar {
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
	g.add(at, "a type that JSON can hold", "the Go type "+quote(t.String()), leaveOut)
	return AnyScalar
}

// checkKey refuses maps whose keys can not be names in JSON.
func (g *goReader) checkKey(key reflect.Type, at *place) {
	switch key.Kind() {
	case reflect.String,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return
	}
	if !implements[encoding.TextMarshaler](key) {
		g.add(at, "a map whose keys are strings", "keys of the Go type "+quote(key.String()), leaveOut)
	}
}
