package schema

import (
	"reflect"
	"slices"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// goField is a field of a Go struct, or of an embedded struct, that may become a JSON field.
type goField struct {
	reflect.StructField
	name         string
	tagged       bool // the json tag contains a name
	quoted       bool // the json tag has the option "string": a scalar is encoded in quotes
	neverOmitted bool // the json tag has neither omitempty nor omitzero
	depth        int  // the number of embedded structs around the field
}

// readStruct returns the fields of a struct that encoding/json encodes.
func (g *goReader) readStruct(t reflect.Type, at *location, depth int) []unlinkedField {
	var fields []unlinkedField
	for _, f := range dominantFields(g.candidates(t)) {
		at := at.field(f.name)
		tg := tags{f.Tag.Get("patchStrategy"), f.Tag.Get("patchMergeKey")}
		d := g.read(f.Type, tg, at, depth+1)
		defaultValue := zeroDefault(f.Type, f.neverOmitted)
		if f.quoted && d.scalar != NoScalar && d.list == nil && d.fields == nil {
			d, defaultValue = &unlinkedType{scalar: String}, document.Value{}
		}
		fields = append(fields, unlinkedField{f.name, ref{to: d, at: at}, defaultValue})
	}
	return fields
}

// candidates returns the fields of the struct t and of all its embedded structs, level by level. A struct that is
// embedded on several levels is included only on the level nearest to the root, because fields on that level have
// precedence.
func (g *goReader) candidates(t reflect.Type) []goField {
	var found []goField
	visited := map[reflect.Type]bool{t: true}
	level := []reflect.Type{t}
	for depth := 0; len(level) > 0; depth++ {
		var next []reflect.Type
		for _, t := range level {
			for i := range t.NumField() {
				f, embedded := readField(t.Field(i), depth)
				switch {
				case f.name != "":
					found = append(found, f)
				case embedded != nil && !visited[embedded]:
					next = append(next, embedded)
				}
			}
		}
		for _, t := range next {
			visited[t] = true
		}
		level = next
	}
	return found
}

// readField reads the JSON tag of a field. The name is empty if the field itself is not encoded; if the field is an
// embedded struct whose fields are promoted, embedded is the type of that struct.
func readField(f reflect.StructField, depth int) (field goField, embedded reflect.Type) {
	tag := f.Tag.Get("json")
	if tag == "-" {
		return goField{}, nil
	}
	name, options, _ := strings.Cut(tag, ",")
	inner := f.Type
	if inner.Kind() == reflect.Pointer {
		inner = inner.Elem()
	}
	isStruct := f.Anonymous && inner.Kind() == reflect.Struct
	if !f.IsExported() && !isStruct {
		return goField{}, nil
	}
	if isStruct && name == "" {
		return goField{}, inner
	}
	if !f.IsExported() {
		return goField{}, nil
	}
	field = goField{StructField: f, name: name, tagged: name != "", depth: depth}
	words := strings.Split(options, ",")
	field.quoted = slices.Contains(words, "string")
	field.neverOmitted = !slices.Contains(words, "omitempty") && !slices.Contains(words, "omitzero")
	if name == "" {
		field.name = f.Name
	}
	return field, nil
}

// dominantFields returns the candidates that encoding/json encodes. Of several candidates with the same name,
// encoding/json considers only those nearest to the root and, if some of these have a name in their tag, only those
// with a name in their tag. If more than one candidate remains, encoding/json encodes none of them.
func dominantFields(candidates []goField) []goField {
	groups := map[string][]goField{}
	var names []string
	for _, f := range candidates {
		if groups[f.name] == nil {
			names = append(names, f.name)
		}
		groups[f.name] = append(groups[f.name], f)
	}
	var kept []goField
	for _, name := range names {
		group := groups[name]
		slices.SortStableFunc(group, func(a, b goField) int {
			if a.depth != b.depth {
				return a.depth - b.depth
			}
			return rank(a) - rank(b)
		})
		if len(group) == 1 || group[0].depth != group[1].depth || group[0].tagged != group[1].tagged {
			kept = append(kept, group[0])
		}
	}
	return kept
}

// rank returns 0 for a field with a name in its json tag, which has precedence, otherwise 1.
func rank(f goField) int {
	if f.tagged {
		return 0
	}
	return 1
}

// zeroDefault returns the default that Kubernetes' schema generators declare for a field: the zero value of a scalar
// that is always encoded, and {} for a struct. It is absent for other fields, and for types with custom JSON, because
// these types decode null to their zero value.
func zeroDefault(t reflect.Type, neverOmitted bool) document.Value {
	switch kind := t.Kind(); {
	case kind == reflect.Pointer, fillCustomJSON(&unlinkedType{}, t):
	case kind == reflect.Struct && t.NumField() == 1 && t.Field(0).Anonymous:
		return zeroDefault(t.Field(0).Type, neverOmitted)
	case kind == reflect.Struct:
		return document.NewMap()
	case !neverOmitted:
	case kind == reflect.String:
		return document.NewString("")
	case kind == reflect.Bool:
		return document.NewBool(false)
	case reflect.Int <= kind && kind <= reflect.Float64:
		return document.NewInt(0)
	}
	return document.Value{}
}
