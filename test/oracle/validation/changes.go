package oracle

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// change is a modification of an object: it replaces or removes the value at a path.
type change struct {
	At    string // a JSON pointer to the value
	Value any    // the new value; the value removed deletes it
}

type removedType struct{}

var removed = removedType{}

func (c change) String() string {
	if c.Value == removed {
		return c.At + "\t"
	}
	text, _ := json.Marshal(c.Value)
	return c.At + "\t" + string(text)
}

var long = strings.Repeat("a", 300)

// changes returns modifications of v, the JSON value at the pointer at, and of all values within it.
func changes(at string, v any) (list []change) {
	add := func(values ...any) {
		for _, value := range values {
			list = append(list, change{at, value})
		}
	}
	if at != "" {
		add(removed)
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

// readChanges reads additional modifications of objects from a file with lines TYPE NAME POINTER JSON. Without JSON,
// the value is removed. The keys of the result are TYPE NAME.
func readChanges(file string) (map[string][]change, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	found := map[string][]change{}
	for line := range strings.Lines(string(content)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		parts := strings.SplitN(line, " ", 4)
		if len(parts) < 3 {
			return nil, fmt.Errorf("%s: expected TYPE NAME POINTER JSON, received %q", file, line)
		}
		c := change{At: parts[2], Value: removed}
		if len(parts) == 4 {
			if err := json.Unmarshal([]byte(parts[3]), &c.Value); err != nil {
				return nil, fmt.Errorf("%s: %q: %w", file, line, err)
			}
			c.Value = expanded(c.Value)
		}
		object := parts[0] + " " + parts[1]
		found[object] = append(found[object], c)
	}
	return found, nil
}

// expanded returns v with placeholders for long values expanded; changes.txt documents the placeholders.
func expanded(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = expanded(v[i])
		}
	case map[string]any:
		if n, ok := v["$text"].(float64); ok {
			return strings.Repeat("x", int(n))
		}
		if pair, ok := v["$list"].([]any); ok {
			return slices.Repeat([]any{expanded(pair[1])}, int(pair[0].(float64)))
		}
		if pair, ok := v["$map"].([]any); ok {
			made := map[string]any{}
			for i := range int(pair[0].(float64)) {
				made["k"+strconv.Itoa(i)] = expanded(pair[1])
			}
			return made
		}
		for name := range v {
			v[name] = expanded(v[name])
		}
	}
	return v
}

func escape(name string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(name) }

func unescape(name string) string { return strings.NewReplacer("~1", "/", "~0", "~").Replace(name) }

// apply returns a copy of v with the change c applied.
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
		if len(steps) == 1 && value == any(removed) {
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
		if len(steps) == 1 && value == any(removed) {
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
