package schema

import (
	"fmt"
	"testing"
)

// TestNames checks that String returns the names of the constants, and type and number of an unknown value.
func TestNames(t *testing.T) {
	for _, c := range []struct {
		constant fmt.Stringer
		want     string
	}{
		{Atomic, "atomic"}, {Set, "set"}, {Keyed, "keyed"}, {Relationship(9), "Relationship(9)"},
		{NoScalar, "none"}, {Numeric, "numeric"}, {String, "string"}, {Boolean, "boolean"}, {AnyScalar, "any"}, {Scalar(9), "Scalar(9)"},
	} {
		if got := c.constant.String(); got != c.want {
			t.Errorf("String() = %s, want %s", got, c.want)
		}
	}
}
