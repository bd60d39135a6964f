package applytest

import (
	"testing"

	"k8s.io/client-go/rest"
)

// testParallel is the number of scripts that RunTests runs at the same time. It is higher than the number of processors,
// because many scripts wait until a second has passed.
const testParallel = 32

// RunTests runs every script of this package against a server, in parallel, and reports each as a subtest. If a script has
// a known defect of the server, its subtest is skipped when the script fails, and fails when the script passes.
func RunTests(t *testing.T, config *rest.Config) {
	t.Helper()
	report, err := Run(t.Context(), Options{Config: config, Parallel: testParallel})
	if err != nil {
		t.Fatal(err)
	}
	for _, left := range report.Leftovers {
		t.Logf("leftover on the server: %s: %s", left.Path, left.Reason)
	}
	for _, result := range report.Results {
		t.Run(result.Name, func(t *testing.T) {
			switch {
			case result.Outcome == Skip:
				t.Skip(result.Reason)
			case result.Outcome == Fail && result.Defect != "":
				t.Skipf("known defect: %s\n%s", result.Defect, result.Failure)
			case result.Outcome == Fail:
				t.Errorf("%s\n%s", result.Behaviour, result.Failure)
			case result.Defect != "":
				t.Errorf("the script passes; remove its line defect: %s", result.Defect)
			}
		})
	}
}
