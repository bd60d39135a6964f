package differential

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/cadastre/cadastre/applytest"
)

// TestSearch checks that each kind of difference is reported once.
func TestSearch(t *testing.T) {
	var found []Finding
	var last Progress
	ctx, cancel := context.WithCancel(t.Context())
	progress, err := Search(ctx, pairOf(labelLossFailure), Options{
		Time: time.Minute, Seed: 1,
		Found: func(f Finding) error { found = append(found, f); return nil },
		Progress: func(p Progress) {
			if last = p; p.Histories >= 4000 {
				cancel()
			}
		},
	})
	if err != nil || !reflect.DeepEqual(progress, last) {
		t.Fatalf("Search() = %+v, %v; last progress %+v; want the same progress and no error", progress, err, last)
	}
	signatures := map[string]bool{}
	for _, f := range found {
		if signatures[f.Signature()] {
			t.Errorf("Found was called twice with difference %s, want once", f.Signature())
		}
		signatures[f.Signature()] = true
	}
	if len(found) == 0 || len(found) != progress.Kinds || progress.Differing <= progress.Kinds {
		t.Errorf("got %d findings and progress %+v, want as many findings as kinds of differences", len(found), progress)
	}
}

// TestSearchIsInterrupted checks that a difference that is found when the context is cancelled is reported without
// shrinking.
func TestSearchIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var found []Finding
	progress, err := Search(ctx, cancellingPair{pairOf(labelLossFailure), cancel}, Options{Time: time.Minute, Seed: 1, Found: func(f Finding) error { found = append(found, f); return nil }})
	if err != nil || len(found) == 0 || progress.Kinds != len(found) {
		t.Errorf("got %d findings, progress %+v, %v; want the findings so far", len(found), progress, err)
	}
}

// cancellingPair is a Pair that cancels the search when a single history is compared again, which is the first step of
// shrinking.
type cancellingPair struct {
	Pair
	cancel func()
}

func (p cancellingPair) Compare(ctx context.Context, histories []History) ([]Finding, error) {
	if len(histories) == 1 {
		p.cancel()
		return nil, ctx.Err()
	}
	return p.Pair.Compare(ctx, histories)
}

// TestSearchCountsLost checks that differences that are not reproducible, and unusable histories, are counted.
func TestSearchCountsLost(t *testing.T) {
	compared := map[uint64]bool{}
	pair := pairOf(func(h History) *applytest.Failure {
		if compared[h.Seed] || h.Seed != 7 {
			return nil
		}
		compared[h.Seed] = true
		return &applytest.Failure{Step: stepName(0, h.Steps[0]), Complaints: []string{"owners: alice"}}
	})
	ctx, cancel := context.WithCancel(t.Context())
	lost := 0
	progress, err := Search(ctx, unusablePair{pair}, Options{
		Time: time.Minute, Seed: 1, Lost: func(Finding) { lost++ }, Progress: func(Progress) { cancel() },
		Found: func(f Finding) error { return fmt.Errorf("found seed %d", f.History.Seed) },
	})
	if err != nil || lost != 1 || progress.Lost != 1 || progress.Differing != 0 || progress.Unusable["GET 404"] != 1 {
		t.Errorf("Search() = %+v, %v; Lost was called %d times; want one call of Lost and one unusable history with reason GET 404", progress, err, lost)
	}
}

// unusablePair is a Pair that cannot compare the history of seed 3.
type unusablePair struct{ Pair }

func (u unusablePair) Compare(ctx context.Context, histories []History) ([]Finding, error) {
	findings, err := u.Pair.Compare(ctx, histories)
	for i, f := range findings {
		if f.History.Seed == 3 {
			findings[i] = Finding{History: f.History, Unusable: "step \"6 edit carol\":\n  GET /api/v1/namespaces/a/pods/b: 404 {\"code\":404}\n"}
		}
	}
	return findings, err
}

// TestSearchCounts checks that steps and known differences of usable histories are counted.
func TestSearchCounts(t *testing.T) {
	progress := Progress{Known: map[string]int{}, Unusable: map[string]int{}}
	for _, f := range []Finding{
		{Compared: 4, Known: []string{"a", "b"}},
		{Compared: 3, Known: []string{"b"}},
		{Compared: 7, Known: []string{"b"}, Unusable: "GET /a: 404"},
	} {
		progress.count(f)
	}
	want := Progress{Compared: 7, Known: map[string]int{"a": 1, "b": 2}, Unusable: map[string]int{"GET 404": 1}}
	if !reflect.DeepEqual(progress, want) {
		t.Errorf("progress = %+v, want %+v", progress, want)
	}
}

// TestSearchForUnknownKind checks that an unknown resource is rejected with the list of known ones.
func TestSearchForUnknownKind(t *testing.T) {
	_, err := Search(t.Context(), pairOf(labelLossFailure), Options{Time: time.Minute, Kind: "deployment"})
	if err == nil || !strings.Contains(err.Error(), "deployments") || !strings.Contains(err.Error(), `received "deployment"`) {
		t.Errorf("Search() = %v, want an error with the known resources", err)
	}
}
