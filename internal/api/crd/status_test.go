package crd

import (
	"fmt"
	"testing"

	"github.com/cadastre/cadastre/document"
)

// TestApproval checks the condition KubernetesAPIApprovalPolicyConformant, which only CustomResourceDefinitions in protected
// groups have.
func TestApproval(t *testing.T) {
	const name = "KubernetesAPIApprovalPolicyConformant"
	const url = "https://github.com/kubernetes/enhancements/pull/1111"
	for _, test := range []struct {
		group, approval string
		want            Condition
	}{
		{"example.com", "", Condition{}},
		{"gateway.networking.k8s.io", url, Condition{name, true, "ApprovedAnnotation", "approved in " + url}},
		{"policy.kubernetes.io", "unapproved, an experiment", Condition{name, false, "UnapprovedAnnotation", `not approved: "unapproved, an experiment"`}},
		{"a.k8s.io", "", Condition{name, false, "MissingAnnotation", `protected groups must have approval annotation "api-approved.kubernetes.io", see ` + url}},
		{"a.k8s.io", "yes", Condition{name, false, "InvalidAnnotation", `protected groups must have approval annotation "api-approved.kubernetes.io" with either a URL or a reason starting with "unapproved", see ` + url}},
	} {
		r := &Definition{Group: test.group, approval: test.approval}
		var got Condition
		for _, c := range r.approvalCondition() {
			got = c
		}
		if got != test.want {
			t.Errorf("group %s, annotation %q: got condition %+v, want %+v", test.group, test.approval, got, test.want)
		}
	}
}

// TestSchemaHash checks that SchemaHash changes with the schema and with spec.preserveUnknownFields.
func TestSchemaHash(t *testing.T) {
	hash := func(preserve bool, schema string) [32]byte {
		doc, err := document.ParseYAML([]byte(fmt.Sprintf(`{metadata: {name: widgets.example.com}, spec: {group: example.com, preserveUnknownFields: %t, names: {plural: widgets, kind: Widget},
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {%s}}}]}}`, preserve, schema)))
		if err != nil {
			t.Fatal(err)
		}
		return NewResource(Parse(doc), nil, nil).SchemaHash("v1")
	}
	one := hash(false, "type: object")
	if one != hash(false, "type: object") {
		t.Error("SchemaHash() of two equal definitions: got different hashes, want equal hashes")
	}
	if one == hash(true, "type: object") || one == hash(false, "type: object, description: d") {
		t.Error("SchemaHash() of different definitions: got equal hashes, want different hashes")
	}
}

// TestEstablishedPersists checks that an established CustomResourceDefinition remains established when the caBundle of its
// conversion webhook becomes invalid.
func TestEstablishedPersists(t *testing.T) {
	for _, was := range []string{"True", "False"} {
		doc, err := document.ParseYAML([]byte(fmt.Sprintf(`{metadata: {name: widgets.example.com}, spec: {group: example.com, names: {plural: widgets, kind: Widget},
  conversion: {strategy: Webhook, webhook: {clientConfig: {url: "https://example.com", caBundle: bm90aGluZw==}}}},
  status: {conditions: [{type: Established, status: %q, reason: R, message: M}]}}`, was)))
		if err != nil {
			t.Fatal(err)
		}
		if got := Parse(doc).establishedCondition(Condition{True: true}); got.True != (was == "True") {
			t.Errorf("condition Established, whose status was %s: got %+v, want the same status", was, got)
		}
	}
}
