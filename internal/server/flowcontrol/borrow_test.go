package flowcontrol

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	fcboot "k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"
)

// TestBorrowing checks that a busy level borrows the seats of idle ones, and gives them back when these become busy.
func TestBorrowing(t *testing.T) {
	f := newFixture(t, 600)
	f.SetObjects(append(fcboot.SuggestedFlowSchemas, fcboot.MandatoryFlowSchemas...),
		append(fcboot.SuggestedPriorityLevelConfigurations, fcboot.MandatoryPriorityLevelConfigurations...))
	for f.state("global-default").waiting < 50 {
		before := f.state("global-default")
		f.enter(get("busy"))
		for f.state("global-default") == before {
		}
	}
	before := f.state("global-default").limit
	f.clock.advance(adjustPeriod)
	f.adjust()
	after := f.state("global-default")
	if after.limit <= before || after.waiting != 0 {
		t.Errorf("state after the adjustment = %+v, want a limit above %d and no waiting requests", after, before)
	}
	lender := f.levels["workload-low"]
	if got := f.state("workload-low").limit; got >= lender.nominal || got < lender.lower {
		t.Errorf("limit of the idle level workload-low = %d, want between %d and %d", got, lender.lower, lender.nominal)
	}
}

// TestDistribute checks that random distributions respect the bounds and the sum.
func TestDistribute(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		var shares []share
		lower, upper := 0.0, 0.0
		for range 1 + random.IntN(8) {
			s := share{lower: float64(random.IntN(50))}
			s.upper = s.lower + float64(random.IntN(200))
			s.target = s.lower + float64(random.IntN(300))
			shares = append(shares, s)
			lower, upper = lower+s.lower, upper+s.upper
		}
		total := lower + random.Float64()*(upper-lower)
		limits, fraction := distribute(total, shares)
		sum := 0.0
		for i, s := range shares {
			sum += limits[i]
			proportional := fraction * max(s.target, minTarget)
			if limits[i] != s.lower && limits[i] != s.upper && math.Abs(limits[i]-proportional) > 1e-6 || limits[i] < s.lower || limits[i] > s.upper {
				t.Fatalf("distribute(%v, %+v) = %v, %v: limit %d is neither proportional nor a bound", total, shares, limits, fraction, i)
			}
		}
		if math.Abs(sum-total) > 1e-3 {
			t.Fatalf("distribute(%v, %+v) = %v with the sum %v", total, shares, limits, sum)
		}
	}
}

// TestReconcile checks the writes for missing, changed and obsolete bootstrap objects.
func TestReconcile(t *testing.T) {
	if got, want := len(Reconcile(nil, nil)), 8+11; got != want {
		t.Errorf("Reconcile() without objects returned %d changes, want %d", got, want)
	}
	schemas := append(fcboot.SuggestedFlowSchemas[:9:9], fcboot.MandatoryFlowSchemas...)
	levels := append(fcboot.SuggestedPriorityLevelConfigurations[:6:6], fcboot.MandatoryPriorityLevelConfigurations...)
	if got := Reconcile(schemas, levels); len(got) != 0 {
		t.Errorf("Reconcile() of unchanged objects = %v, want no changes", got)
	}
	changed := fcboot.SuggestedPriorityLevelConfigurationSystem.DeepCopy()
	*changed.Spec.Limited.NominalConcurrencyShares = 99
	kept := fcboot.SuggestedPriorityLevelConfigurationWorkloadLow.DeepCopy()
	kept.Annotations[flowcontrolv1.AutoUpdateAnnotationKey] = "false"
	*kept.Spec.Limited.NominalConcurrencyShares = 99
	obsolete := changed.DeepCopy()
	obsolete.Name = "obsolete"
	own := changed.DeepCopy()
	own.Name, own.Annotations = "own", nil
	shared := fcboot.MandatoryPriorityLevelConfigurationExempt.DeepCopy()
	*shared.Spec.Exempt.NominalConcurrencyShares = 10
	for i, l := range levels {
		switch l.Name {
		case "system":
			levels[i] = changed
		case "workload-low":
			levels[i] = kept
		case "exempt":
			levels[i] = shared
		}
	}
	got := Reconcile(schemas, append(levels, obsolete, own))
	if len(got) != 2 || got[0].Name != "system" || got[0].Document == nil || got[1].Name != "obsolete" || got[1].Document != nil {
		t.Errorf("Reconcile() = %v, want an update of system and the deletion of obsolete", got)
	}
}

// TestRetryAfter checks that the value doubles while requests are rejected, at most to its maximum, and decreases afterwards.
func TestRetryAfter(t *testing.T) {
	var r rejections
	now, highest := time.Unix(1000, 0).Unix(), 0
	for range 200 {
		now++
		for range 200 {
			highest = max(highest, r.add(now))
		}
	}
	if highest != maxRetryAfter {
		t.Errorf("highest value = %d, want %d", highest, maxRetryAfter)
	}
	for range 100 {
		now += 100
		r.add(now)
	}
	if got := r.add(now); got != 1 {
		t.Errorf("value after few rejections = %d, want 1", got)
	}
}
