package applytest

import (
	"testing"

	"k8s.io/client-go/rest"
)

// RunTests runs every script of this package against a server, each as a parallel subtest named after it.
func RunTests(t *testing.T, config *rest.Config) {
	t.Helper()
	scripts, err := Scripts(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := connect(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	for _, script := range scripts {
		t.Run(script.Name, func(t *testing.T) {
			t.Parallel()
			switch result, _ := s.play(t.Context(), script, false, false); result.Outcome {
			case Skip:
				t.Skip(result.Reason)
			case Fail:
				t.Errorf("%s\n%s", script.Behaviour, result.Failure)
			}
		})
	}
}
