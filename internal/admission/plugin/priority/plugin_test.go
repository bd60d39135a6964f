package priority

import (
	"errors"
	"testing"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/admission/admissiontest"
)

// TestCases compares the plugin with recorded answers of kube-apiserver's plugin.
func TestCases(t *testing.T) { admissiontest.Replay(t, Plugin{}) }

// TestUnchanged checks that the plugin does not copy a pod that already specifies priority and preemptionPolicy.
func TestUnchanged(t *testing.T) {
	const pod = `{spec: {priority: 0, preemptionPolicy: PreemptLowerPriority}}`
	a := admissiontest.New(admission.Update, "pods", pod, pod, admissiontest.NewReader())
	sent := a.Object
	if err := admissiontest.Run(t.Context(), Plugin{}, a); err != nil || !document.Same(a.Object, sent) {
		t.Errorf("Run(): got object %s, error %v, want the object that was sent, not a copy", a.Object.JSON(), err)
	}
}

// TestReadError checks that a failed read of PriorityClasses fails the write, instead of setting priority 0.
func TestReadError(t *testing.T) {
	failure := errors.New("closed")
	for _, test := range []struct{ resource, object string }{
		{"pods", `{spec: {}}`},
		{"pods", `{spec: {priorityClassName: low}}`},
		{"priorityclasses.scheduling.k8s.io", `{value: 1, globalDefault: true}`},
	} {
		a := admissiontest.New(admission.Create, test.resource, test.object, "", &admissiontest.Reader{Err: failure})
		if err := admissiontest.Run(t.Context(), Plugin{}, a); !errors.Is(err, failure) {
			t.Errorf("Run() of %s %s with a failing Reader = %v, want %v", test.resource, test.object, err, failure)
		}
	}
}
