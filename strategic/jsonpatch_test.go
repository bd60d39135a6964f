package strategic

import (
	"errors"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/document"
)

func TestJSONPatch(t *testing.T) {
	for _, c := range []struct{ name, object, patch, result string }{
		{"add", `{a: {b: 1}}`, `[{op: add, path: /a/c, value: {d: 2}}, {op: add, path: /a/c/e, value: 3}]`, `{a: {b: 1, c: {d: 2, e: 3}}}`},
		{"add items", `{a: [1, 4]}`, `[{op: add, path: /a/1, value: 3}, {op: add, path: /a/1, value: 2}, {op: add, path: /a/-, value: 5}, {op: add, path: /a/-1, value: 6}]`, `{a: [1, 2, 3, 4, 5, 6]}`},
		{"remove", `{a: [1, 2, 3], b: 1}`, `[{op: remove, path: /a/-1}, {op: remove, path: /a/0}, {op: remove, path: /b}]`, `{a: [2]}`},
		{"replace", `{a: [1, 2]}`, `[{op: replace, path: /a/1, value: x}, {op: replace, path: /new, value: y}]`, `{a: [1, x], new: y}`},
		{"replace the object", `{a: 1}`, `[{op: replace, path: "", value: {b: 2}}, {op: add, path: /c, value: 3}]`, `{b: 2, c: 3}`},
		{"move", `{a: {b: [1, 2]}}`, `[{op: move, from: /a/b/0, path: /c}]`, `{a: {b: [2]}, c: 1}`},
		{"copy is independent of its source", `{a: {b: 1}}`, `[{op: copy, from: /a, path: /c}, {op: add, path: /c/d, value: 2}]`, `{a: {b: 1}, c: {b: 1, d: 2}}`},
		{"escapes", `{"a/b": {"m~n": 1, "~1": 2}}`, `[{op: remove, path: /a~1b/m~0n}, {op: test, path: /a~1b/~01, value: 2}]`, `{"a/b": {"~1": 2}}`},
		{"tests", `{a: [{b: 1}]}`, `[{op: test, path: /a, value: [{b: 1}]}, {op: test, path: /none, value: null}, {op: test, path: "", value: {a: [{b: 1}]}}]`, `{a: [{b: 1}]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			object := mustParse(t, c.object)
			got, err := ApplyJSONPatch(object, mustParse(t, c.patch))
			if err != nil || !document.Equal(got, mustParse(t, c.result)) {
				t.Errorf("ApplyJSONPatch() = %s, %v\nwant %s", got, err, mustParse(t, c.result))
			}
			if !document.Equal(object, mustParse(t, c.object)) {
				t.Errorf("ApplyJSONPatch() modified its argument: got %s, want %s", object, c.object)
			}
		})
	}
}

func TestJSONPatchErrors(t *testing.T) {
	object := mustParse(t, `{a: {b: [1]}, s: x}`)
	for _, c := range []struct {
		patch      string
		status     int
		path, text string
	}{
		{`[{op: ad, path: /a}]`, 422, "[0].op", `received the operation "ad"`},
		{`[{op: 1, path: /a}]`, 400, "[0].op", "expected a string"},
		{`[1]`, 400, "[0]", "an operation"},
		{`[{op: add, path: /a/x, value: 1}, {op: remove}]`, 422, "[1].path", "received none"},
		{`[{op: remove, path: /a/x}]`, 422, "[0].path", `the unknown field "x"`},
		{`[{op: add, path: /x/y, value: 1}]`, 422, "[0].path", `received "/x/y" without the field "x"`},
		{`[{op: add, path: /s/y, value: 1}]`, 422, "[0].path", `a map or a list before "y", received the string "x"`},
		{`[{op: add, path: /a/b/2, value: 1}]`, 422, "[0].path", "an index less than 2"},
		{`[{op: add, path: /a/b/x, value: 1}]`, 422, "[0].path", `the index of an item, received "x"`},
		{`[{op: replace, path: /a/b/-, value: 1}]`, 422, "[0].path", "the index of an item"},
		{`[{op: replace, path: "", value: 1}]`, 422, "[0].value", "a map or a list"},
		{`[{op: move, from: /a, path: /a/c}]`, 422, "[0].path", `without the field "a"`},
		{`[{op: copy, from: /a/b/7, path: /c}]`, 422, "[0].from", "an index less than 1"},
		{`[{op: test, path: /a/b, value: [2]}]`, 422, "[0]", `the value [2] at "/a/b", received [1]; the test operation failed`},
	} {
		_, err := ApplyJSONPatch(object, mustParse(t, c.patch))
		var e *Error
		if !errors.As(err, &e) || e.Reason.Status() != c.status || e.Path != c.path || !strings.Contains(e.Error(), c.text) {
			t.Errorf("%s: error = %v\nwant %d %s: … %s", c.patch, err, c.status, c.path, c.text)
		}
	}
}

func TestUnknownFields(t *testing.T) {
	patch := mustParse(t, `[{op: add, path: /a, value: {x: 1}}, null, {op: remove, path: /b, vaule: 1, Op: add}]`)
	if got := strings.Join(UnknownFields(patch), " "); got != "[2].Op [2].vaule" {
		t.Errorf("UnknownFields() = %s, want [2].Op [2].vaule", got)
	}
	if got := UnknownFields(mustParse(t, `{a: 1}`)); got != nil {
		t.Errorf("UnknownFields() of a map = %v, want nil", got)
	}
}

func TestJSONPatchLimits(t *testing.T) {
	operations := func(count int, text string) document.Value {
		return mustParse(t, "["+strings.Repeat(text+",", count-1)+text+"]")
	}
	const add = `{"op":"add","path":"/a/-","value":1}`
	got, err := ApplyJSONPatch(mustParse(t, `{a: []}`), operations(MaxOperations, add))
	if err != nil || got.Get("a").Len() != MaxOperations {
		t.Errorf("ApplyJSONPatch() added %d items, error %v, want %d items", got.Get("a").Len(), err, MaxOperations)
	}
	var e *Error
	if _, err := ApplyJSONPatch(mustParse(t, `{a: []}`), operations(MaxOperations+1, add)); !errors.As(err, &e) || e.Reason.Status() != 413 {
		t.Errorf("MaxOperations + 1: error = %v, want 413", err)
	}
	// Each pair of these copy operations more than doubles the size of the object.
	if _, err := ApplyJSONPatch(mustParse(t, `{a: {}}`), operations(100, `{"op":"copy","from":"/a","path":"/a/a"},{"op":"copy","from":"/a","path":"/a/b"}`)); !errors.As(err, &e) ||
		e.Reason.Status() != 422 || !strings.Contains(err.Error(), "bytes copied") {
		t.Errorf("copy operations beyond MaxCopiedBytes: error = %v, want 422", err)
	}
}
