package differential

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing/fstest"

	"golang.org/x/tools/txtar"
	"k8s.io/client-go/rest"

	"github.com/cadastre/cadastre/applytest"
)

// A Finding is what became of a history.
type Finding struct {
	History History
	// Script has the answers of the first server, and Failure is how the second one's differ; nil if they do not.
	Script  []byte
	Failure *applytest.Failure
	// Unusable is why the history could not be compared; empty if it was.
	Unusable string
	// Known are the deliberate differences in it, by their titles in docs/differences.md, and Compared is how many of
	// its steps come before what they make of the objects.
	Known    []string
	Compared int
}

// Differs says whether the two servers answered differently.
func (f Finding) Differs() bool { return f.Failure != nil }

// neverMade is why a history can't be compared that names an object which was refused.
const neverMade = "a variable of an object that was never made"

// A Pair is two servers that are asked the same.
type Pair interface {
	// Compare sends histories to both, side by side, and returns the findings in the same order.
	Compare(ctx context.Context, histories []History) ([]Finding, error)
}

// Servers are two servers with addresses: the one whose answers are expected, and the one that is held to them.
type Servers struct {
	Theirs, Ours *rest.Config
	// Parallel is how many histories each is sent at once; 8 if 0.
	Parallel int
}

// Compare implements Pair.
func (s Servers) Compare(ctx context.Context, histories []History) ([]Finding, error) {
	findings := make([]Finding, len(histories))
	asked := fstest.MapFS{}
	for i, h := range histories {
		findings[i].History = h
		asked[fileName(i)] = &fstest.MapFile{Data: h.script()}
	}
	expected, err := s.record(ctx, asked, findings)
	if err != nil || len(expected) == 0 {
		return findings, err
	}
	report, err := applytest.Run(ctx, applytest.Options{Config: s.Ours, Scripts: expected, Parallel: s.Parallel})
	if err != nil {
		return nil, err
	}
	for _, result := range report.Results {
		f := &findings[numberOf(result.Name)]
		switch {
		case result.Outcome == applytest.Skip:
			return nil, fmt.Errorf("seed %d: the first server was asked, and the second can't be: %s", f.History.Seed, result.Reason)
		case result.Failure != nil && !isStep(result.Failure.Step):
			return nil, fmt.Errorf("seed %d: %s", f.History.Seed, result.Failure)
		case result.Failure != nil && strings.HasPrefix(result.Failure.Complaints[0], "$"):
			f.Unusable = neverMade
		case result.Failure != nil && saysOnlyMore(result.Failure.Complaints):
			f.Known = append(f.Known, moreTold)
			last, _ := stepNumber(result.Failure.Step)
			f.Compared = last + 1
		default:
			f.Failure = result.Failure
		}
	}
	return findings, nil
}

// record asks the first server, and returns the scripts with its answers, loosened where they may differ.
func (s Servers) record(ctx context.Context, scripts fstest.MapFS, findings []Finding) (fstest.MapFS, error) {
	var mu sync.Mutex
	texts := map[string][]byte{}
	report, err := applytest.Run(ctx, applytest.Options{
		Config: s.Theirs, Scripts: scripts, Parallel: s.Parallel,
		Record: func(name string, text []byte) error {
			mu.Lock()
			defer mu.Unlock()
			texts[name] = text
			return nil
		},
	})
	if err != nil {
		return nil, err
	}
	expected := fstest.MapFS{}
	for _, result := range report.Results {
		i := numberOf(result.Name)
		if result.Outcome != applytest.Pass {
			findings[i].Unusable = fmt.Sprint(result.Reason, result.Failure)
			if result.Failure != nil && strings.HasPrefix(result.Failure.Complaints[0], "$") {
				findings[i].Unusable = neverMade
			}
			continue
		}
		r := recorded{txtar.Parse(texts[result.Name])}
		r.withErrors()
		findings[i].Known, findings[i].Compared = r.withoutKnown(findings[i].History)
		if findings[i].Compared == 0 {
			continue
		}
		findings[i].Script = txtar.Format(r.archive)
		expected[fileName(i)] = &fstest.MapFile{Data: findings[i].Script}
	}
	return expected, nil
}

func fileName(i int) string { return fmt.Sprintf("random/%06d.txtar", i) }

func numberOf(name string) int {
	var i int
	_, _ = fmt.Sscanf(name, "random/%d", &i) // the names are those of fileName
	return i
}
