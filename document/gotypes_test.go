package document

import (
	"strings"
	"testing"
)

// TestHostileGoValues converts Go values with cycles and with invalid UTF-8.
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
			t.Errorf("%s: error = %.200v", name, err)
		}
	}
	if v := NewMap(Field{"\xff", NewString("a\xfe")}); v.JSON() != `{"\ufffd":"a\ufffd"}` && v.JSON() != "{\"\uFFFD\":\"a\uFFFD\"}" {
		t.Errorf("JSON() = %s", v.JSON())
	}
}
