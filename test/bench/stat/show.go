package stat

import (
	"fmt"
	"math"
	"time"
)

// Shown returns the formatted median of a figure over the rounds, or "-" if there are no rounds.
func Shown[R any](rounds []R, figure func(R) float64, show func(float64) string) string {
	if len(rounds) == 0 {
		return "-"
	}
	return show(Median(rounds, figure))
}

// unknown is the text of a figure that is NaN.
const unknown = "?"

// Times formats a ratio with one decimal and the suffix x.
func Times(ratio float64) string { return known(ratio, "%.1fx") }

// Times2 formats a ratio with two decimals and the suffix x, for ratios below or close to one.
func Times2(ratio float64) string { return known(ratio, "%.2fx") }

// Count formats a number without decimals.
func Count(n float64) string { return known(n, "%.0f") }

// Seconds formats a time that is given in seconds.
func Seconds(s float64) string { return known(s, "%.2fs") }

// Nanoseconds formats a time that is given in nanoseconds, with three significant digits.
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

// ThreeDigits rounds a duration to three significant digits.
func ThreeDigits(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit)
}
