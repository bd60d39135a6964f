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
	tagged       bool
	quoted       bool // the tag's option "string": a scalar that is encoded in quotes
	neverOmitted bool // encoded even if it is zero
	depth        int
}

// readStruct returns the JSON fields of a struct.
func (g *goReader) readStruct(t reflect.Type, at *location, depth int) []fieldDraft {
	var fields []fieldDraft
	for _, f := range dominant(g.candidates(t)) {
		at := at.field(f.name)
		tg := tags{f.Tag.Get("patchStrategy"), f.Tag.Get("patchMergeKey")}
		d := g.read(f.Type, tg, at, depth+1)
		defaultValue := zeroDefault(f.Type, f.neverOmitted)
		if f.quoted && d.scalar != NoScalar && d.list == nil && d.fields == nil {
			d, defaultValue = &draft{scalar: String}, document.Value{}
		}
		fields = append(fields, fieldDraft{f.name, ref{to: d, at: at}, defaultValue})
	}
	return fields
}

// candidates returns the fields of a struct and of all embedded structs, level by level. A struct that is also embedded
// on a level nearer to the root is skipped, because the fields of the nearer one have precedence.
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

// readField reads the JSON tag of a field. A field that is not in the JSON has an empty name; if it is an embedded
// struct whose fields are promoted, the struct is returned.
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

// dominant returns the candidates that encoding/json encodes: of those with the same name the nearest to the root, then
// the one with a tag. If several remain, none of them is encoded.
func dominant(candidates []goField) []goField {
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

func rank(f goField) int {
	if f.tagged {
		return 0
	}
	return 1
}

// zeroDefault returns the default of a field that has a value in Go if the JSON has none, as Kubernetes' schema
// generators declare it. Types with custom JSON have no default, because they decode null to their zero value.
func zeroDefault(t reflect.Type, neverOmitted bool) document.Value {
	switch kind := t.Kind(); {
	case kind == reflect.Pointer, fillCustomJSON(&draft{}, t):
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
