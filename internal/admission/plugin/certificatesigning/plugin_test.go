package certificatesigning

import (
	"testing"

	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/admission/admissiontest"
)

// TestCases compares the plugin with recorded answers of kube-apiserver's plugin.
func TestCases(t *testing.T) { admissiontest.Replay(t, &Plugin{Authorizer: admissiontest.Signers}) }

func TestHandles(t *testing.T) {
	const status = "certificatesigningrequests.certificates.k8s.io/status"
	for _, test := range []struct {
		operation admission.Operation
		resource  string
		want      admission.Phase
	}{
		{admission.Update, status, admission.Validating},
		{admission.Update, "certificatesigningrequests.certificates.k8s.io", 0},
		{admission.Update, "certificatesigningrequests.certificates.k8s.io/approval", 0},
		{admission.Update, "pods/status", 0},
		{admission.Create, status, 0},
	} {
		r, err := admissiontest.Resource(test.resource)
		if err != nil {
			t.Fatal(err)
		}
		if got := (&Plugin{}).Handles(test.operation, r); got != test.want {
			t.Errorf("Handles(%s, %s) = %b, want %b", test.operation, test.resource, got, test.want)
		}
	}
}
