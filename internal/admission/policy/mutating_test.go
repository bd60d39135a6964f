package policy

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/internal/admission"
)

// The effects of mutations are compared with kube-apiserver by the scripts in applytest/scripts/mutatingpolicy.

const everyRule = `matchConstraints: {namespaceSelector: {}, objectSelector: {}, resourceRules: [{apiGroups: ["*"], apiVersions: ["*"], resources: ["*"], operations: ["*"]}]}`

func mutatingSpec(rules, expression string) string {
	return fmt.Sprintf("spec:\n  %s\n  reinvocationPolicy: Never\n  mutations: [{patchType: ApplyConfiguration, applyConfiguration: {expression: '%s'}}]", rules, expression)
}

// TestMutatingHandles checks that the plugin handles only operations and resources that a bound policy matches, but not
// deletions, reviews or the objects that configure policies.
func TestMutatingHandles(t *testing.T) {
	o := newKit(t)
	handles := func(group, resource string, operation admission.Operation) bool {
		kind, ok := o.Kinds.Resource(group, "v1", resource)
		if !ok {
			t.Fatalf("resource %s not found", resource)
		}
		return o.Mutating().Handles(operation, admission.NewResource(kind, "v1", "", schema.GroupVersionKind{})) != 0
	}
	o.put(Mutating, "", "p", mutatingSpec(configMapRules, "Object{}"))
	if handles("", "configmaps", admission.Create) {
		t.Error("Handles(CREATE) with a policy without a binding: received a phase, want 0")
	}
	o.put(MutatingBindings, "", "p", "spec: {policyName: p}")
	for operation, want := range map[admission.Operation]bool{admission.Create: true, admission.Update: false, admission.Delete: false} {
		if got := handles("", "configmaps", operation); got != want {
			t.Errorf("Handles(%s) with a policy for CREATE: received %v, want %v", operation, got, want)
		}
	}
	if handles("", "secrets", admission.Create) {
		t.Error("Handles() of another resource: received a phase, want 0")
	}
	o.put(Mutating, "", "every", mutatingSpec(everyRule, "Object{}"))
	o.put(MutatingBindings, "", "every", "spec: {policyName: every}")
	const own = "admissionregistration.k8s.io"
	for _, test := range []struct {
		group, resource string
		operation       admission.Operation
		want            bool
	}{
		{"", "secrets", admission.Update, true},
		{"", "secrets", admission.Delete, false},
		{"authorization.k8s.io", "subjectaccessreviews", admission.Create, false},
		{own, "mutatingadmissionpolicies", admission.Create, false},
		{own, "mutatingadmissionpolicybindings", admission.Create, false},
		{own, "validatingadmissionpolicies", admission.Create, false},
		{own, "validatingadmissionpolicybindings", admission.Create, false},
		{own, "mutatingwebhookconfigurations", admission.Create, true},
		{own, "validatingwebhookconfigurations", admission.Create, true},
	} {
		if got := handles(test.group, test.resource, test.operation); got != test.want {
			t.Errorf("Handles(%s) of %s with a policy for everything: received %v, want %v", test.operation, test.resource, got, test.want)
		}
	}
}

// TestMutatingAndValidatingAreSeparate checks that a binding of one kind does not bind a policy of the other kind with the same
// name.
func TestMutatingAndValidatingAreSeparate(t *testing.T) {
	o := newKit(t)
	o.put(Mutating, "", "p", mutatingSpec(configMapRules, "Object{}"))
	o.bind("p", "")
	if len(o.mutating.load())+len(o.validating.load()) != 0 {
		t.Error("received bound policies, want none")
	}
	o.put(Validating, "", "p", rejectingName("bad"))
	if len(o.mutating.load()) != 0 || len(o.validating.load()) != 1 {
		t.Errorf("received %d mutating and %d validating policies, want 0 and 1", len(o.mutating.load()), len(o.validating.load()))
	}
}

// TestUndecodableMutatingPolicy checks that a policy that cannot be decoded is logged with its kind, and ignored.
func TestUndecodableMutatingPolicy(t *testing.T) {
	o := newKit(t)
	o.put(Mutating, "", "p", "spec: {mutations: 7}")
	o.put(MutatingBindings, "", "p", "spec: {policyName: p}")
	o.put(MutatingBindings, "", "q", "spec: 7")
	for _, want := range []string{`"ignoring admission policy that cannot be decoded" kind=MutatingAdmissionPolicy `, `"ignoring admission policy binding that cannot be decoded" kind=MutatingAdmissionPolicyBinding `} {
		if !strings.Contains(o.log.String(), want) {
			t.Errorf("the log is %s, want %q", o.log.String(), want)
		}
	}
	if err := o.Mutating().Admit(t.Context(), o.attributes("a")); err != nil {
		t.Errorf("Admit() = %v, want no error", err)
	}
}

// TestStoredExpressionThatDoesNotCompile checks that a stored expression that does not compile rejects the request unless the
// failurePolicy is Ignore, and that the cause has the path of the expression. An older version may have stored it.
func TestStoredExpressionThatDoesNotCompile(t *testing.T) {
	o := newKit(t)
	o.put(Mutating, "", "p", mutatingSpec(configMapRules, "Object{a: unknown}"))
	o.put(MutatingBindings, "", "p", "spec: {policyName: p}")
	err := o.Mutating().Admit(t.Context(), o.attributes("a"))
	if err == nil || !strings.Contains(err.Error(), "policy 'p' with binding 'p' denied request: compilation failed: ERROR: <input>:1:11: undeclared reference to 'unknown'") {
		t.Errorf("Admit() = %v, want an error with policy, binding and position", err)
	}
	if status := apierrors.APIStatus(nil); !errors.As(err, &status) || status.Status().Details.Causes[0].Field != "spec.mutations[0].applyConfiguration.expression" {
		t.Errorf("Admit() = %v, want a cause with the path of the expression", err)
	}
	if metric := `apiserver_mutating_admission_policy_check_total{error_type="compile_error",policy="p",policy_binding="p"} 1`; !strings.Contains(o.counted(), metric) {
		t.Errorf("metrics do not contain %s", metric)
	}
	delete(o.configurations[Mutating], "p")
	o.put(Mutating, "", "q", mutatingSpec(configMapRules, "Object{a: unknown}")+"\n  failurePolicy: Ignore")
	o.put(MutatingBindings, "", "q", "spec: {policyName: q}")
	if err := o.Mutating().Admit(t.Context(), o.attributes("a")); err != nil {
		t.Errorf("Admit() with failurePolicy Ignore = %v, want no error", err)
	}
}
