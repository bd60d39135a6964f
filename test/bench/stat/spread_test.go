package stat

import (
	"testing"
	"time"
)

func TestPercentile(t *testing.T) {
	upTo := func(n int) (sorted []time.Duration) {
		for i := range n {
			sorted = append(sorted, time.Duration(i+1))
		}
		return sorted
	}
	for _, test := range []struct {
		count, percent int
		want           time.Duration
	}{
		{1, 50, 1},
		{1, 99, 1},
		{2, 50, 1},
		{3, 50, 2},
		{10, 99, 10},
		{100, 50, 50},
		{100, 99, 99},
		{101, 99, 100},
		{1000, 99, 990},
		{5, 0, 1},
		{5, 100, 5},
	} {
		if got := Percentile(upTo(test.count), test.percent); got != test.want {
			t.Errorf("Percentile(%d) of 1 to %d = %d, want %d", test.percent, test.count, got, test.want)
		}
	}
}

// TestRatio checks that one round on a slow machine affects neither medians nor the ratio.
func TestRatio(t *testing.T) {
	half := func(figure int) float64 { return float64(figure) / 2 }
	cadastre, upstream := []int{600, 60, 620}, []int{200, 30, 200}
	if got := Median(cadastre, half); got != 300 {
		t.Errorf("Median() = %v, want 300", got)
	}
	if got := Ratio(cadastre, upstream, half); got != (Spread{2, 3, 3.1}) {
		t.Errorf("Ratio() = %+v, want {Min:2 Median:3 Max:3.1}", got)
	}
}
