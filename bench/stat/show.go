package stat

import (
	"fmt"
	"time"
)

// Shown is the median of a figure as text, or a dash if there were no rounds.
func Shown[R any](rounds []R, figure func(R) float64, show func(float64) string) string {
	if len(rounds) == 0 {
		return "-"
	}
	return show(Median(rounds, figure))
}

// Times is a ratio.
func Times(ratio float64) string { return fmt.Sprintf("%.1fx", ratio) }

// Times2 is for ratios that are close to one, or below.
func Times2(ratio float64) string { return fmt.Sprintf("%.2fx", ratio) }

// Count is a number of things.
func Count(n float64) string { return fmt.Sprintf("%.0f", n) }

// Seconds is a time in seconds.
func Seconds(s float64) string { return fmt.Sprintf("%.2fs", s) }

// Nanoseconds is a time in nanoseconds, with three digits.
func Nanoseconds(n float64) string { return ThreeDigits(time.Duration(n)).String() }

// ThreeDigits rounds a duration.
func ThreeDigits(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit)
}
