package policy

import (
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/cadastre/cadastre/internal/admission"
)

// nested returns a CEL expression that is true and whose cost is about 5·10^depth.
func nested(depth int) string {
	if depth == 0 {
		return "true"
	}
	return fmt.Sprintf("[0,1,2,3,4,5,6,7,8,9].all(i%d, %s)", depth, nested(depth-1))
}

// manyParams binds a policy of either kind to 30 ConfigMaps.
func (o *kit) manyParams(bindings, more string) {
	o.Helper()
	for i := range 30 {
		o.put("core/configmaps", "red", fmt.Sprintf("param%d-%s", i, path.Base(bindings)), "apiVersion: v1\nkind: ConfigMap")
	}
	o.put(bindings, "", "p", "spec: {policyName: p, paramRef: {selector: {}, parameterNotFoundAction: Deny}"+more+"}")
}

// expensiveMutations returns the spec of a policy with 16 mutations of expressions that are evaluated for 30 parameter objects.
func expensiveMutations(condition string) string {
	mutation := fmt.Sprintf(`{patchType: JSONPatch, jsonPatch: {expression: '%s ? [JSONPatch{op: "test", path: "/kind", value: "none"}] : []'}}`, condition)
	return fmt.Sprintf("spec:\n  %s\n  paramKind: {apiVersion: v1, kind: ConfigMap}\n  reinvocationPolicy: Never\n  failurePolicy: Fail\n  mutations: [%s]",
		configMapRules, strings.Repeat(mutation+",", 16))
}

// evaluations returns the number of evaluated mutations, or of validations that did not succeed.
func (o *kit) evaluations(kind string) (count int) {
	for _, match := range regexp.MustCompile(`apiserver_`+kind+`_admission_policy_check_total{.*} (\d+)`).FindAllStringSubmatch(o.counted(), -1) {
		n, _ := strconv.Atoi(match[1])
		count += n
	}
	return count
}

// TestDenialStopsExpensiveMutations checks that after a mutation has failed, further mutations are evaluated only up to a low
// total cost, so that 480 expensive mutations do not take a minute.
func TestDenialStopsExpensiveMutations(t *testing.T) {
	o := newKit(t)
	o.put(Mutating, "", "p", expensiveMutations(nested(7))) // the cost of each expression exceeds its limit
	o.manyParams(MutatingBindings, "")
	err := o.Mutating().Admit(t.Context(), o.attributes("a"))
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Code != 403 || !strings.Contains(err.Error(), "actual cost limit exceeded") {
		t.Fatalf("Admit() = %v, want the error of the first mutation", err)
	}
	causes := status.Status().Details.Causes
	if last := causes[len(causes)-1].Message; !strings.HasPrefix(last, "further mutations were not evaluated") {
		t.Errorf("the last cause is %q, want one about mutations that were not evaluated", last)
	}
	const most = 1 + celconfig.RuntimeCELCostBudget/celconfig.PerCallLimit
	if got := o.evaluations("mutating"); got < most-1 || got > most+1 {
		t.Errorf("received %d evaluations, want about %d of 480", got, most)
	}
}

// TestMutationsShareABudget checks that a request is rejected, with every failurePolicy, if its mutations exceed the budget
// in total but not individually.
func TestMutationsShareABudget(t *testing.T) {
	o := newKit(t)
	o.put(Mutating, "", "p", strings.Replace(expensiveMutations(nested(3)), "failurePolicy: Fail", "failurePolicy: Ignore", 1))
	o.manyParams(MutatingBindings, "")
	if err := o.Mutating().Admit(t.Context(), o.attributes("a")); err != nil {
		t.Fatalf("Admit() of a new request = %v, want no error", err)
	}
	a := o.attributes("a")
	spendAllBut(t, a, 50_000)
	err := o.Mutating().Admit(t.Context(), a)
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "expected a cost of at most 50000000 per request") {
		t.Errorf("Admit() = %v, want a 403 about the cost", err)
	}
	if !strings.Contains(o.counted(), `check_total{error_type="out_of_budget",policy="p",policy_binding="p"}`) {
		t.Error("metrics do not contain the label out_of_budget")
	}
}

// spendAllBut spends the budget of a request except for the amount left.
func spendAllBut(t *testing.T, a *admission.Attributes, left int64) {
	t.Helper()
	const total = 5 * celconfig.RuntimeCELCostBudget
	granted, err := admission.RecordOf(a).Costs.Grant(total)
	if err != nil || granted != total {
		t.Fatalf("Grant(%d) of a new request = %d, %v", total, granted, err)
	}
	admission.RecordOf(a).Costs.Spend(granted, left)
}

// TestValidationsShareABudget checks that validations, and matchConditions and audit annotations of validating policies, reject a
// request whose budget is exhausted, and that a denial stops expensive evaluations.
func TestValidationsShareABudget(t *testing.T) {
	const params = "paramKind: {apiVersion: v1, kind: ConfigMap}\n  failurePolicy: Ignore\n  "
	for name, expressions := range map[string]string{
		"validations":       fmt.Sprintf(`validations: [{expression: '%s'}]`, nested(3)),
		"matchConditions":   fmt.Sprintf("matchConditions: [{name: c, expression: '%s'}]\n  validations: [{expression: 'true'}]", nested(3)),
		"audit annotations": fmt.Sprintf(`auditAnnotations: [{key: k, valueExpression: '%s ? null : null'}]`, nested(3)),
	} {
		o := newKit(t)
		o.put(Validating, "", "p", spec(params+expressions))
		o.manyParams(ValidatingBindings, ", validationActions: [Deny]")
		if got := o.denial("a"); got != "" {
			t.Errorf("%s: denial() = %q for a new request, want none", name, got)
		}
		a := o.attributes("a")
		spendAllBut(t, a, 50_000)
		if err := o.Validating().Validate(t.Context(), a); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "expected a cost of at most") {
			t.Errorf("%s: Validate() = %v, want a 403 about the cost", name, err)
		}
	}
}

// TestDenialStopsExpensiveValidations checks that after a denial, further parameter objects are evaluated only up to a low
// total cost.
func TestDenialStopsExpensiveValidations(t *testing.T) {
	o := newKit(t)
	o.put(Validating, "", "p", spec("paramKind: {apiVersion: v1, kind: ConfigMap}\n  validations: ["+strings.Repeat(fmt.Sprintf("{expression: '%s'},", nested(7)), 4)+"]"))
	o.manyParams(ValidatingBindings, ", validationActions: [Deny]")
	if got := o.denial("a"); !strings.Contains(got, "actual cost limit exceeded") {
		t.Errorf("denial() = %q, want one about the cost", got)
	}
	if got := o.evaluations("validating"); got > 20 {
		t.Errorf("received %d evaluations, want at most 20 of 120", got)
	}
}

// TestCanceledRequestStopsPolicies checks that no further policy is evaluated after the request has ended.
func TestCanceledRequestStopsPolicies(t *testing.T) {
	o := newKit(t)
	o.put(Mutating, "", "p", expensiveMutations("true"))
	o.put(Validating, "", "p", spec("paramKind: {apiVersion: v1, kind: ConfigMap}\n  failurePolicy: Ignore\n  validations: [{expression: 'true'}]"))
	o.manyParams(MutatingBindings, "")
	o.manyParams(ValidatingBindings, ", validationActions: [Deny]")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := o.Mutating().Admit(ctx, o.attributes("a")); !errors.Is(err, context.Canceled) {
		t.Errorf("Admit() = %v, want context.Canceled", err)
	}
	if err := o.Validating().Validate(ctx, o.attributes("a")); !errors.Is(err, context.Canceled) {
		t.Errorf("Validate() = %v, want context.Canceled", err)
	}
}
