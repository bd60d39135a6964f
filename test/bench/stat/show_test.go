package stat

import (
	"math"
	"testing"
	"time"
)

func TestThreeDigits(t *testing.T) {
	for d, want := range map[time.Duration]string{
		999:        "999ns",
		1234:       "1.23µs",
		45678:      "45.7µs",
		999999:     "1ms",
		1234567:    "1.23ms",
		98765432:   "98.8ms",
		1234567890: "1.23s",
	} {
		if got := ThreeDigits(d).String(); got != want {
			t.Errorf("ThreeDigits(%d) = %s, want %s", d, got, want)
		}
	}
}

func TestUnknown(t *testing.T) {
	for i, show := range []func(float64) string{Times, Times2, Count, Seconds, Nanoseconds} {
		if got := show(math.NaN()); got != unknown {
			t.Errorf("formatter %d of NaN = %q, want a question mark", i, got)
		}
	}
}
