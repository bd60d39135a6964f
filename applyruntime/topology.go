package applyruntime

import (
	"encoding/json"
	"reflect"
	"strings"
	"sync"
)

// structInfo describes a generated struct. It is immutable and cached by type.
type structInfo struct {
	fields []fieldInfo
	byName map[string]int
	// marks are the indexes of the fields UnsetMarks of the struct and of the structs inlined in it.
	marks [][]int
	// atomic means that the struct is owned as a whole wherever it is: UnsetMarks has the tag merge:"atomic".
	atomic bool
}

// fieldInfo describes a field of a generated struct.
type fieldInfo struct {
	name      string
	typ       reflect.Type
	index     []int
	omitEmpty bool
	topology  topology
}

// topology is the parsed struct tag merge: the list type or map type of a field.
type topology struct {
	atomic, set bool
	keys        []key
}

// key is a key of a list of type map, with its default; nil if it has none.
type key struct {
	name         string
	defaultValue any
}

var (
	infos      sync.Map // reflect.Type → *structInfo
	marksType  = reflect.TypeFor[*Marks]()
	marshalers = reflect.TypeFor[json.Marshaler]()
)

// infoOf returns the description of a generated struct, nil for any other type.
func infoOf(t reflect.Type) *structInfo {
	if t.Kind() != reflect.Struct {
		return nil
	}
	if cached, ok := infos.Load(t); ok {
		return cached.(*structInfo)
	}
	var info *structInfo
	if marks, ok := t.FieldByName("UnsetMarks"); ok && len(marks.Index) == 1 && marks.Type == marksType {
		info = &structInfo{byName: map[string]int{}, atomic: marks.Tag.Get("merge") == "atomic"}
		info.add(t, nil)
	}
	infos.Store(t, info)
	return info
}

// add adds the fields of the struct t. parent is the index path of t in the described struct; it is nil for the described struct itself.
func (s *structInfo) add(t reflect.Type, parent []int) {
	for i := range t.NumField() {
		f := t.Field(i)
		index := append(append([]int{}, parent...), i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Type == marksType:
			s.marks = append(s.marks, index)
		case name == "-" || !f.IsExported():
		case f.Anonymous && name == "":
			s.add(indirect(f.Type), index)
		case name != "":
			if _, shadowed := s.byName[name]; shadowed {
				continue
			}
			s.byName[name] = len(s.fields)
			s.fields = append(s.fields, fieldInfo{name, f.Type, index, strings.Contains(options, "omitempty"), readTopology(f)})
		}
	}
}

func indirect(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// isAtomic reports whether a type is a generated struct that is atomic.
func isAtomic(t reflect.Type) bool {
	if t == nil {
		return false
	}
	info := infoOf(indirect(t))
	return info != nil && info.atomic
}

// readTopology parses the struct tag merge of a field.
func readTopology(f reflect.StructField) topology {
	word, keys, _ := strings.Cut(f.Tag.Get("merge"), ",")
	t := topology{atomic: word == "atomic", set: word == "set"}
	kind := indirect(f.Type).Kind()
	if word != "map" {
		t.atomic = t.atomic || kind == reflect.Slice && !t.set
		return t
	}
	if kind != reflect.Slice || indirect(indirect(f.Type).Elem()).Kind() != reflect.Struct {
		return topology{atomic: true} // only structs have keys
	}
	item := indirect(indirect(f.Type).Elem())
	for text := range strings.SplitSeq(keys, ",") {
		name, value, hasDefault := strings.Cut(text, "=")
		k := key{name: name}
		if hasDefault {
			k.defaultValue = defaultOf(item, name, value)
		}
		t.keys = append(t.keys, k)
	}
	return t
}

// defaultOf returns the default of a list map key as a decoded JSON value. text is the default in the struct tag: JSON, but strings without
// quotes.
func defaultOf(item reflect.Type, name, text string) any {
	for i := range item.NumField() {
		f := item.Field(i)
		if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag == name && indirect(f.Type).Kind() == reflect.String {
			return text
		}
	}
	if value, err := decode([]byte(text)); err == nil {
		return value
	}
	return text
}

// field returns the field of a struct, and false if it is in an inlined struct that is nil.
func field(v reflect.Value, index []int) (reflect.Value, bool) {
	for _, i := range index {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return reflect.Value{}, false
			}
			v = v.Elem()
		}
		v = v.Field(i)
	}
	return v, true
}

// marksOf returns the union of the marks of a struct and of the structs inlined in it, nil if there are none.
func (s *structInfo) marksOf(v reflect.Value) *Marks {
	var all *Marks
	for _, index := range s.marks {
		f, ok := field(v, index)
		if !ok || f.IsNil() {
			continue
		}
		m := f.Interface().(*Marks)
		if all == nil {
			all = m
			continue
		}
		all = all.union(m)
	}
	return all
}

// union returns new marks with those of m and other.
func (m *Marks) union(other *Marks) *Marks {
	all := &Marks{Item: m.Item || other.Item}
	for _, from := range []*Marks{m, other} {
		for _, name := range from.Fields {
			all = all.WithField(name)
		}
		for name, keys := range from.Entries {
			for _, k := range keys {
				all = all.WithEntry(name, k)
			}
		}
	}
	return all
}
