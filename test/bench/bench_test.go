package bench

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/cadastre/cadastre/test/bench/lowerbound"
)

// TestCases checks that the main table contains every operation for every object.
func TestCases(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range Cases() {
		seen[c.Name()] = true
	}
	for _, object := range []string{
		"Pod", "Deployment/1", "Deployment/3", "Deployment/8", "Node", "EndpointSlice/1000", "CRD", "CustomResource",
	} {
		for _, operation := range []string{"create", "change", "no-op", "conflict", "update", "unset"} {
			if name := object + "/" + operation; !seen[name] {
				t.Errorf("case %s is missing", name)
			}
		}
	}
}

// TestScales checks that the live object at each scale of the linearity table is about ten times as large as at the
// previous scale.
func TestScales(t *testing.T) {
	byScale := ScaledCases()
	for i := range byScale[1:] {
		small, large := len(byScale[i][0].Object.Live), len(byScale[i+1][0].Object.Live)
		if ratio := float64(large) / float64(small); ratio < 8.5 || ratio > 10.5 {
			t.Errorf("size at scale %d is %.1f times that at scale %d, want about 10", Scales[i+1], ratio, Scales[i])
		}
	}
}

func TestEveryImplementationWorks(t *testing.T) {
	for _, c := range Cases() {
		for name, implementation := range map[string]func() (Work, error){
			"cadastre": c.Cadastre, "upstream": c.Upstream, "lower bound": func() (Work, error) { return c.LowerBound(lowerbound.Fastest()) },
		} {
			work, err := implementation()
			if err == nil && work != nil {
				err = work()
			}
			if err != nil {
				t.Errorf("%s: %s: %v", c.Name(), name, err)
			}
		}
	}
}

// TestCadastreEqualsUpstream compares the results of Cadastre and of structured-merge-diff byte by byte, without the
// times of managed fields entries. structured-merge-diff has no unset markers: Cadastre's result with unset markers
// must equal the result of structured-merge-diff for setting the same fields, with these fields removed.
func TestCadastreEqualsUpstream(t *testing.T) {
	cases := Cases()
	for _, scaled := range ScaledCases() {
		cases = append(cases, scaled...)
	}
	for _, c := range cases {
		cadastreEngine, err := newCadastre(c.Object.Kind)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(fmt.Sprintf("%s/%d", c.Name(), len(c.Object.Live)), func(t *testing.T) {
			got, err := c.request(true).do(cadastreEngine)
			if err := c.check(err); err != nil {
				t.Fatal(err)
			}
			want, err := c.request(false).do(newUpstream(c.Object.Kind))
			if err := c.check(err); err != nil {
				t.Fatal(err)
			}
			if c.Operation == Unset {
				want = c.Object.WithoutUnset(want)
			}
			checkEqual(t, withoutTimes(got), withoutTimes(want))
			if c.Operation == NoOp {
				checkEqual(t, got, c.Object.Live)
			}
		})
	}
}

// checkEqual fails the test if got and want differ, and shows the bytes around the first difference.
func checkEqual(t *testing.T, got, want []byte) {
	t.Helper()
	if bytes.Equal(got, want) {
		return
	}
	i := 0
	for i < min(len(got), len(want)) && got[i] == want[i] {
		i++
	}
	around := func(text []byte) []byte { return text[max(0, i-80):min(len(text), i+160)] }
	t.Errorf("result differs at byte %d of %d\n got …%s…\nwant …%s…", i, len(want), around(got), around(want))
}

var timestamp = regexp.MustCompile(`"time":"[^"]*"`)

func withoutTimes(object []byte) []byte { return timestamp.ReplaceAll(object, nil) }

func TestMeasure(t *testing.T) {
	var kept []byte
	allocate := func() error { kept = make([]byte, 1<<10); return nil }
	sleep := func() error { time.Sleep(100 * time.Microsecond); return nil } // the operation that is measured
	samples, err := Measure(3, 2*time.Millisecond, allocate, nil, sleep)
	if err != nil {
		t.Fatal(err)
	}
	if len(kept) == 0 || len(samples[0]) != 3 || samples[1] != nil || len(samples[2]) != 3 {
		t.Fatalf("samples = %v, want 3 for each non-nil work", samples)
	}
	if allocs := Typical(samples[0]).Allocs; allocs < 1 || allocs > 2 {
		t.Errorf("Allocs = %v, want 1", allocs)
	}
	if slept := Typical(samples[2]).Time; slept < 100*time.Microsecond {
		t.Errorf("Time of a sleep of 100 µs = %v, want at least 100 µs", slept)
	}
	if ratio := TimeRatio(samples[2], samples[0]); ratio < 10 {
		t.Errorf("TimeRatio(sleep, allocate) = %v, want at least 10", ratio)
	}

	broken := errors.New("broken")
	if _, err := Measure(1, time.Millisecond, func() error { return broken }); !errors.Is(err, broken) {
		t.Errorf("Measure() = %v, want %v", err, broken)
	}
}
