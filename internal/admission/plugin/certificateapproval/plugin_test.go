package certificateapproval

import (
	"context"
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/admission/admissiontest"
)

const approval = "certificatesigningrequests.certificates.k8s.io/approval"

// TestCases compares the plugin with recorded answers of kube-apiserver's plugin.
func TestCases(t *testing.T) { admissiontest.Replay(t, &Plugin{Authorizer: admissiontest.Signers}) }

// TestAuthorizerError checks that a permission is not granted if the authorizer returns an error.
func TestAuthorizerError(t *testing.T) {
	failing := authorizer.AuthorizerFunc(func(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
		return authorizer.DecisionAllow, "", errors.New("closed")
	})
	a := admissiontest.New(admission.Update, approval, `{}`, `{spec: {signerName: example.com/a}}`, nil)
	if err := admissiontest.Run(t.Context(), &Plugin{Authorizer: failing}, a); !apierrors.IsForbidden(err) {
		t.Errorf("Run() with a failing authorizer = %v, want a 403", err)
	}
}

func TestHandles(t *testing.T) {
	for _, test := range []struct {
		operation admission.Operation
		resource  string
		want      admission.Phase
	}{
		{admission.Update, approval, admission.Validating | admission.NoOps},
		{admission.Update, "certificatesigningrequests.certificates.k8s.io", 0},
		{admission.Update, "certificatesigningrequests.certificates.k8s.io/status", 0},
		{admission.Update, "pods/approval", 0},
		{admission.Create, approval, 0},
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
