package policy

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/admission"
)

// Mutating returns the admission plugin MutatingAdmissionPolicy.
func (p *Policies) Mutating() admission.Plugin { return &mutatingPlugin{policies: p} }

type mutatingPlugin struct {
	admission.MutatingOnly
	policies *Policies
}

// Name implements admission.Plugin.
func (*mutatingPlugin) Name() string { return "MutatingAdmissionPolicy" }

// Handles implements admission.Plugin. A deletion has no object to mutate. Policies mutate no-op writes, too, because a mutation
// may depend on the user, the parameters or the time.
func (p *mutatingPlugin) Handles(operation admission.Operation, r admission.Resource) admission.Phase {
	if operation == admission.Delete || !p.policies.mutating.mayMatch(operation, r) {
		return 0
	}
	return admission.Mutating | admission.NoOps
}

// Admit implements admission.Plugin. It determines the invocations of all policies for the object that it receives, and then
// evaluates them one after the other. Errors of a policy reject the request after all policies were evaluated, unless the
// failurePolicy is Ignore.
func (p *mutatingPlugin) Admit(ctx context.Context, attributes *admission.Attributes) error {
	m := &mutationRun{request: p.policies.newRequest(attributes), policies: p.policies}
	var invocations []invocation[*mutator]
	for _, one := range p.policies.mutating.load() {
		matchAll(ctx, m.request, one,
			func(i invocation[*mutator]) { invocations = append(invocations, i) },
			func(c *misconfiguration[*mutator]) { m.fail(one, failure{binding: c.binding, message: c.Error()}) })
	}
	if len(invocations) > 0 {
		if err := m.run(ctx, invocations); err != nil {
			return err
		}
	}
	return m.error()
}

// mutationRun is one run of all policies for a write.
type mutationRun struct {
	*request
	policies *Policies
	failures []failure
	// succeeded reports whether a mutation was evaluated without an error, changed whether a mutation changed the object.
	succeeded, changed bool
	// stopped reports whether invocations were not evaluated because earlier invocations reject the request and are expensive.
	stopped bool
}

// failure is an error of a policy that rejects the request.
type failure struct {
	policy string
	// binding is "" if the policy itself is invalid.
	binding string
	message string
	// path is the path of the failed expression in the policy; "" for an invalid configuration.
	path   string
	reason metav1.StatusReason
}

// fail adds a failure of a policy, unless its failurePolicy is Ignore.
func (m *mutationRun) fail(one *policy[*mutator], f failure) {
	if !one.ignores {
		f.policy = one.name
		m.failures = append(m.failures, f)
		m.Costs.Deny()
	}
}

// error returns the API status error for the failures; nil if there are none. If an expression failed, its reason is
// Invalid and its code nevertheless 403, as in Kubernetes.
func (m *mutationRun) error() error {
	if len(m.failures) == 0 {
		return nil
	}
	err := forbidden(m.Record, errors.New("admission request denied by policy"))
	for i, f := range m.failures {
		text := fmt.Sprintf("policy %q denied request: %s", f.policy, f.message)
		if f.binding != "" {
			text = fmt.Sprintf("policy '%s' with binding '%s' denied request: %s", f.policy, f.binding, f.message)
		}
		if i == 0 {
			err.ErrStatus.Message = text
			if f.reason != "" {
				err.ErrStatus.Reason = f.reason
			}
		}
		err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{Message: text, Field: f.path})
	}
	if m.stopped {
		err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{Message: "further mutations were not evaluated: the request is denied, and the CEL expressions are expensive"})
	}
	return err
}

// run evaluates invocations in order. It returns an API status error if the request must be rejected independently of the
// failurePolicies. After a failure it stops as soon as the smaller budget of a denied request is exhausted.
func (m *mutationRun) run(ctx context.Context, invocations []invocation[*mutator]) error {
	calls := &m.Reinvocation.Policies
	if calls.IsSecond() && !document.Equal(calls.LastObject, m.Object) {
		calls.RequirePrevious() // an in-tree plugin or a webhook has changed the object since the first run
	}
	if err := m.loadNamespace(ctx); err != nil {
		return err
	}
	for _, i := range invocations {
		err := m.invoke(ctx, i, calls)
		switch {
		case errors.Is(err, admission.ErrCostBudget) && len(m.failures) > 0:
			m.stopped = true
			return nil // the failures reject the request
		case errors.Is(err, admission.ErrCostBudget):
			return forbidden(m.Record, err)
		case err != nil:
			return err
		}
	}
	if m.succeeded {
		calls.Require()
	}
	if m.changed {
		if err := m.Settle(); err != nil {
			return err
		}
	}
	calls.LastObject = m.Object
	return nil
}

// invoke evaluates the mutations of a policy, unless its matchConditions are false or the second run skips it. After an error
// it continues with the next mutation. It returns admission.ErrCostBudget if the budget of the request is exhausted.
func (m *mutationRun) invoke(ctx context.Context, i invocation[*mutator], calls *admission.Calls) error {
	compiled := i.policy.compiled()
	at, err := m.view(i.version)
	if err != nil {
		m.fail(i.policy, failure{message: fmt.Sprintf("failed to configure policy: %v", err)})
		return nil
	}
	failed := func(err error, path string) {
		m.fail(i.policy, failure{binding: i.binding.name, message: err.Error(), path: path, reason: metav1.StatusReasonInvalid})
	}
	if compiled.err != nil {
		failed(compiled.err, "")
		return nil
	}
	if compiled.conditions != nil {
		matches, err := m.policies.matchConditions(ctx, i.policy.name, compiled.conditions, m.input(at, i.version, i.params))
		if errors.Is(err, admission.ErrCostBudget) {
			return err
		}
		if err != nil {
			failed(err, "spec.matchConditions")
		}
		if err != nil || !matches {
			return nil
		}
	}
	id := i.id()
	if calls.Skips(id) {
		return nil
	}
	changed := false
	ctx = compiled.compiler.CreateContext(ctx)
	for _, one := range compiled.mutations {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		begun := time.Now()
		changes, err := m.mutate(ctx, i, one)
		m.policies.Metrics.Mutation(i.policy.name, i.binding.name, errorType(err), time.Since(begun))
		if status := apierrors.APIStatus(nil); errors.As(err, &status) || errors.Is(err, admission.ErrCostBudget) {
			return err
		}
		if err != nil {
			failed(err, one.path)
			continue
		}
		m.succeeded, changed = true, changed || changes
	}
	calls.Called(id, compiled.reinvoke, changed)
	return nil
}

// mutate evaluates one mutation, and reports whether it changed the object. An object that is too large to be stored rejects the request
// at once, because the size could double with each further mutation.
func (m *mutationRun) mutate(ctx context.Context, i invocation[*mutator], one *mutation) (changed bool, err error) {
	object, _, err := m.At(i.version)
	if err != nil || object.IsAbsent() {
		return false, err
	}
	at, err := m.view(i.version)
	if err != nil {
		return false, err
	}
	after, err := one.evaluate(ctx, m.request, object, m.input(at, i.version, i.params))
	if err != nil || document.Equal(object, after) {
		return false, err
	}
	size := len(after.AppendJSON(nil))
	if size > document.DefaultMaxBytes {
		return false, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("the object would have %d bytes after %s of policy %q, limit is %d",
			size, one.path, i.policy.name, document.DefaultMaxBytes))
	}
	m.Costs.Spend(int64(size), 0) // converting the changed object for the next expressions counts as cost
	m.replace(i.version, after)
	m.changed = true
	return true, nil
}

// id identifies the invocation among the invocations of a write.
func (i invocation[E]) id() string {
	id := i.policy.name + "/" + i.binding.name
	if i.params == nil {
		return id
	}
	if object, err := meta.Accessor(i.params); err == nil {
		id += "/" + object.GetNamespace() + "/" + object.GetName()
	}
	return id
}
