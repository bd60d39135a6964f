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

// collector gathers types and all that they are made of. The zero one is ready to use.
type collector struct {
	types map[reflect.Type]*entry
}

// entry is a type as the table shows it.
type entry struct {
	kind   string
	goName string
	name   string       // of a struct
	elem   reflect.Type // of a list or map
	fields []field
}

type field struct {
	name            string
	via             string // the embedded structs that it comes from, with dots
	of              reflect.Type
	always, pointer bool
}

// special are the types that write themselves.
var special = map[reflect.Type]string{
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

// add gathers a type and returns it without pointers.
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
	if kind, ok := special[t]; ok {
		e.kind = kind
		return nil
	}
	if m, ok := reflect.PointerTo(t).MethodByName("UnmarshalJSON"); ok {
		return fmt.Errorf("%v reads itself by %v: say in special how", t, m.Type)
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
			return fmt.Errorf("%v: expected a map by strings", t)
		}
		e.kind = "map"
		e.elem, err = c.add(t.Elem())
	case reflect.Struct:
		e.kind = "struct"
		e.name = schemaName(t)
		err = c.addFields(e, t, "")
	default:
		err = fmt.Errorf("%v: there is no kind for %v", t, t.Kind())
	}
	return err
}

// addFields gathers a struct's fields, and those of the structs that are embedded in it.
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
			return fmt.Errorf("%v.%s has no name in JSON", t, f.Name)
		}
		of, err := c.add(f.Type)
		if err != nil {
			return fmt.Errorf("%v.%s: %w", t, f.Name, err)
		}
		e.fields = append(e.fields, field{
			name:    name,
			via:     via,
			of:      of,
			always:  isAlwaysWritten(f.Type, strings.Split(options, ",")),
			pointer: f.Type.Kind() == reflect.Pointer,
		})
	}
	slices.SortFunc(e.fields, func(a, b field) int { return cmp.Compare(a.name, b.name) })
	return noneTwice(e)
}

// noneTwice refuses what Go would have to choose from.
func noneTwice(e *entry) error {
	for i := 1; i < len(e.fields); i++ {
		if e.fields[i].name == e.fields[i-1].name {
			return fmt.Errorf("%s: two fields are called %s", e.goName, e.fields[i].name)
		}
	}
	return nil
}

// isAlwaysWritten tells whether Go writes a field that has nothing in it. It takes no struct for
// empty, save where it is asked to omit zeros.
func isAlwaysWritten(t reflect.Type, options []string) bool {
	switch {
	case slices.Contains(options, "omitzero"):
		return false
	case slices.Contains(options, "omitempty"):
		return t.Kind() == reflect.Struct
	}
	return true
}

// schemaName is what schemas call a struct: its folder with dots, the host turned around.
func schemaName(t reflect.Type) string {
	host, rest, _ := strings.Cut(t.PkgPath(), "/")
	parts := strings.Split(host, ".")
	slices.Reverse(parts)
	return strings.Join(parts, ".") + "." + strings.ReplaceAll(rest, "/", ".") + "." + t.Name()
}

// text writes the table: a line for each type, and one for each of its fields. A type is referred
// to by its number.
func (c *collector) text() []byte {
	order := c.order()
	number := map[reflect.Type]int{}
	for i, t := range order {
		number[t] = i
	}
	var b bytes.Buffer
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
			fmt.Fprintf(&b, "\t%s\t%d\t%s\t%s\n", f.name, number[f.of], f.flags(), f.via)
		}
	}
	return b.Bytes()
}

// order sorts the types: those without a name in schemas first.
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

// packageOf tells types of one name apart.
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

// flags are a for always and p for pointer, or a dash.
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
