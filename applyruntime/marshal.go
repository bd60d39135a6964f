package applyruntime

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
)

const marker = `{"` + MarkerKey + `":"` + MarkerValue + `"}`

// Marshal returns the JSON of a pointer to a generated struct, with its marks as unset markers. Fields are in the order
// of the struct, entries of maps sorted.
func Marshal(config any) ([]byte, error) {
	v := reflect.ValueOf(config)
	if v.Kind() != reflect.Pointer || infoOf(v.Type().Elem()) == nil {
		return nil, &Error{Expected: "a pointer to a generated apply configuration", Received: fmt.Sprintf("%T", config)}
	}
	if v.IsNil() {
		return []byte("null"), nil
	}
	e := encoder{}
	if err := e.value(v.Elem(), topology{}, false); err != nil {
		return nil, err
	}
	return e.out.Bytes(), nil
}

type encoder struct{ out bytes.Buffer }

// value writes a value. inAtomic means that an enclosing value is atomic, so that the value must not contain marks.
func (e *encoder) value(v reflect.Value, t topology, inAtomic bool) error {
	for v.Kind() == reflect.Pointer && !v.IsNil() && (infoOf(v.Type().Elem()) != nil || !v.Type().Implements(marshalers)) {
		v = v.Elem()
	}
	element := v.Type()
	if v.Kind() == reflect.Slice || v.Kind() == reflect.Map {
		element = indirect(element.Elem())
	}
	info := infoOf(element)
	switch {
	case v.Kind() == reflect.Struct && info != nil:
		return e.structure(v, info, inAtomic || t.atomic)
	case v.Kind() == reflect.Slice && info != nil:
		return e.list(v, t, inAtomic || t.atomic)
	case v.Kind() == reflect.Map && info != nil:
		return e.entries(v, nil, inAtomic || t.atomic)
	}
	return e.plain(v)
}

// plain writes a value that cannot contain marks.
func (e *encoder) plain(v reflect.Value) error {
	if !v.Type().Implements(marshalers) {
		switch v.Kind() {
		case reflect.Bool:
			e.out.WriteString(strconv.FormatBool(v.Bool()))
			return nil
		case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
			e.out.WriteString(strconv.FormatInt(v.Int(), 10))
			return nil
		}
	}
	text, err := json.Marshal(v.Interface())
	e.out.Write(text)
	return err
}

// structure writes a generated struct.
func (e *encoder) structure(v reflect.Value, info *structInfo, inAtomic bool) error {
	marks := info.marksOf(v)
	inAtomic = inAtomic || info.atomic
	if inAtomic && marks != nil && (len(marks.Fields) > 0 || len(marks.Entries) > 0) {
		return markInAtomic()
	}
	if marks.isItem() {
		return &Error{Expected: "a mark of an item in a list of type map", Received: "one elsewhere; unset the field instead"}
	}
	e.out.WriteByte('{')
	first := true
	for i := range info.fields {
		f := &info.fields[i]
		value, ok := field(v, f.index)
		empty := !ok || f.omitEmpty && isEmpty(value)
		entries := marks.EntriesOf(f.name)
		if empty && len(entries) == 0 && !marks.HasField(f.name) {
			continue
		}
		e.name(f.name, &first)
		var err error
		switch {
		case len(entries) > 0:
			if f.topology.atomic {
				return prefixPath(f.name, markInAtomic())
			}
			err = e.entries(value, entries, inAtomic)
		case empty:
			e.out.WriteString(marker)
		default:
			err = e.value(value, f.topology, inAtomic)
		}
		if err != nil {
			return prefixPath(f.name, err)
		}
	}
	e.out.WriteByte('}')
	return nil
}

func markInAtomic() error {
	return &Error{Expected: "no mark inside of an atomic value, which is owned as a whole", Received: "one; unset the atomic field itself, or apply its new value"}
}

func (e *encoder) name(name string, first *bool) {
	if !*first {
		e.out.WriteByte(',')
	}
	*first = false
	text, _ := json.Marshal(name) // strings can always be marshalled
	e.out.Write(text)
	e.out.WriteByte(':')
}

// isEmpty reports whether omitempty omits a value.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}

// entries writes a map and the markers of the unset keys that it does not contain.
func (e *encoder) entries(v reflect.Value, unset []string, inAtomic bool) error {
	values := map[string]reflect.Value{}
	for _, k := range unset {
		values[k] = reflect.Value{}
	}
	v = reflect.Indirect(v)
	if v.IsValid() {
		for iter := v.MapRange(); iter.Next(); {
			values[iter.Key().String()] = iter.Value()
		}
	}
	e.out.WriteByte('{')
	first := true
	for _, k := range slices.Sorted(maps.Keys(values)) {
		e.name(k, &first)
		value := values[k]
		if !value.IsValid() {
			e.out.WriteString(marker)
			continue
		}
		if err := e.value(value, topology{}, inAtomic); err != nil {
			return prefixPath("["+strconv.Quote(k)+"]", err)
		}
	}
	e.out.WriteByte('}')
	return nil
}

// list writes a list of generated structs.
func (e *encoder) list(v reflect.Value, t topology, inAtomic bool) error {
	e.out.WriteByte('[')
	for i := range v.Len() {
		if i > 0 {
			e.out.WriteByte(',')
		}
		item := reflect.Indirect(v.Index(i))
		var err error
		switch {
		case !item.IsValid():
			e.out.WriteString("null")
		case infoOf(item.Type()).marksOf(item).isItem():
			err = e.unsetItem(item, t, inAtomic)
		default:
			err = e.value(item, topology{}, inAtomic)
		}
		if err != nil {
			return prefixPath("["+strconv.Itoa(i)+"]", err)
		}
	}
	e.out.WriteByte(']')
	return nil
}

// unsetItem writes the marker of an item with its keys. Other fields of the item are not written.
func (e *encoder) unsetItem(item reflect.Value, t topology, inAtomic bool) error {
	if inAtomic || len(t.keys) == 0 {
		return &Error{Expected: "a mark of an item in a list of type map", Received: "one in a list that is owned as a whole; apply the list without the item"}
	}
	info := infoOf(item.Type())
	e.out.WriteByte('{')
	first := true
	for _, k := range t.keys {
		i, known := info.byName[k.name]
		if !known {
			return &Error{Expected: "a list key that is a field of the item", Received: k.name}
		}
		value, ok := field(item, info.fields[i].index)
		switch {
		case ok && !isEmpty(value):
			e.name(k.name, &first)
			if err := e.plain(value); err != nil {
				return err
			}
		case k.defaultValue == nil:
			return &Error{Expected: "the key " + k.name + " of the item to unset", Received: "none"}
		}
	}
	e.name(MarkerKey, &first)
	e.out.WriteString(`"` + MarkerValue + `"}`)
	return nil
}
