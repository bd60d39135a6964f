package schema

import (
	"fmt"
	"testing"
)

// TestNames: constants are shown by name, and those that there are not by number.
func TestNames(t *testing.T) {
	for _, c := range []struct {
		constant fmt.Stringer
		want     string
	}{
		{Atomic, "atomic"}, {Set, "set"}, {Keyed, "keyed"}, {Relationship(9), "Relationship(9)"},
		{NoScalar, "none"}, {Numeric, "numeric"}, {String, "string"}, {Boolean, "boolean"}, {AnyScalar, "any"}, {Scalar(9), "Scalar(9)"},
	} {
		if got := c.constant.String(); got != c.want {
			t.Errorf("received %s, want %s", got, c.want)
		}
	}
}
