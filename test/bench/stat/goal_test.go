package stat

import (
	"math"
	"strings"
	"testing"
)

func TestVerdicts(t *testing.T) {
	for _, bound := range []Bound{AtLeast(1), AtMost(1)} {
		if bound.holds(math.NaN()) {
			t.Errorf("holds(NaN) = true for the bound %s 1, want false", bound.kind)
		}
	}
	spread := Spread{Min: 1, Median: 2, Max: 3}
	for _, test := range []struct {
		bound Bound
		found string
		want  string
	}{
		{AtLeast(2), "a", "pass  text 2.0x, rounds from 1.0x to 3.0x, expected at least 2.0x"},
		{AtLeast(2.1), "a", "FAIL  text 2.0x, rounds from 1.0x to 3.0x, expected at least 2.1x"},
		{AtMost(2), "a", "pass  text 2.0x, rounds from 1.0x to 3.0x, expected at most 2.0x"},
		{AtMost(1.9), "a", "FAIL  text 2.0x, rounds from 1.0x to 3.0x, expected at most 1.9x"},
		{AtMost(1), "b", "----  text a was not measured"},
	} {
		g := Goal{Text: "text", Of: "a", Bound: test.bound, Show: Times}
		got := g.verdict([]Finding{{"other", Spread{}}, {test.found, spread}})
		if strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(test.want), " ") {
			t.Errorf("verdict() = %q, want %q", got, test.want)
		}
	}
}
