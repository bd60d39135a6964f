package persistentvolumeclaimresize

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
	const before, after = `{spec: {storageClassName: a, resources: {requests: {storage: 1Gi}}}, status: {phase: Bound}}`, `{spec: {storageClassName: a, resources: {requests: {storage: 2Gi}}}}`
	a := admissiontest.New(admission.Update, "persistentvolumeclaims", after, before, &admissiontest.Reader{Err: failure})
	if err := admissiontest.Run(t.Context(), Plugin{}, a); !errors.Is(err, failure) {
		t.Errorf("Run() with a failing Reader = %v, want %v", err, failure)
	}
}
