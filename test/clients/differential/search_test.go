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

// TestSearch: each sort of difference is told once.
func TestSearch(t *testing.T) {
	var found []Finding
	var last Progress
	ctx, cancel := context.WithCancel(t.Context())
	progress, err := Search(ctx, pairOf(forgetful), Options{
		Time: time.Minute, Seed: 1,
		Found: func(f Finding) error { found = append(found, f); return nil },
		Progress: func(p Progress) {
			if last = p; p.Histories >= 4000 {
				cancel()
			}
		},
	})
	if err != nil || !reflect.DeepEqual(progress, last) {
		t.Fatalf("received %+v, %v, told %+v", progress, err, last)
	}
	signatures := map[string]bool{}
	for _, f := range found {
		if signatures[f.Signature()] {
			t.Errorf("%s was found twice", f.Signature())
		}
		signatures[f.Signature()] = true
	}
	if len(found) == 0 || len(found) != progress.Sorts || progress.Differing <= progress.Sorts {
		t.Errorf("received %d findings, and %+v", len(found), progress)
	}
}

// TestSearchIsInterrupted: what was found when somebody had enough is told, though it is not shrunk.
func TestSearchIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var found []Finding
	progress, err := Search(ctx, impatient{pairOf(forgetful), cancel}, Options{Time: time.Minute, Seed: 1, Found: func(f Finding) error { found = append(found, f); return nil }})
	if err != nil || len(found) == 0 || progress.Sorts != len(found) {
		t.Errorf("expected what was found, received %d: %+v, %v", len(found), progress, err)
	}
}

// impatient has somebody interrupt when a history is asked for again.
type impatient struct {
	Pair
	cancel func()
}

func (p impatient) Compare(ctx context.Context, histories []History) ([]Finding, error) {
	if len(histories) == 1 {
		p.cancel()
		return nil, ctx.Err()
	}
	return p.Pair.Compare(ctx, histories)
}

// TestSearchTellsWhatIsLost: what does not come back, and what could not be compared, is counted.
func TestSearchTellsWhatIsLost(t *testing.T) {
	asked := map[uint64]bool{}
	pair := pairOf(func(h History) *applytest.Failure {
		if asked[h.Seed] || h.Seed != 7 {
			return nil
		}
		asked[h.Seed] = true
		return &applytest.Failure{Step: stepName(0, h.Steps[0]), Complaints: []string{"owners: alice"}}
	})
	ctx, cancel := context.WithCancel(t.Context())
	lost := 0
	progress, err := Search(ctx, unusable{pair}, Options{
		Time: time.Minute, Seed: 1, Lost: func(Finding) { lost++ }, Progress: func(Progress) { cancel() },
		Found: func(f Finding) error { return fmt.Errorf("found seed %d", f.History.Seed) },
	})
	if err != nil || lost != 1 || progress.Lost != 1 || progress.Differing != 0 || progress.Unusable["GET 404"] != 1 {
		t.Errorf("received %+v, %v, and was told of %d", progress, err, lost)
	}
}

// unusable can't compare the history of seed 3.
type unusable struct{ Pair }

func (u unusable) Compare(ctx context.Context, histories []History) ([]Finding, error) {
	findings, err := u.Pair.Compare(ctx, histories)
	for i, f := range findings {
		if f.History.Seed == 3 {
			findings[i] = Finding{History: f.History, Unusable: "step \"6 edit carol\":\n  GET /api/v1/namespaces/a/pods/b: 404 {\"code\":404}\n"}
		}
	}
	return findings, err
}

// TestSearchCounts: what was compared, and what was known, is counted; what could not be compared is not.
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
		t.Errorf("received %+v, want %+v", progress, want)
	}
}

// TestSearchForUnknownKind: what no history is about is refused, with what they are about.
func TestSearchForUnknownKind(t *testing.T) {
	_, err := Search(t.Context(), pairOf(forgetful), Options{Time: time.Minute, Kind: "deployment"})
	if err == nil || !strings.Contains(err.Error(), "deployments") || !strings.Contains(err.Error(), `received "deployment"`) {
		t.Errorf("received %v", err)
	}
}
