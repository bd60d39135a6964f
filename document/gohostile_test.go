package document

import (
	"strings"
	"testing"
)

// A Go value may go round in circles, and its strings may be anything.
func TestHostileGoValues(t *testing.T) {
	circle := map[string]any{}
	circle["a"] = circle
	list := []any{nil}
	list[0] = list
	for name, c := range map[string]struct {
		value   any
		problem string
	}{
		"map that holds itself":  {circle, "nested more than"},
		"list that holds itself": {list, "nested more than"},
		"string":                 {"\xff", "UTF-8"},
		"names":                  {map[string]any{"\xff": 1}, "UTF-8"},
	} {
		_, err := FromGo(c.value)
		if err == nil || !strings.Contains(err.Error(), c.problem) || len(err.Error()) > 3*maxErrorPath {
			t.Errorf("%s: received %.200v", name, err)
		}
	}
	if v := NewMap(Field{"\xff", NewString("a\xfe")}); v.JSON() != `{"\ufffd":"a\ufffd"}` && v.JSON() != "{\"\uFFFD\":\"a\uFFFD\"}" {
		t.Errorf("received %s", v.JSON())
	}
}
