package rules

import "testing"

func TestRulesAreReadable(t *testing.T) {
	if book := ruleset(); len(book.kinds) == 0 {
		t.Error("there are no kinds with rules")
	}
}
