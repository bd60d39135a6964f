package custom

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/cache/cachetest"
)

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

// TestServedVersions: the versions of a kind are in the order of their maturity and age, whatever the order is in which they are defined.
func TestServedVersions(t *testing.T) {
	k := open(t, cachetest.OpenStore(t))
	var versions []string
	for _, name := range []string{"v1alpha1", "v1", "v2beta1", "foo", "v10", "v2"} {
		versions = append(versions, fmt.Sprintf("{name: %s, served: true, storage: %t, %s}", name, name == "v1", anything))
	}
	k.defineWidgets(strings.Join(versions, ", "), "")
	kind, ok := k.all.Kinds.Resource("example.com", "v1", "widgets")
	if want := []string{"v10", "v2", "v1", "v2beta1", "v1alpha1", "foo"}; !ok || !slices.Equal(kind.Versions, want) {
		t.Errorf("received %v, expected %v", kind.Versions, want)
	}
}

// TestSchemaHash: what clients know of a schema is out of date when it, or what is done with unknown fields, is another.
func TestSchemaHash(t *testing.T) {
	hash := func(preserve bool, schema string) [32]byte {
		doc, err := document.ParseYAML([]byte(fmt.Sprintf(`{metadata: {name: widgets.example.com}, spec: {group: example.com, preserveUnknownFields: %t, names: {plural: widgets, kind: Widget},
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {%s}}}]}}`, preserve, schema)))
		if err != nil {
			t.Fatal(err)
		}
		return newDefinition(read(doc), nil, nil).SchemaHash("v1")
	}
	one := hash(false, "type: object")
	if one != hash(false, "type: object") {
		t.Error("the same definition has two hashes")
	}
	if one == hash(true, "type: object") || one == hash(false, "type: object, description: d") {
		t.Error("different definitions have one hash")
	}
}

// TestEstablishedStays: a definition that was established stays so, though its webhook can't be trusted any more.
func TestEstablishedStays(t *testing.T) {
	for _, was := range []string{"True", "False"} {
		doc, err := document.ParseYAML([]byte(fmt.Sprintf(`{metadata: {name: widgets.example.com}, spec: {group: example.com, names: {plural: widgets, kind: Widget},
  conversion: {strategy: Webhook, webhook: {clientConfig: {url: "https://example.com", caBundle: bm90aGluZw==}}}},
  status: {conditions: [{type: Established, status: %q, reason: R, message: M}]}}`, was)))
		if err != nil {
			t.Fatal(err)
		}
		if got := read(doc).establish(condition{isTrue: true}); got.isTrue != (was == "True") {
			t.Errorf("it was %s and is %+v", was, got)
		}
	}
}
