package main

import (
	"bytes"
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// collector collects Go types, and the types of their fields and elements, for the table of types. The zero value is ready
// to use.
type collector struct {
	types map[reflect.Type]*entry
}

// entry is a type in the table of types.
type entry struct {
	kind   string
	goName string
	name   string       // name is the OpenAPI name of a struct.
	elem   reflect.Type // elem is the element type of a list or map.
	fields []field
}

type field struct {
	name            string
	via             string // via lists the embedded structs that contain the field, separated by dots.
	of              reflect.Type
	always, pointer bool
	position        int          // position is the index of the field in the Go struct, including the fields of embedded structs.
	owner           reflect.Type // owner is the struct that declares the field, whose Go name is goName.
	goName          string
}

// specialKinds maps the types with a JSON encoding of their own to their kinds in the table.
var specialKinds = map[reflect.Type]string{
	reflect.TypeFor[resource.Quantity]():    "quantity",
	reflect.TypeFor[metav1.Time]():          "time",
	reflect.TypeFor[metav1.MicroTime]():     "microtime",
	reflect.TypeFor[intstr.IntOrString]():   "intorstring",
	reflect.TypeFor[runtime.RawExtension](): "raw",
	reflect.TypeFor[metav1.FieldsV1]():      "fields",
}

var scalars = map[reflect.Kind]string{
	reflect.String: "string",
	reflect.Bool:   "bool",
	reflect.Int32:  "int32",
	reflect.Int64:  "int64",
}

// add collects a type, unless it is collected already, and returns the type without pointers.
func (c *collector) add(t reflect.Type) (reflect.Type, error) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if _, known := c.types[t]; known {
		return t, nil
	}
	if c.types == nil {
		c.types = map[reflect.Type]*entry{}
	}
	e := &entry{goName: t.String()}
	c.types[t] = e
	return t, c.fill(e, t)
}

func (c *collector) fill(e *entry, t reflect.Type) (err error) {
	if kind, ok := specialKinds[t]; ok {
		e.kind = kind
		return nil
	}
	if m, ok := reflect.PointerTo(t).MethodByName("UnmarshalJSON"); ok {
		return fmt.Errorf("%v implements %v: add it to specialKinds", t, m.Type)
	}
	if kind, ok := scalars[t.Kind()]; ok {
		e.kind = kind
		return nil
	}
	switch t.Kind() {
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			e.kind = "bytes"
			return nil
		}
		e.kind = "list"
		e.elem, err = c.add(t.Elem())
	case reflect.Map:
		if t.Key().Kind() != reflect.String {
			return fmt.Errorf("%v: expected a map with string keys", t)
		}
		e.kind = "map"
		e.elem, err = c.add(t.Elem())
	case reflect.Struct:
		e.kind = "struct"
		e.name = schemaName(t)
		err = c.addFields(e, t, "")
	default:
		err = fmt.Errorf("%v: unsupported kind %v", t, t.Kind())
	}
	return err
}

// addFields adds the fields of a struct and of the structs that are embedded in it to an entry, and collects their types.
func (c *collector) addFields(e *entry, t reflect.Type, via string) error {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported():
			continue
		case f.Anonymous && name == "":
			if err := c.addFields(e, f.Type, via+f.Name+"."); err != nil {
				return err
			}
			continue
		case name == "":
			return fmt.Errorf("%v.%s has no JSON name", t, f.Name)
		}
		of, err := c.add(f.Type)
		if err != nil {
			return fmt.Errorf("%v.%s: %w", t, f.Name, err)
		}
		e.fields = append(e.fields, field{
			name:     name,
			via:      via,
			of:       of,
			always:   isAlwaysWritten(f.Type, strings.Split(options, ",")),
			pointer:  f.Type.Kind() == reflect.Pointer,
			position: len(e.fields),
			owner:    t,
			goName:   f.Name,
		})
	}
	slices.SortFunc(e.fields, func(a, b field) int { return cmp.Compare(a.name, b.name) })
	return noDuplicates(e)
}

// noDuplicates returns an error if two fields of a struct have the same JSON name. The fields must be sorted.
func noDuplicates(e *entry) error {
	for i := 1; i < len(e.fields); i++ {
		if e.fields[i].name == e.fields[i-1].name {
			return fmt.Errorf("%s: two fields have the JSON name %s", e.goName, e.fields[i].name)
		}
	}
	return nil
}

// isAlwaysWritten reports whether Go encodes a field even if it has the zero value. options are the options in its json tag:
// omitempty has no effect on structs; omitzero omits them if they are zero.
func isAlwaysWritten(t reflect.Type, options []string) bool {
	switch {
	case slices.Contains(options, "omitzero"):
		return false
	case slices.Contains(options, "omitempty"):
		return t.Kind() == reflect.Struct
	}
	return true
}

// schemaName returns the OpenAPI name of a struct, such as io.k8s.api.core.v1.Pod: its import path with the host reversed and
// dots instead of slashes, and its name.
func schemaName(t reflect.Type) string {
	host, rest, _ := strings.Cut(t.PkgPath(), "/")
	parts := strings.Split(host, ".")
	slices.Reverse(parts)
	return strings.Join(parts, ".") + "." + strings.ReplaceAll(rest, "/", ".") + "." + t.Name()
}

// header is the first line of the table of types.
const header = "# Generated by go generate ./internal/api/builtin from the Go types of k8s.io/api; do not edit."

// text returns the table of types: a line for each type, followed by a line for each of its fields. A type is referenced by
// its index in the table.
func (c *collector) text() []byte {
	order := c.order()
	number := map[reflect.Type]int{}
	for i, t := range order {
		number[t] = i
	}
	var b bytes.Buffer
	fmt.Fprintln(&b, header)
	for _, t := range order {
		e := c.types[t]
		fmt.Fprintf(&b, "%s\t%s", e.kind, e.goName)
		switch {
		case e.name != "":
			fmt.Fprintf(&b, "\t%s", e.name)
		case e.elem != nil:
			fmt.Fprintf(&b, "\t%d", number[e.elem])
		}
		b.WriteByte('\n')
		for _, f := range e.fields {
			fmt.Fprintf(&b, "\t%s\t%d\t%s\t%d\t%s\n", f.name, number[f.of], f.flags(), f.position, f.via)
		}
	}
	return b.Bytes()
}

// order returns the collected types in the order of the table: types without an OpenAPI name first, then structs by name.
func (c *collector) order() []reflect.Type {
	var all []reflect.Type
	for t := range c.types {
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b reflect.Type) int {
		x, y := c.types[a], c.types[b]
		return cmp.Or(cmp.Compare(x.name, y.name), cmp.Compare(x.kind, y.kind), cmp.Compare(x.goName, y.goName),
			cmp.Compare(packageOf(a), packageOf(b)))
	})
	return all
}

// packageOf returns the import path of a type or of its element type. It makes the order of types with the same name
// deterministic.
func packageOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Slice, reflect.Map:
		if t.PkgPath() == "" {
			return packageOf(t.Elem())
		}
	case reflect.Pointer:
		return packageOf(t.Elem())
	}
	return t.PkgPath()
}

// flags returns the flags of a field in the table: a if it is always written, p if it is a pointer, - for neither.
func (f field) flags() string {
	flags := ""
	if f.always {
		flags += "a"
	}
	if f.pointer {
		flags += "p"
	}
	return cmp.Or(flags, "-")
}
