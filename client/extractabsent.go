package client

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/ownership"
)

// AbsentFieldsError is returned by [Extract] if the field manager owns absent fields, because it has applied unset markers, and the
// type of the configuration cannot contain the markers.
type AbsentFieldsError struct {
	Manager         string
	Namespace, Name string
	// Paths are the absent fields, as FieldsV1 paths such as .spec.replicas.
	Paths []string
}

func (e *AbsentFieldsError) Error() string {
	name := e.Name
	if e.Namespace != "" {
		name = e.Namespace + "/" + name
	}
	return fmt.Sprintf("client: %s: expected a configuration type that has unset markers, because field manager %q has unset %s; "+
		"applying a configuration without the markers would release these fields; extract the configuration from an unstructured object",
		name, e.Manager, strings.Join(e.Paths, ", "))
}

// extractedEntry returns the managed fields entry from which an extract function extracts the configuration of a manager. A manager
// has one entry per subresource, and only the function determines which one it extracts. Therefore extractedEntry calls it once per
// entry, with a copy of the object in which the entry owns only the label probe, and returns the entry for which the function
// extracts that label. ok is false if there is no such entry.
func extractedEntry[O metav1.Object, C any](object O, entries []apply.Entry, manager string, extract func(O, string) (C, error)) (entry apply.Entry, ok bool) {
	const label = "cadastre.invalid/probe"
	copier, copies := any(object).(runtime.Object)
	for _, e := range entries {
		if e.Manager != manager || e.Operation != apply.Apply {
			continue
		}
		if !copies {
			return e, e.Subresource == ""
		}
		probe, isSame := copier.DeepCopyObject().(O)
		if !isSame {
			continue
		}
		fields := &metav1.FieldsV1{}
		if err := fields.UnmarshalJSON([]byte(`{"f:metadata":{"f:labels":{"f:` + label + `":{}}}}`)); err != nil {
			continue
		}
		probe.SetLabels(map[string]string{label: "true"})
		probe.SetManagedFields([]metav1.ManagedFieldsEntry{{
			Manager: e.Manager, Operation: metav1.ManagedFieldsOperationApply, APIVersion: e.APIVersion, Subresource: e.Subresource,
			FieldsType: "FieldsV1", FieldsV1: fields,
		}})
		if config, err := extract(probe, manager); err == nil {
			if text, err := json.Marshal(config); err == nil && bytes.Contains(text, []byte(label)) {
				return e, true
			}
		}
	}
	return entry, false
}

// absentFields returns the paths in a field set at which an object has no value, without paths below other absent paths. goType is
// the type of the object before it was encoded as JSON.
func absentFields(doc document.Value, fields fieldset.Set, goType reflect.Type) (absent []fieldset.Path) {
	for path := range fields.All() {
		if len(absent) > 0 && len(path) > len(absent[len(absent)-1]) && path[:len(absent[len(absent)-1])].Equal(absent[len(absent)-1]) {
			continue
		}
		isText := len(path) == 2 && path[0].Kind() == fieldset.FieldName && path[0].Name() == "stringData"
		if !ownership.ValueAt(doc, path).IsAbsent() || !canBeAbsent(goType, path) || isText && !ownership.ValueAt(doc.Get("data"), path[1:]).IsAbsent() {
			continue
		}
		absent = append(absent, append(fieldset.Path(nil), path...))
	}
	return absent
}

// canBeAbsent reports whether a missing field in the JSON of a Go value means that the object lacks the field. JSON with
// omitempty also omits the number 0 and false if they are not pointers, and empty maps and lists.
func canBeAbsent(t reflect.Type, path fieldset.Path) bool {
	for i, e := range path {
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		switch t.Kind() {
		case reflect.Struct:
			if e.Kind() != fieldset.FieldName {
				return false
			}
			field, found := jsonField(t, e.Name())
			if !found {
				return true // the type declares no such field, as for unstructured objects
			}
			t = field
		case reflect.Map, reflect.Slice:
			if t = t.Elem(); i == len(path)-1 || t.Kind() == reflect.Interface {
				return true // the map entry or list item itself is missing
			}
		default:
			return true
		}
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.String, reflect.Interface:
		return true
	}
	return false
}

// withAbsent returns a configuration with unset markers at the given paths. ok is false if its type cannot contain them.
func withAbsent[C any](config C, paths []fieldset.Path) (with C, ok bool) {
	text, err := json.Marshal(config)
	if err != nil {
		return with, false
	}
	doc, err := document.ParseJSON(string(text))
	if err != nil {
		return with, false
	}
	for _, path := range paths {
		if doc, ok = withAbsentAt(doc, path); !ok {
			return with, false
		}
	}
	if err := json.Unmarshal([]byte(doc.JSON()), &with); err != nil {
		return with, false
	}
	if text, err = json.Marshal(with); err != nil {
		return with, false
	}
	decoded, err := document.ParseJSON(string(text))
	return with, err == nil && document.Equal(decoded, doc) // decoding into a struct drops the markers without an error
}

// withAbsentAt returns a value of a configuration with an unset marker at a path. ok is false if there is a value at the path, or
// if the path contains an item of a list of type set.
func withAbsentAt(v document.Value, path fieldset.Path) (with document.Value, ok bool) {
	if len(path) == 0 {
		if v.IsAbsent() {
			v = document.NewMap()
		}
		return v.With(apply.UnsetMarkerKey, document.NewString(apply.UnsetMarkerValue)), v.Kind() == document.Map
	}
	e := path[0]
	switch {
	case e.Kind() == fieldset.FieldName && (v.IsAbsent() || v.Kind() == document.Map):
		if v.IsAbsent() {
			v = document.NewMap()
		}
		field, ok := withAbsentAt(v.Get(e.Name()), path[1:])
		return v.With(e.Name(), field), ok
	case e.Kind() == fieldset.Key && (v.IsAbsent() || v.Kind() == document.List):
		item, index := ownership.ValueAt(v, path[:1]), v.Len()
		var items []document.Value
		for i, other := range v.Items() {
			if items = append(items, other); document.Same(other, item) {
				index = i
			}
		}
		if item.IsAbsent() {
			item = document.NewMap()
			for _, key := range e.KeyFields() {
				item = item.With(key.Name, key.Value)
			}
			items = append(items, item)
		}
		if items[index], ok = withAbsentAt(item, path[1:]); !ok {
			return v, false
		}
		return document.NewList(items...), true
	}
	return v, false
}
