package structural

import "maps"

// customObject generates an object that mostly matches schema.
func (m maker) customObject(schema object) object {
	obj, _ := m.value(schema, 6).(object)
	if obj == nil {
		obj = object{}
	}
	obj["apiVersion"], obj["kind"] = "example.com/v1", "Thing"
	obj["metadata"] = m.metadata()
	if m.oneIn(40) {
		obj[pick(m, "apiVersion", "kind")] = m.anything(1)
	}
	if m.oneIn(8) {
		obj["status"] = object{"replicas": pick[any](m, -1, 3, "3", nil, 1<<40), "selector": pick[any](m, "a=b", 3, nil)}
	}
	return obj
}

func (m maker) metadata() any {
	metadata := object{"name": pick(m, "a", "b.c", "b.c", "Upper"), "namespace": "default", "resourceVersion": "7"}
	m.maybe(metadata, 5, "labels", object{"a": "b"})
	m.maybe(metadata, 9, "labels", object{"a": pick[any](m, 3, "!", nil)})
	m.maybe(metadata, 9, "annotations", object{"a": "b", "A//": "c"})
	m.maybe(metadata, 9, "finalizers", []any{"a/b", "c"})
	m.maybe(metadata, 9, "foo", "bar")
	m.maybe(metadata, 20, "generation", "x")
	return metadata
}

// value generates a value that mostly matches the schema s.
func (m maker) value(s object, depth int) any {
	if m.oneIn(25) {
		return m.anything(2)
	}
	if s["nullable"] == true && m.oneIn(5) || m.oneIn(30) {
		return nil
	}
	if fallback, ok := s["default"]; ok && m.oneIn(4) {
		return fallback
	}
	switch s["type"] {
	case "object":
		return m.objectOf(s, depth)
	case "array":
		return m.listOf(s, depth)
	case nil:
		if s["x-kubernetes-int-or-string"] != true {
			return m.anything(2)
		}
	}
	return m.scalarOf(s)
}

func (m maker) scalarOf(s object) any {
	if values, ok := s["enum"].([]any); ok && m.oneIn(2) {
		return pick(m, values...)
	}
	switch s["type"] {
	case "boolean":
		return m.oneIn(2)
	case "integer":
		return m.IntN(7) - 1
	case "number":
		return pick[any](m, 0, 1, 2, 2.5, 0.25, 3.0, 1e20, 4e38)
	case "string":
		return m.text()
	}
	return pick[any](m, 1, 3, 97, "a", "12", "abcdef")
}

func (m maker) text() string {
	return pick(m, "", "a", "b", "abc", "abcdef", "é", "2020-01-02", "2020-01-02T03:04:05Z", "1.2.3.4", "::1", "1h", "YQ==", "a@b.c", "10.0.0.0/8",
		"http://a/b", "f47ac10b-58cc-4372-a567-0e02b2c3d479", "A_")
}

func (m maker) objectOf(s object, depth int) object {
	obj := object{}
	properties, _ := s["properties"].(object)
	for _, name := range names(properties) {
		property := properties[name]
		if !m.oneIn(3) {
			obj[name] = m.value(property.(object), depth-1)
		}
	}
	if additional, ok := s["additionalProperties"].(object); ok {
		for range m.IntN(3) {
			obj[m.name()] = m.value(additional, depth-1)
		}
	}
	if m.oneIn(10) {
		obj[m.name()] = m.anything(2)
	}
	if s["x-kubernetes-embedded-resource"] == true {
		obj["apiVersion"], obj["kind"], obj["metadata"] = "v1", "Pod", m.metadata()
		switch m.IntN(8) {
		case 0:
			delete(obj, "kind")
		case 1:
			obj["kind"] = pick[any](m, "", "a b", "x", 3)
		case 2:
			obj["apiVersion"] = pick[any](m, "", "a/b/c", nil)
		case 3:
			obj["metadata"] = pick[any](m, nil, "x", object{"namespace": "$$", "labels": object{"#": "#"}, "generateName": "."})
		}
	}
	return obj
}

func (m maker) listOf(s object, depth int) []any {
	items, _ := s["items"].(object)
	list := []any{}
	for range m.IntN(4) {
		list = append(list, m.value(items, depth-1))
	}
	if len(list) > 1 && m.oneIn(8) {
		list[1] = clone(list[0])
	}
	return list
}

// anything generates a value that need not match any schema.
func (m maker) anything(depth int) any {
	switch m.IntN(8) {
	case 0:
		return nil
	case 1:
		return m.oneIn(2)
	case 2:
		return m.IntN(10)
	case 3:
		return 1.5
	case 4:
		if depth > 0 {
			return []any{m.anything(depth - 1), m.anything(depth - 1)}
		}
	case 5, 6:
		if depth > 0 {
			return object{m.name(): m.anything(depth - 1), "zz": m.anything(depth - 1)}
		}
	}
	return m.text()
}

// changed returns a copy of v with random changes. s is its schema.
func (m maker) changed(v any, s object, depth int) any {
	if m.oneIn(6) {
		return m.value(s, depth)
	}
	switch v := v.(type) {
	case object:
		c := maps.Clone(v)
		properties, _ := s["properties"].(object)
		for _, name := range names(c) {
			property, ok := properties[name].(object)
			if !ok {
				property, ok = s["additionalProperties"].(object)
			}
			switch {
			case ok && m.oneIn(3):
				c[name] = m.changed(c[name], property, depth-1)
			case m.oneIn(20):
				delete(c, name)
			}
		}
		return c
	case []any:
		c := append([]any{}, v...)
		items, _ := s["items"].(object)
		for i := range c {
			if m.oneIn(3) {
				c[i] = m.changed(c[i], items, depth-1)
			}
		}
		if len(c) > 1 && m.oneIn(4) {
			c[0], c[1] = c[1], c[0]
		}
		return c
	}
	return v
}

// changedObject returns a copy of obj with random changes, but not in apiVersion, kind and metadata.
func (m maker) changedObject(obj, schema object) object {
	next, ok := m.changed(obj, schema, 6).(object)
	if !ok {
		next = maps.Clone(obj)
	}
	for _, name := range []string{"apiVersion", "kind", "metadata"} {
		next[name] = obj[name]
	}
	return next
}
