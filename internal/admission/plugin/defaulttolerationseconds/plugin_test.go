package defaulttolerationseconds

import (
	"testing"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/admission/admissiontest"
)

// TestCases compares the plugin with kube-apiserver's.
func TestCases(t *testing.T) { admissiontest.Replay(t, Plugin{}) }

// TestUnchanged: a pod that has the tolerations is not copied.
func TestUnchanged(t *testing.T) {
	a := admissiontest.New(admission.Create, "pods", `{spec: {tolerations: [{operator: Exists}]}}`, "", nil)
	sent := a.Object
	if err := admissiontest.Run(t.Context(), Plugin{}, a); err != nil || !document.Same(a.Object, sent) {
		t.Errorf("received %s, %v", a.Object.JSON(), err)
	}
}
