package stat

import (
	"fmt"
	"math"
	"time"
)

// Shown is the median of a figure as text, or a dash if there were no rounds.
func Shown[R any](rounds []R, figure func(R) float64, show func(float64) string) string {
	if len(rounds) == 0 {
		return "-"
	}
	return show(Median(rounds, figure))
}

// unknown is shown for what is no number.
const unknown = "?"

// Times is a ratio.
func Times(ratio float64) string { return known(ratio, "%.1fx") }

// Times2 is for ratios that are close to one, or below.
func Times2(ratio float64) string { return known(ratio, "%.2fx") }

// Count is a number of things.
func Count(n float64) string { return known(n, "%.0f") }

// Seconds is a time in seconds.
func Seconds(s float64) string { return known(s, "%.2fs") }

// Nanoseconds is a time in nanoseconds, with three digits.
func Nanoseconds(n float64) string {
	if math.IsNaN(n) {
		return unknown
	}
	return ThreeDigits(time.Duration(n)).String()
}

func known(n float64, format string) string {
	if math.IsNaN(n) {
		return unknown
	}
	return fmt.Sprintf(format, n)
}

// ThreeDigits rounds a duration.
func ThreeDigits(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit)
}
