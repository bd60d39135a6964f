package oracle

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// change is one thing that is done to an object: another value at a place, or none.
type change struct {
	At    string // a JSON pointer
	Value any    // removed if it is absent, which is what gone stands for
}

type goneType struct{}

var gone = goneType{}

func (c change) String() string {
	if c.Value == gone {
		return c.At + "\t"
	}
	text, _ := json.Marshal(c.Value)
	return c.At + "\t" + string(text)
}

var long = strings.Repeat("a", 300)

// changes returns what can be done to a value that was decoded from JSON, and to all in it.
func changes(at string, v any) (list []change) {
	add := func(values ...any) {
		for _, value := range values {
			list = append(list, change{at, value})
		}
	}
	if at != "" {
		add(gone)
	}
	switch v := v.(type) {
	case map[string]any:
		add(map[string]any{})
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			list = append(list, changes(at+"/"+escape(name), v[name])...)
		}
	case []any:
		add([]any{})
		if len(v) > 0 {
			add(append(slices.Clone(v), v[0]), append(slices.Clone(v), map[string]any{}))
		}
		for i := range v {
			list = append(list, changes(at+"/"+strconv.Itoa(i), v[i])...)
		}
	case string:
		add("", "other", "Not_Valid!", "a/b", "../x", "/abs", "-1", "10", "150%", "1.2.3.4", "10.0.0.0/8", long, " x ", "kubernetes.io/x", "example.com/y", "A.b", "a.b", "*", "None", "Always", "Never")
	case float64:
		add(0, 1, -1, 70000, 3000000000, "x", "50%", v+1)
	case bool:
		add(!v)
	}
	return list
}

func escape(name string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(name) }

func unescape(name string) string { return strings.NewReplacer("~1", "/", "~0", "~").Replace(name) }

// apply returns a copy of a value with a change made.
func apply(v any, c change) any {
	if c.At == "" {
		return c.Value
	}
	steps := strings.Split(c.At[1:], "/")
	return replace(v, steps, c.Value)
}

func replace(v any, steps []string, value any) any {
	if len(steps) == 0 {
		return value
	}
	name := unescape(steps[0])
	switch v := v.(type) {
	case map[string]any:
		copied := make(map[string]any, len(v)+1)
		for key, old := range v {
			copied[key] = old
		}
		if len(steps) == 1 && value == any(gone) {
			delete(copied, name)
		} else {
			copied[name] = replace(v[name], steps[1:], value)
		}
		return copied
	case []any:
		i, err := strconv.Atoi(name)
		if err != nil || i >= len(v) {
			return v
		}
		if len(steps) == 1 && value == any(gone) {
			return slices.Delete(slices.Clone(v), i, i+1)
		}
		copied := slices.Clone(v)
		copied[i] = replace(v[i], steps[1:], value)
		return copied
	case nil:
		return map[string]any{name: replace(nil, steps[1:], value)}
	}
	return v
}
