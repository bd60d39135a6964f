package document

import (
	"strings"
	"testing"
)

// TestHostileGoValues checks that FromGo returns a short error for Go values with cycles and with invalid UTF-8.
func TestHostileGoValues(t *testing.T) {
	cyclicMap := map[string]any{}
	cyclicMap["a"] = cyclicMap
	list := []any{nil}
	list[0] = list
	for name, c := range map[string]struct {
		value   any
		problem string
	}{
		"map with a cycle":  {cyclicMap, "nested more than"},
		"list with a cycle": {list, "nested more than"},
		"string":            {"\xff", "UTF-8"},
		"names":             {map[string]any{"\xff": 1}, "UTF-8"},
	} {
		_, err := FromGo(c.value)
		if err == nil || !strings.Contains(err.Error(), c.problem) || len(err.Error()) > 3*maxErrorPath {
			t.Errorf("FromGo of %s: error = %.200v, want a short error that contains %q", name, err, c.problem)
		}
	}
	if v := NewMap(Field{"\xff", NewString("a\xfe")}); v.JSON() != `{"\ufffd":"a\ufffd"}` && v.JSON() != "{\"\uFFFD\":\"a\uFFFD\"}" {
		t.Errorf("NewMap with invalid UTF-8: JSON() = %s, want U+FFFD for each invalid byte", v.JSON())
	}
}
