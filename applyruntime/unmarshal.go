package applyruntime

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
)

// Unmarshal reads JSON into a pointer to a generated struct. Unset markers become marks. Names are case-sensitive, and
// fields that the struct does not have are ignored.
func Unmarshal(data []byte, config any) error {
	tree, err := decode(data)
	if err != nil {
		return err
	}
	return assign(tree, config)
}

// assign sets a pointer to a generated struct to a decoded JSON document.
func assign(tree, config any) error {
	v := reflect.ValueOf(config)
	if v.Kind() != reflect.Pointer || v.IsNil() || infoOf(v.Type().Elem()) == nil {
		return &Error{Expected: "a pointer to a generated apply configuration", Received: fmt.Sprintf("%T", config)}
	}
	return setValue(v.Elem(), tree, topology{})
}

// decode decodes JSON with numbers of any precision.
func decode(data []byte) (tree any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(&tree); err != nil {
		return nil, err
	}
	if decoder.More() {
		return nil, &Error{Expected: "one JSON document", Received: "more"}
	}
	return tree, nil
}

// isMarker reports whether a value is an unset marker without keys.
func isMarker(tree any) bool {
	m, ok := tree.(map[string]any)
	return ok && len(m) == 1 && m[MarkerKey] == MarkerValue
}

// setValue sets v to a decoded value.
func setValue(v reflect.Value, tree any, t topology) error {
	element := indirect(v.Type())
	if element.Kind() == reflect.Slice || element.Kind() == reflect.Map {
		element = indirect(element.Elem())
	}
	info := infoOf(element)
	if info == nil || tree == nil {
		text, err := json.Marshal(tree)
		if err != nil {
			return err
		}
		return json.Unmarshal(text, v.Addr().Interface())
	}
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		v = v.Elem()
	}
	switch content := tree.(type) {
	case map[string]any:
		switch v.Kind() {
		case reflect.Struct:
			return setStruct(v, info, content)
		case reflect.Map:
			return setMap(v, content)
		}
	case []any:
		if v.Kind() == reflect.Slice {
			return setList(v, content, t)
		}
	}
	return &Error{Expected: "a value of type " + v.Type().String(), Received: fmt.Sprintf("%T", tree)}
}

// setStruct sets the fields and marks of a generated struct.
func setStruct(v reflect.Value, info *structInfo, content map[string]any) error {
	var marks *Marks
	for name, tree := range content {
		i, known := info.byName[name]
		if !known {
			continue
		}
		f := &info.fields[i]
		if isMarker(tree) {
			marks = marks.WithField(name)
			continue
		}
		target := allocatedField(v, f.index)
		if entries, ok := tree.(map[string]any); ok && indirect(target.Type()).Kind() == reflect.Map && !f.topology.atomic {
			entries, marks = withoutMarkers(entries, name, marks)
			if len(entries) == 0 && len(marks.EntriesOf(name)) > 0 {
				continue
			}
			tree = entries
		}
		if err := setValue(target, tree, f.topology); err != nil {
			return prefixPath(name, err)
		}
	}
	if marks != nil {
		v.FieldByName("UnsetMarks").Set(reflect.ValueOf(marks))
	}
	return nil
}

// allocatedField returns the field at an index path, and allocates inlined structs on the way.
func allocatedField(v reflect.Value, index []int) reflect.Value {
	for _, i := range index {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				v.Set(reflect.New(v.Type().Elem()))
			}
			v = v.Elem()
		}
		v = v.Field(i)
	}
	return v
}

// withoutMarkers splits the entries of a map into values and marks.
func withoutMarkers(entries map[string]any, field string, marks *Marks) (map[string]any, *Marks) {
	values := make(map[string]any, len(entries))
	for k, value := range entries {
		if isMarker(value) {
			marks = marks.WithEntry(field, k)
			continue
		}
		values[k] = value
	}
	return values, marks
}

func setMap(v reflect.Value, content map[string]any) error {
	entries := reflect.MakeMapWithSize(v.Type(), len(content))
	for k, tree := range content {
		value := reflect.New(v.Type().Elem()).Elem()
		if err := setValue(value, tree, topology{}); err != nil {
			return prefixPath("["+strconv.Quote(k)+"]", err)
		}
		entries.SetMapIndex(reflect.ValueOf(k).Convert(v.Type().Key()), value)
	}
	v.Set(entries)
	return nil
}

func setList(v reflect.Value, content []any, t topology) error {
	items := reflect.MakeSlice(v.Type(), len(content), len(content))
	for i, tree := range content {
		if err := setValue(items.Index(i), tree, topology{}); err != nil {
			return prefixPath("["+strconv.Itoa(i)+"]", err)
		}
		item, isMap := tree.(map[string]any)
		if isMap && len(t.keys) > 0 && item[MarkerKey] == MarkerValue {
			marks := reflect.Indirect(items.Index(i)).FieldByName("UnsetMarks")
			marks.Set(reflect.ValueOf(marks.Interface().(*Marks).WithItem()))
		}
	}
	v.Set(items)
	return nil
}
