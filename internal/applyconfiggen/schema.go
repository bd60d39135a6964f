package applyconfiggen

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cadastre/cadastre/document"
)

// metaPath is the import path of the apply configurations of TypeMeta and ObjectMeta for kinds without Go types.
const metaPath = runtimePath + "/meta/v1"

// schemaReader converts schema objects of CustomResourceDefinitions and OpenAPI documents to the intermediate representation.
type schemaReader struct {
	// types contains the declared structs, by package and name.
	types map[GoName]*Type
	// resolve returns the Go type for a $ref; nil if the document does not contain the definition.
	resolve func(ref string) *Expr
	// definition returns the schema object of a $ref.
	definition func(ref string) document.Value
	// err is the first error, which read returns at the end.
	err error
}

// maxNameBytes is the maximum length of the name of a struct. Names grow with the nesting of a schema, so the maximum
// bounds the size of the output for hostile schemas.
const maxNameBytes = 1000

func newSchemaReader() *schemaReader {
	return &schemaReader{
		types: map[GoName]*Type{}, resolve: func(string) *Expr { return nil }, definition: func(string) document.Value { return document.Value{} },
	}
}

// declare adds a struct to the package pkg and returns it. If another struct has the same name, it appends Struct to the name.
func (r *schemaReader) declare(pkg, name string, schema document.Value) *Type {
	for r.types[GoName{pkg, name}] != nil {
		name += "Struct"
	}
	t := &Type{
		Package: pkg, Name: name, Doc: schema.Get("description").Text(),
		Atomic: schema.Get("x-kubernetes-map-type").Text() == "atomic",
	}
	r.types[GoName{pkg, name}] = t
	return t
}

// fields adds the properties of a schema object to a struct. A nested object becomes a struct whose name consists of the
// names on its path.
func (r *schemaReader) fields(t *Type, schema document.Value) {
	for name, property := range schema.Get("properties").Fields() {
		if name == "-" || unsafeInTag(name) {
			r.fail(fmt.Errorf("%s: expected a property name that a Go struct tag can contain, received %q", t.Name, name))
			continue
		}
		f := &Field{JSON: name, Doc: property.Get("description").Text()}
		f.Type = r.expr(t.Package, t.Name+goName(name), property)
		f.Merge = r.mergeTag(property, f.Type)
		if name == "metadata" && f.Type.Name == (GoName{metaPath, "ObjectMeta"}) {
			f.Embedding = Metadata // client-go embeds the metadata of templates, such as pod templates, too
		}
		t.Fields = append(t.Fields, f)
	}
	nameFields(t)
}

// unsafeInTag reports whether text contains characters that would end or change a struct tag.
func unsafeInTag(text string) bool {
	return strings.ContainsAny(text, "\"`\\,=") || strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c == utf8.RuneError })
}

func (r *schemaReader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// reference returns the $ref of a schema object; "" if it has none. OpenAPI 3 writes a $ref with siblings as an allOf with one element.
func reference(schema document.Value) string {
	if ref := schema.Get("$ref").Text(); ref != "" {
		return ref
	}
	if all := schema.Get("allOf"); all.Len() == 1 {
		return all.At(0).Get("$ref").Text()
	}
	return ""
}

// expr returns the Go type for a schema object. name is the name of the struct that it declares if the schema object has properties.
func (r *schemaReader) expr(pkg, name string, schema document.Value) *Expr {
	if ref := reference(schema); ref != "" {
		if e := r.resolve(ref); e != nil {
			return e
		}
		return anyExpr
	}
	if schema.Get("x-kubernetes-int-or-string").Bool() || schema.Get("format").Text() == "int-or-string" {
		return leaf(runtimePath, "IntOrString")
	}
	switch schema.Get("type").Text() {
	case "string":
		return stringExpr(schema.Get("format").Text())
	case "integer":
		if schema.Get("format").Text() == "int32" {
			return leaf("", "int32")
		}
		return leaf("", "int64")
	case "number":
		return leaf("", "float64")
	case "boolean":
		return leaf("", "bool")
	case "array":
		return &Expr{Shape: List, Elem: r.expr(pkg, name, schema.Get("items"))}
	case "object":
		return r.object(pkg, name, schema)
	}
	return anyExpr
}

func stringExpr(format string) *Expr {
	switch format {
	case "byte":
		return &Expr{Shape: List, Elem: leaf("", "byte")}
	case "date-time":
		return leaf("time", "Time")
	}
	return leaf("", "string")
}

// object returns the Go type for a schema object of type object. If it accepts undeclared fields, the Go type is a map,
// so that extracting and applying an object loses no field.
func (r *schemaReader) object(pkg, name string, schema document.Value) *Expr {
	more := schema.Get("additionalProperties")
	switch {
	case schema.Get("x-kubernetes-preserve-unknown-fields").Bool(), schema.Get("x-kubernetes-embedded-resource").Bool():
		return objectExpr
	case schema.Get("properties").Len() > 0 && len(name) > maxNameBytes:
		r.fail(fmt.Errorf("%s…: expected schemas whose path has at most %d characters, received a longer path", name[:80], maxNameBytes))
		return objectExpr
	case schema.Get("properties").Len() > 0:
		t := r.declare(pkg, name, schema)
		r.fields(t, schema)
		return &Expr{Shape: Struct, Name: GoName{pkg, t.Name}, Target: t}
	case more.Kind() == document.Map && more.Len() > 0:
		return &Expr{Shape: Map, Key: GoName{"", "string"}, Elem: r.expr(pkg, name, more)}
	}
	return objectExpr
}

// mergeTag returns the value of the struct tag merge for a property. It sets Type.Item of the items of a list of type map.
func (r *schemaReader) mergeTag(schema document.Value, e *Expr) string {
	if e.Shape != List {
		// A struct that an inline schema declares has the tag itself, not the field.
		if schema.Get("x-kubernetes-map-type").Text() == "atomic" && (e.Shape != Struct || reference(schema) != "") {
			return "atomic"
		}
		return ""
	}
	listType := schema.Get("x-kubernetes-list-type").Text()
	var keys []string
	for _, key := range schema.Get("x-kubernetes-list-map-keys").Items() {
		keys = append(keys, key.Text())
	}
	if key := schema.Get("x-kubernetes-patch-merge-key").Text(); listType == "" && key != "" {
		listType, keys = "map", []string{key}
	}
	switch {
	case listType == "map" && len(keys) > 0 && e.Elem.Target != nil:
		e.Elem.Target.Item = true
		return r.mapTag(schema.Get("items"), keys)
	case listType == "set" || listType == "" && schema.Get("x-kubernetes-patch-strategy").Text() == "merge":
		return "set"
	case listType != "":
		return "atomic"
	}
	return ""
}

// mapTag returns the value of the struct tag merge for a list of type map: its keys with their defaults.
func (r *schemaReader) mapTag(items document.Value, keys []string) string {
	if ref := reference(items); ref != "" {
		items = r.definition(ref)
	}
	tag := "map"
	for _, key := range keys {
		tag += "," + key
		value := items.Get("properties").Get(key).Get("default")
		text := value.Text()
		if value.Kind() != document.String && !value.IsAbsent() {
			text = value.JSON()
		}
		if unsafeInTag(key) || unsafeInTag(text) {
			r.fail(fmt.Errorf("expected a list key and a default that a Go struct tag can contain, received %q and %q", key, text))
		}
		if !value.IsAbsent() {
			tag += "=" + text
		}
	}
	return tag
}

// kind embeds TypeMeta and ObjectMeta in the struct of a kind, in place of its properties apiVersion, kind and metadata.
func (r *schemaReader) kind(t *Type, root *Root, meta *metadata) {
	t.Root = root
	t.Fields = slices.DeleteFunc(t.Fields, func(f *Field) bool { return f.JSON == "apiVersion" || f.JSON == "kind" || f.JSON == "metadata" })
	embedded := func(target *Type) *Expr {
		return &Expr{Shape: Struct, Name: GoName{target.Package, target.Name}, Target: target}
	}
	t.Fields = append([]*Field{
		{Type: embedded(meta.typeMeta), Embedding: Inlined},
		{Type: embedded(meta.objectMeta), Embedding: Metadata, JSON: "metadata"},
	}, t.Fields...)
	nameFields(t)
}

// groupPath returns the folder of an API group and version: the folder name in client-go, such as apps/v1, rbac/v1 or core/v1.
func groupPath(group, version string) string {
	name, _, _ := strings.Cut(group, ".")
	if name == "" {
		name = "core"
	}
	return strings.ReplaceAll(name, "-", "") + "/" + version
}
