package defaulttolerationseconds

import (
	"testing"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/admission/admissiontest"
)

// TestCases compares the plugin with recorded answers of kube-apiserver's plugin.
func TestCases(t *testing.T) { admissiontest.Replay(t, Plugin{}) }

// TestUnchanged checks that the plugin does not copy a pod that already tolerates both taints.
func TestUnchanged(t *testing.T) {
	a := admissiontest.New(admission.Create, "pods", `{spec: {tolerations: [{operator: Exists}]}}`, "", nil)
	sent := a.Object
	if err := admissiontest.Run(t.Context(), Plugin{}, a); err != nil || !document.Same(a.Object, sent) {
		t.Errorf("Run(): got object %s, error %v, want the object that was sent, not a copy", a.Object.JSON(), err)
	}
}
