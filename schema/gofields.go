package schema

import (
	"reflect"
	"slices"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// goField is a field of a Go struct, or of a struct that it embeds, as a candidate
// for a field of the JSON.
type goField struct {
	reflect.StructField
	name   string
	tagged bool
	text   bool // the tag's option "string": a scalar written in quotes
	always bool // written even if it is zero
	depth  int
}

// readStruct returns the fields that the JSON of a struct has.
func (g *goReader) readStruct(t reflect.Type, at *place, depth int) []fieldDraft {
	var fields []fieldDraft
	for _, f := range dominant(g.candidates(t)) {
		at := at.field(f.name)
		tg := tags{f.Tag.Get("patchStrategy"), f.Tag.Get("patchMergeKey")}
		d := g.read(f.Type, tg, at, depth+1)
		fallback := zeroDefault(f.Type, f.always)
		if f.text && d.scalar != NoScalar && d.list == nil && d.fields == nil {
			d, fallback = &draft{scalar: String}, document.Value{}
		}
		fields = append(fields, fieldDraft{f.name, ref{to: d, at: at}, fallback})
	}
	return fields
}

// candidates returns the fields of a struct and of all structs embedded in it,
// level by level. A struct that was embedded before, on a level nearer to the
// root, can not add a field that counts.
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

// readField reads the JSON tag of a field. A field that the JSON does not have gets
// no name; if it is a struct whose fields the JSON has instead, that is returned.
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
	field.text = slices.Contains(words, "string")
	field.always = !slices.Contains(words, "omitempty") && !slices.Contains(words, "omitzero")
	if name == "" {
		field.name = f.Name
	}
	return field, nil
}

// dominant keeps of the candidates with the same name the one that encoding/json
// takes: the nearest to the root, then the one with a tag. If that leaves several,
// the JSON has none of them.
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

// zeroDefault returns the default of a field that has a value in Go even if the
// JSON has none: the generators of Kubernetes' schemas declare the same. Types
// with a JSON of their own read null as their zero value, and have none.
func zeroDefault(t reflect.Type, always bool) document.Value {
	switch kind := t.Kind(); {
	case kind == reflect.Pointer, ownJSON(&draft{}, t):
	case kind == reflect.Struct && t.NumField() == 1 && t.Field(0).Anonymous:
		return zeroDefault(t.Field(0).Type, always)
	case kind == reflect.Struct:
		return document.NewMap()
	case !always:
	case kind == reflect.String:
		return document.NewString("")
	case kind == reflect.Bool:
		return document.NewBool(false)
	case reflect.Int <= kind && kind <= reflect.Float64:
		return document.NewInt(0)
	}
	return document.Value{}
}
