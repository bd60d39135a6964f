package podcertificatesigning

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/admission/admissiontest"
	"github.com/cadastre/cadastre/internal/auth/authn"
	"github.com/cadastre/cadastre/internal/auth/authz/rbac/rbactest"
)

const endpoint = "podcertificaterequests.certificates.k8s.io/status"

// TestSign checks which permissions allow a change of the status.
func TestSign(t *testing.T) {
	grant := func(name, signer string) []string {
		return []string{
			`{kind: ClusterRole, metadata: {name: ` + name + `}, rules: [{verbs: [sign], apiGroups: [certificates.k8s.io], resources: [signers], resourceNames: ["` + signer + `"]}]}`,
			`{kind: ClusterRoleBinding, metadata: {name: ` + name + `}, subjects: [{kind: User, name: ` + name + `}], roleRef: {kind: ClusterRole, name: ` + name + `, apiGroup: rbac.authorization.k8s.io}}`,
		}
	}
	plugin := &Plugin{Authorizer: rbactest.New(t, append(append(grant("one", "example.com/a"), grant("domain", "example.com/*")...), grant("other", "example.com/b")...)...)}
	const (
		spec    = `spec: {signerName: example.com/a}`
		pending = `{` + spec + `}`
		denied  = `{` + spec + `, status: {conditions: [{type: Denied, status: "True", reason: r, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}]}}`
		moved   = `{spec: {signerName: example.com/b}, status: {conditions: [{type: Denied, status: "True"}]}}`
	)
	for _, test := range []struct {
		name, user, object, old string
		allowed                 bool
	}{
		{"the signer", "one", denied, pending, true},
		{"all signers of the domain", "domain", denied, pending, true},
		{"another signer", "other", denied, pending, false},
		{"the stored signer counts", "other", moved, pending, false},
		{"no permission", "eve", denied, pending, false},
		{"no change", "eve", denied, denied, true},
		{"no semantic change", "eve", `{` + spec + `, status: {conditions: []}}`, pending, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := admissiontest.New(admission.Update, endpoint, test.object, test.old, nil)
			a.Name, a.User = "x", &authn.User{Name: test.user}
			err := admissiontest.Run(t.Context(), plugin, a)
			if test.allowed {
				if err != nil {
					t.Errorf("Run() = %v, want nil", err)
				}
				return
			}
			want := `PodCertificateRequest.certificates.k8s.io "x" is invalid: spec.signerName: Forbidden: User "` + test.user + `" is not permitted to "sign" for signer "example.com/a"`
			if !apierrors.IsInvalid(err) || err.Error() != want {
				t.Errorf("Run() = %v, want %s", err, want)
			}
		})
	}
}

// TestUndecodable checks that a stored status that Go cannot decode is an error, not a permission.
func TestUndecodable(t *testing.T) {
	a := admissiontest.New(admission.Update, endpoint, `{}`, `{status: {conditions: 1}}`, nil)
	if err := admissiontest.Run(t.Context(), &Plugin{}, a); err == nil {
		t.Errorf("Run() with an undecodable status = %v, want an error", err)
	}
}

func TestHandles(t *testing.T) {
	for _, test := range []struct {
		operation admission.Operation
		resource  string
		want      admission.Phase
	}{
		{admission.Update, endpoint, admission.Validating},
		{admission.Update, "podcertificaterequests.certificates.k8s.io", 0},
		{admission.Update, "certificatesigningrequests.certificates.k8s.io/status", 0},
		{admission.Create, endpoint, 0},
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
