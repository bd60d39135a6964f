package deviceaccess

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/admission/admissiontest"
	"github.com/cadastre/cadastre/internal/auth/authn"
	"github.com/cadastre/cadastre/internal/auth/authz/rbac/rbactest"
)

const (
	claims    = "resourceclaims.resource.k8s.io"
	templates = "resourceclaimtemplates.resource.k8s.io"
)

// errorsOf runs the plugin and returns the field errors that it adds, as "path: detail up to the first colon".
func errorsOf(t *testing.T, plugin *Plugin, a *admission.Attributes) (texts []string) {
	t.Helper()
	if err := admissiontest.Run(t.Context(), plugin, a); err != nil {
		t.Fatal(err)
	}
	for _, err := range admission.RecordOf(a).Errors() {
		detail, _, _ := strings.Cut(err.Detail, ": ")
		texts = append(texts, err.Field+": "+detail)
	}
	return texts
}

func TestAdminAccess(t *testing.T) {
	const (
		plain    = `{kind: Namespace, metadata: {name: ns}}`
		labelled = `{kind: Namespace, metadata: {name: ns, labels: {resource.kubernetes.io/admin-access: "true"}}}`
		other    = `{kind: Namespace, metadata: {name: ns, labels: {resource.kubernetes.io/admin-access: "false"}}}`
		detail   = "admin access to devices requires the `resource.kubernetes.io/admin-access"
		spec     = `devices: {requests: [{name: a, exactly: {deviceClassName: c}}, {name: b, exactly: {deviceClassName: c, adminAccess: true}}]}`
		claim    = `{spec: {` + spec + `}}`
		template = `{spec: {spec: {` + spec + `}}}`
		modest   = `{spec: {devices: {requests: [{name: a, exactly: {deviceClassName: c, adminAccess: false}}, {name: b, firstAvailable: [{name: x, deviceClassName: c}]}]}}}`
		result   = `{status: {allocation: {devices: {results: [{request: a, adminAccess: true}]}}}}`
	)
	for _, test := range []struct {
		name, namespace, resource, object, old string
		want                                   []string
	}{
		{name: "a claim", namespace: plain, resource: claims, object: claim, want: []string{"spec.devices.requests[1].adminAccess: " + detail}},
		{name: "a claim in a labelled namespace", namespace: labelled, resource: claims, object: claim},
		{name: "another value of the label", namespace: other, resource: claims, object: claim, want: []string{"spec.devices.requests[1].adminAccess: " + detail}},
		{name: "a claim without admin access", namespace: plain, resource: claims, object: modest},
		{name: "a template", namespace: plain, resource: templates, object: template, want: []string{"spec.devices.requests[1].adminAccess: " + detail}},
		{name: "a status", namespace: plain, resource: claims + "/status", object: result, old: `{}`, want: []string{"status.allocation.devices.results[0].adminAccess: " + detail}},
		{name: "a status that had it before", namespace: plain, resource: claims + "/status", object: result, old: result},
		{name: "an update of the claim itself", namespace: plain, resource: claims, object: claim, old: claim},
	} {
		operation := admission.Create
		if test.old != "" {
			operation = admission.Update
		}
		a := admissiontest.New(operation, test.resource, test.object, test.old, admissiontest.NewReader(test.namespace))
		if got := errorsOf(t, &Plugin{}, a); !slices.Equal(got, test.want) {
			t.Errorf("%s: errorsOf() = %q, want %q", test.name, got, test.want)
		}
	}
}

func TestReadError(t *testing.T) {
	failure := errors.New("closed")
	a := admissiontest.New(admission.Create, claims, `{spec: {devices: {requests: [{exactly: {adminAccess: true}}]}}}`, "", &admissiontest.Reader{Err: failure})
	if err := admissiontest.Run(t.Context(), &Plugin{}, a); !errors.Is(err, failure) {
		t.Errorf("Run() with a failing Reader = %v, want %v", err, failure)
	}
}

// TestStatus checks the permissions, in addition to the update of the status, that changes of a claim's allocation and of its
// device status require.
func TestStatus(t *testing.T) {
	const group = "rbac.authorization.k8s.io"
	grant := func(name, rule string) []string {
		return []string{
			`{kind: ClusterRole, metadata: {name: ` + name + `}, rules: [` + rule + `]}`,
			`{kind: ClusterRoleBinding, metadata: {name: ` + name + `}, subjects: [{kind: User, name: ` + name + `}], roleRef: {kind: ClusterRole, name: ` + name + `, apiGroup: ` + group + `}}`,
		}
	}
	const account = "system:serviceaccount:ns:driver"
	rbac := append(grant("scheduler", `{verbs: [update], apiGroups: [resource.k8s.io], resources: [resourceclaims/binding]}`),
		grant("anywhere", `{verbs: ["arbitrary-node:update"], apiGroups: [resource.k8s.io], resources: [resourceclaims/driver], resourceNames: [d.example.com]}`)...)
	rbac = append(rbac, `{kind: ClusterRole, metadata: {name: local}, rules: [{verbs: ["associated-node:update"], apiGroups: [resource.k8s.io], resources: [resourceclaims/driver]}]}`,
		`{kind: ClusterRoleBinding, metadata: {name: local}, subjects: [{kind: ServiceAccount, name: driver, namespace: ns}], roleRef: {kind: ClusterRole, name: local, apiGroup: `+group+`}}`)
	plugin := &Plugin{Authorizer: rbactest.New(t, rbac...)}
	const (
		allocation = `allocation: {nodeSelector: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [node1]}]}]}}`
		allocated  = `{status: {` + allocation + `}}`
		reported   = `{status: {` + allocation + `, devices: [{driver: d.example.com, pool: p, device: x}]}}`
		elsewhere  = `{status: {` + allocation + `, devices: [{driver: e.example.com, pool: p, device: x}]}}`
		binding    = `status.allocation: changing status.allocation or status.reservedFor requires resource="resourceclaims/binding", verb="update" permission`
		anyNode    = `status.devices: changing status.devices requires resource="resourceclaims/driver", verb="[arbitrary-node:update]" permission`
		ownNode    = `status.devices: changing status.devices requires resource="resourceclaims/driver", verb="[associated-node:update arbitrary-node:update]" permission`
	)
	on := func(node string) *authn.User {
		return &authn.User{Name: account, Extra: map[string][]string{"authentication.kubernetes.io/node-name": {node}}}
	}
	for _, test := range []struct {
		name        string
		user        *authn.User
		object, old string
		want        []string
	}{
		{"an allocation", &authn.User{Name: "scheduler"}, allocated, `{}`, nil},
		{"an allocation without the permission", &authn.User{Name: "eve"}, allocated, `{}`, []string{binding}},
		{"a reservation without the permission", &authn.User{Name: "eve"}, `{status: {reservedFor: [{name: p}]}}`, `{}`, []string{binding}},
		{"no change", &authn.User{Name: "eve"}, allocated, allocated, nil},
		{"a report", &authn.User{Name: "anywhere"}, reported, allocated, nil},
		{"a removed report", &authn.User{Name: "anywhere"}, allocated, reported, nil},
		{"a report about another driver", &authn.User{Name: "anywhere"}, elsewhere, allocated, []string{anyNode}},
		{"a report without the permission", &authn.User{Name: "eve"}, reported, allocated, []string{anyNode}},
		{"a report on the own node", on("node1"), reported, allocated, nil},
		{"a report on another node", on("node2"), reported, allocated, []string{anyNode}},
		{"a user that is not a service account", &authn.User{Name: "eve", Extra: on("node1").Extra}, reported, allocated, []string{anyNode}},
		{"a service account without permissions on its node", &authn.User{Name: "system:serviceaccount:ns:eve", Extra: on("node1").Extra}, reported, allocated, []string{ownNode}},
		{"a report about a claim that is not allocated", &authn.User{Name: "scheduler"}, `{status: {devices: [{driver: d.example.com}]}}`, `{}`, nil},
	} {
		a := admissiontest.New(admission.Update, claims+"/status", test.object, test.old, admissiontest.NewReader(`{kind: Namespace, metadata: {name: ns}}`))
		a.User = test.user
		if got := errorsOf(t, plugin, a); !slices.Equal(got, test.want) {
			t.Errorf("%s: errorsOf() = %q, want %q", test.name, got, test.want)
		}
	}
}
