package nodedeclaredfeaturevalidator

import (
	"errors"
	"testing"

	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/admission/admissiontest"
)

// TestCases compares the plugin with recorded answers of kube-apiserver's plugin.
func TestCases(t *testing.T) { admissiontest.Replay(t, Plugin{}) }

func TestReadError(t *testing.T) {
	failure := errors.New("closed")
	const old = `{metadata: {generation: 1}, spec: {nodeName: one, initContainers: [{name: i, resources: {requests: {cpu: 1}}}]}}`
	const object = `{metadata: {generation: 2}, spec: {nodeName: one, initContainers: [{name: i, resources: {requests: {cpu: 2}}}]}}`
	a := admissiontest.New(admission.Update, "pods/resize", object, old, &admissiontest.Reader{Err: failure})
	if err := admissiontest.Run(t.Context(), Plugin{}, a); !errors.Is(err, failure) {
		t.Errorf("Run() with a failing Reader = %v, want %v", err, failure)
	}
}
