package client

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Configuration is an apply configuration with unset markers, which client-go's structs cannot contain.
// controller-runtime's client applies the Configuration itself; for the dynamic client convert it with Unstructured; with
// a typed client, send its JSON with Patch.
type Configuration struct {
	content map[string]any
	// schema is the Go type of the configuration that the markers were added to.
	schema reflect.Type
}

// Unset returns a copy of config with an unset marker (KEP-5051) at a path. config is an apply configuration of client-go
// or of another generator, or the result of Unset:
//
//	config, err := client.Unset(deployment, "spec", "replicas")
//	config, err = client.Unset(config, "spec", "template", "spec", "containers", "name=proxy")
//
// Path elements are JSON names of fields, keys of maps and, for list items, their list map keys with values, such as
// name=proxy or containerPort=80,protocol=TCP. A value with a comma requires JSON: {"name":"a,b"}. An item that the
// configuration does not contain is added. The marker replaces the value at the path.
//
// Unset returns an error with the path if the type of the configuration has no such field. The server checks that the
// list keys are those of the list, and that no marker is inside of an atomic value.
func Unset(config runtime.ApplyConfiguration, path ...string) (*Configuration, error) {
	marked, err := newConfiguration(config)
	if err != nil {
		return nil, err
	}
	if len(path) == 0 {
		return nil, fmt.Errorf("client: expected the path of a field to unset, received none; delete the object instead")
	}
	content, err := setMarker(marked.content, marked.schema, nil, path)
	if err != nil {
		return nil, err
	}
	marked.content = content.(map[string]any)
	return marked, nil
}

// newConfiguration returns a deep copy of a configuration.
func newConfiguration(config runtime.ApplyConfiguration) (*Configuration, error) {
	text, err := json.Marshal(config)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	content := map[string]any{}
	if err := decoder.Decode(&content); err != nil || content == nil {
		return nil, fmt.Errorf("client: expected an apply configuration, received %.60s", text)
	}
	if marked, ok := config.(*Configuration); ok {
		return &Configuration{content, marked.schema}, nil
	}
	return &Configuration{content, elem(reflect.TypeOf(config))}, nil
}

func elem(t reflect.Type) reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// setMarker returns v, a value of type t, with an unset marker at path, which is relative to v. parents is the path of v.
func setMarker(v any, t reflect.Type, parents, path []string) (any, error) {
	if len(path) == 0 {
		return map[string]any{"k8s_io__value": "unset"}, nil
	}
	name := path[0]
	parents = append(slices.Clone(parents), name)
	switch t = elem(t); {
	case t == nil || t.Kind() == reflect.Interface: // a value without a schema
		return setMarkerInField(v, nil, parents, path)
	case t.Kind() == reflect.Struct:
		field, known := jsonField(t, name)
		if !known {
			return nil, fmt.Errorf("client: %s: expected a field of %s, received %q; use the name in JSON", strings.Join(parents, "."), t.Name(), name)
		}
		return setMarkerInField(v, field, parents, path)
	case t.Kind() == reflect.Map:
		return setMarkerInField(v, t.Elem(), parents, path)
	case t.Kind() == reflect.Slice:
		return setMarkerInItem(v, elem(t.Elem()), parents, path)
	}
	return nil, fmt.Errorf("client: %s: expected the path of a field, received a path inside of a %s", strings.Join(parents, "."), t)
}

// setMarkerInField returns v, a map or struct, with an unset marker at path, whose first element is a field of type t.
func setMarkerInField(v any, t reflect.Type, parents, path []string) (any, error) {
	content, ok := v.(map[string]any)
	if !ok {
		content = map[string]any{}
	}
	value, err := setMarker(content[path[0]], t, parents, path[1:])
	if err != nil {
		return nil, err
	}
	content[path[0]] = value
	return content, nil
}

// setMarkerInItem returns v, a list with items of type t, with an unset marker at path, whose first element selects an item.
func setMarkerInItem(v any, t reflect.Type, parents, path []string) (any, error) {
	keys, err := readKeys(t, path[0])
	if err != nil {
		return nil, fmt.Errorf("client: %s: %w", strings.Join(parents, "."), err)
	}
	list, _ := v.([]any)
	i := slices.IndexFunc(list, func(item any) bool { return hasKeys(item, keys) })
	if i < 0 {
		i = len(list)
		list = append(list, keys)
	}
	if len(path) == 1 {
		keys["k8s_io__value"] = "unset"
		list[i] = keys
		return list, nil
	}
	list[i], err = setMarker(list[i], t, parents, path[1:])
	return list, err
}

// readKeys parses the path element of a list item, and returns the list map keys and their values.
func readKeys(t reflect.Type, element string) (map[string]any, error) {
	if t == nil || t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("expected a list of items with keys, received a list of %v; unset the whole list", t)
	}
	keys := map[string]any{}
	if strings.HasPrefix(element, "{") {
		decoder := json.NewDecoder(strings.NewReader(element))
		decoder.UseNumber()
		if err := decoder.Decode(&keys); err != nil {
			return nil, fmt.Errorf("expected list keys, received %q: %w", element, err)
		}
	} else {
		for pair := range strings.SplitSeq(element, ",") {
			name, value, ok := strings.Cut(pair, "=")
			if !ok {
				return nil, fmt.Errorf("expected list keys such as name=web, received %q", element)
			}
			keys[name] = value
			if field, known := jsonField(t, name); known && elem(field).Kind() != reflect.String {
				keys[name] = json.Number(value)
			}
		}
	}
	for name, value := range keys {
		field, known := jsonField(t, name)
		if !known {
			return nil, fmt.Errorf("expected list keys that are fields of %s, received %q", t.Name(), name)
		}
		text, err := json.Marshal(value)
		if err == nil {
			err = json.Unmarshal(text, reflect.New(elem(field)).Interface())
		}
		if err != nil {
			return nil, fmt.Errorf("expected a value of type %s for the list key %s, received %v", elem(field), name, value)
		}
	}
	return keys, nil
}

// hasKeys reports whether a list item has all the keys with the same values.
func hasKeys(item any, keys map[string]any) bool {
	content, ok := item.(map[string]any)
	for name, value := range keys {
		ok = ok && content[name] == value
	}
	return ok && len(keys) > 0
}

// jsonField returns the type of the field with the given JSON name in the struct t or in its inlined structs.
func jsonField(t reflect.Type, name string) (reflect.Type, bool) {
	for i := range t.NumField() {
		f := t.Field(i)
		json, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case json == name && json != "-" && json != "":
			return f.Type, true
		case f.Anonymous && json == "" && elem(f.Type).Kind() == reflect.Struct:
			if field, known := jsonField(elem(f.Type), name); known {
				return field, true
			}
		}
	}
	return nil, false
}

// IsApplyConfiguration marks the type as an apply configuration.
func (c *Configuration) IsApplyConfiguration() {}

// MarshalJSON returns the configuration with its markers.
func (c *Configuration) MarshalJSON() ([]byte, error) { return json.Marshal(c.content) }

// Unstructured returns a copy of the configuration with its markers, for the dynamic client.
func (c *Configuration) Unstructured() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: withoutNumbers(c.content).(map[string]any)}
}

// withoutNumbers returns a deep copy in which numbers are int64 or float64, as in unstructured objects.
func withoutNumbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		content := make(map[string]any, len(v))
		for name, value := range v {
			content[name] = withoutNumbers(value)
		}
		return content
	case []any:
		items := make([]any, len(v))
		for i, item := range v {
			items[i] = withoutNumbers(item)
		}
		return items
	case json.Number:
		if i, err := strconv.ParseInt(v.String(), 10, 64); err == nil {
			return i
		}
		f, _ := v.Float64() // a number that JSON decoding has accepted
		return f
	}
	return v
}

// GetKind returns the kind, nil if the configuration has none.
func (c *Configuration) GetKind() *string { return c.text("kind") }

// GetAPIVersion returns the apiVersion, nil if the configuration has none.
func (c *Configuration) GetAPIVersion() *string { return c.text("apiVersion") }

// GetName returns the name of the object, nil if the configuration has none.
func (c *Configuration) GetName() *string { return c.text("metadata", "name") }

// GetNamespace returns the namespace of the object, nil if the configuration has none.
func (c *Configuration) GetNamespace() *string { return c.text("metadata", "namespace") }

func (c *Configuration) text(path ...string) *string {
	text, found, err := unstructured.NestedString(c.content, path...)
	if !found || err != nil {
		return nil
	}
	return &text
}
