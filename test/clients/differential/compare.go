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

// Finding is the result of comparing the responses to one history.
type Finding struct {
	History History
	// Script is the history as a script with the responses of kube-apiserver. Failure is the step at which the response
	// of Cadastre differs; it is nil if there is none.
	Script  []byte
	Failure *applytest.Failure
	// Unusable is the reason for which the history could not be compared. It is empty if the history was compared.
	Unusable string
	// Known lists the titles of the deliberate differences in the responses, as in docs/differences.md. Compared is the
	// number of steps that were compared: those before the first step whose response cannot be compared because of
	// these differences.
	Known    []string
	Compared int
}

// Differs reports whether the responses of the servers differ.
func (f Finding) Differs() bool { return f.Failure != nil }

// objectNeverCreated is the Unusable reason of a history that uses a variable of an object that was never created.
const objectNeverCreated = "a variable of an object that was never created"

// Pair is a pair of servers whose responses are compared.
type Pair interface {
	// Compare sends the histories to both servers concurrently, and returns the findings in the order of the histories.
	Compare(ctx context.Context, histories []History) ([]Finding, error)
}

// Servers contains the client configs of the reference server, kube-apiserver, and of the server under test, Cadastre.
type Servers struct {
	KubeAPIServer, Cadastre *rest.Config
	// Parallel is the number of histories that are sent to a server concurrently; 0 means 8.
	Parallel int
}

// Compare implements Pair.
func (s Servers) Compare(ctx context.Context, histories []History) ([]Finding, error) {
	findings := make([]Finding, len(histories))
	compared := fstest.MapFS{}
	for i, h := range histories {
		findings[i].History = h
		compared[fileName(i)] = &fstest.MapFile{Data: h.script()}
	}
	expected, err := s.record(ctx, compared, findings)
	if err != nil || len(expected) == 0 {
		return findings, err
	}
	report, err := applytest.Run(ctx, applytest.Options{Config: s.Cadastre, Scripts: expected, Parallel: s.Parallel})
	if err != nil {
		return nil, err
	}
	for _, result := range report.Results {
		f := &findings[numberOf(result.Name)]
		switch {
		case result.Outcome == applytest.Skip:
			return nil, fmt.Errorf("seed %d: only Cadastre skipped the script: %s", f.History.Seed, result.Reason)
		case result.Failure != nil && !isStep(result.Failure.Step):
			return nil, fmt.Errorf("seed %d: %s", f.History.Seed, result.Failure)
		case result.Failure != nil && strings.HasPrefix(result.Failure.Complaints[0], "$"):
			f.Unusable = objectNeverCreated
		case result.Failure != nil && onlyAdditionalWarnings(result.Failure.Complaints):
			f.Known = append(f.Known, additionalWarning)
			last, _ := stepIndex(result.Failure.Step)
			f.Compared = last + 1
		default:
			f.Failure = result.Failure
		}
	}
	return findings, nil
}

// record runs scripts on kube-apiserver and returns them with its responses as expectations, which are loosened for
// deliberate differences. It sets the other fields of findings, and Unusable for a script that failed.
func (s Servers) record(ctx context.Context, scripts fstest.MapFS, findings []Finding) (fstest.MapFS, error) {
	var mu sync.Mutex
	texts := map[string][]byte{}
	report, err := applytest.Run(ctx, applytest.Options{
		Config: s.KubeAPIServer, Scripts: scripts, Parallel: s.Parallel,
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
				findings[i].Unusable = objectNeverCreated
			}
			continue
		}
		r := recorded{txtar.Parse(texts[result.Name])}
		r.expectErrors()
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
	_, _ = fmt.Sscanf(name, "random/%d", &i) // cannot fail: fileName creates the names
	return i
}
