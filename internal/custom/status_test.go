package custom

import "testing"

// TestApproval: definitions in groups of the Kubernetes community tell who has approved of them, and others do not.
func TestApproval(t *testing.T) {
	const name = "KubernetesAPIApprovalPolicyConformant"
	const url = "https://github.com/kubernetes/enhancements/pull/1111"
	for _, test := range []struct {
		group, approval string
		want            condition
	}{
		{"example.com", "", condition{}},
		{"gateway.networking.k8s.io", url, condition{name, true, "ApprovedAnnotation", "approved in " + url}},
		{"policy.kubernetes.io", "unapproved, an experiment", condition{name, false, "UnapprovedAnnotation", `not approved: "unapproved, an experiment"`}},
		{"a.k8s.io", "", condition{name, false, "MissingAnnotation", `protected groups must have approval annotation "api-approved.kubernetes.io", see ` + url}},
		{"a.k8s.io", "yes", condition{name, false, "InvalidAnnotation", `protected groups must have approval annotation "api-approved.kubernetes.io" with either a URL or a reason starting with "unapproved", see ` + url}},
	} {
		r := &reading{group: test.group, approval: test.approval}
		var got condition
		for _, c := range r.approve() {
			got = c
		}
		if got != test.want {
			t.Errorf("%s %q: %+v, want %+v", test.group, test.approval, got, test.want)
		}
	}
}
