package rbacescalation

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/admission/admissiontest"
	"github.com/cadastre/cadastre/internal/auth/authn"
	"github.com/cadastre/cadastre/internal/auth/authz/rbac/rbactest"
)

// policyObjects are roles and bindings that permit the user tester to read pods in the namespace ns, and to escalate and bind
// the role free.
var policyObjects = []string{
	`{kind: Role, metadata: {name: reader, namespace: ns}, rules: [{verbs: [get], apiGroups: [""], resources: [pods]}]}`,
	`{kind: Role, metadata: {name: writer, namespace: ns}, rules: [{verbs: [update], apiGroups: [""], resources: [pods]}]}`,
	`{kind: Role, metadata: {name: special, namespace: ns}, rules: [{verbs: [escalate, bind], apiGroups: [rbac.authorization.k8s.io], resources: [roles], resourceNames: [free]}]}`,
	`{kind: Role, metadata: {name: free, namespace: ns}, rules: [{verbs: [delete], apiGroups: [""], resources: [pods]}]}`,
	`{kind: RoleBinding, metadata: {name: reader, namespace: ns}, subjects: [{kind: User, name: tester}], roleRef: {kind: Role, name: reader, apiGroup: rbac.authorization.k8s.io}}`,
	`{kind: RoleBinding, metadata: {name: special, namespace: ns}, subjects: [{kind: User, name: tester}], roleRef: {kind: Role, name: special, apiGroup: rbac.authorization.k8s.io}}`,
}

const roles, bindings = "roles.rbac.authorization.k8s.io", "rolebindings.rbac.authorization.k8s.io"

func TestEscalation(t *testing.T) {
	authorizer := rbactest.New(t, policyObjects...)
	plugin := &Plugin{RBAC: authorizer, Authorizer: authorizer}
	const (
		reads  = `{rules: [{verbs: [get], apiGroups: [""], resources: [pods]}]}`
		writes = `{rules: [{verbs: [update], apiGroups: [""], resources: [pods]}]}`
		both   = `{rules: [{verbs: [get, update], apiGroups: [""], resources: [pods]}]}`
		free   = `{metadata: {name: free}, rules: [{verbs: ["*"], apiGroups: ["*"], resources: ["*"]}]}`
	)
	bind := func(role string) string {
		return `{roleRef: {kind: Role, name: ` + role + `, apiGroup: rbac.authorization.k8s.io}, subjects: [{kind: User, name: eve, apiGroup: rbac.authorization.k8s.io}]}`
	}
	for _, test := range []struct {
		name, resource, object, old string
		isAdmin                     bool
		want                        string // suffix of the message of the expected 403; "" if the write must be admitted
	}{
		{name: "a permission that the user holds", resource: roles, object: reads},
		{name: "another permission", resource: roles, object: writes, want: `{APIGroups:[""], Resources:["pods"], Verbs:["update"]}`},
		{name: "a permission that the role has already", resource: roles, object: writes, old: writes},
		{name: "an added permission", resource: roles, object: both, old: reads, want: `{APIGroups:[""], Resources:["pods"], Verbs:["update"]}`},
		{name: "a removed permission", resource: roles, object: reads, old: both},
		{name: "the verb escalate", resource: roles, object: free},
		{name: "an administrator", resource: roles, object: writes, isAdmin: true},
		{name: "a binding of a role that the user holds", resource: bindings, object: bind("reader")},
		{name: "a binding of another role", resource: bindings, object: bind("writer"), want: `{APIGroups:[""], Resources:["pods"], Verbs:["update"]}`},
		{name: "the verb bind", resource: bindings, object: bind("free")},
		{name: "a binding by an administrator", resource: bindings, object: bind("writer"), isAdmin: true},
	} {
		operation := admission.Create
		if test.old != "" {
			operation = admission.Update
		}
		a := admissiontest.New(operation, test.resource, test.object, test.old, nil)
		if test.isAdmin {
			a.User = &authn.User{Name: "admin", Groups: []string{authn.MastersGroup}}
		}
		err := admissiontest.Run(t.Context(), plugin, a)
		if test.want == "" && err != nil || test.want != "" && (!apierrors.IsForbidden(err) || !strings.HasSuffix(err.Error(), test.want)) {
			t.Errorf("%s: Run() = %v, want an error with the suffix %q, or nil if it is empty", test.name, err, test.want)
		}
	}
}

func TestHandles(t *testing.T) {
	for _, test := range []struct {
		operation admission.Operation
		resource  string
		want      admission.Phase
	}{
		{admission.Create, roles, admission.Validating},
		{admission.Update, "clusterrolebindings.rbac.authorization.k8s.io", admission.Validating},
		{admission.Delete, roles, 0},
		{admission.Create, "pods", 0},
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
