package registry

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// evictionSubresource is the subresource eviction, which deletes a pod if its PodDisruptionBudget allows that.
//
// The disruption is counted before the pod is deleted: the eviction decrements status.disruptionsAllowed of the budget and
// records the pod in status.disruptedPods, from which the disruption controller removes it. If the server stops between the
// decrement and the deletion, the budget allows one disruption too few until the controller recomputes the status. The
// client's preconditions are checked when the pod is deleted, as in kube-apiserver: an eviction that fails a precondition has
// decremented the budget nevertheless.
func evictionSubresource() *Subresource {
	return &Subresource{
		Name:        "eviction",
		Verbs:       []string{"create"},
		Body:        policyv1.SchemeGroupVersion.WithKind("Eviction"),
		AlsoAccepts: []schema.GroupVersion{{Group: "policy", Version: "v1beta1"}},
		Create:      evictPod,
	}
}

// budgetManager is the field manager of updates to the status of budgets. kube-apiserver uses the same name, because it writes
// the status with its loopback client.
const budgetManager = "kube-apiserver"

// maxDisruptedPods is the maximum length of status.disruptedPods of a budget. If a budget exceeds it, the disruption controller
// has not processed earlier evictions, and the server rejects further evictions.
const maxDisruptedPods = 2000

// budgetViolationMessage is Kubernetes' error message for an eviction that a budget does not allow.
const budgetViolationMessage = "Cannot evict pod as it would violate the pod's disruption budget."

var budgets = schema.GroupResource{Group: "policy", Resource: "poddisruptionbudgets"}

// eviction is the state of one eviction request.
type eviction struct {
	*Action
	// options are the deleteOptions in the body of the request.
	options metav1.DeleteOptions
	// dryRun reports whether the query parameter or options request a dry run.
	dryRun bool
	// ignoresRevision reports that the client's resourceVersion precondition is not checked.
	ignoresRevision bool
}

// evictPod is the Create function of the subresource eviction.
func evictPod(ctx context.Context, a *Action) (metav1.Status, error) {
	e, err := newEviction(a)
	if err != nil {
		return metav1.Status{}, err
	}
	if err := a.ValidateAdmission(ctx); err != nil {
		return metav1.Status{}, err
	}
	if e.dryRun {
		a.pending = nil // prevents a commit by CreateSubresource, which does not read dryRun of deleteOptions
	}
	for {
		status, err := e.attempt(ctx)
		if !errors.Is(err, errPodChanged) || ctx.Err() != nil {
			return status, err
		}
	}
}

// newEviction decodes deleteOptions of the request. It returns an error if the names in the body and the URL differ, or if
// dryRun of the body and of the request do.
func newEviction(a *Action) (*eviction, error) {
	if a.Body.Lookup("metadata", "name").Text() != a.Name {
		return nil, apierrors.NewBadRequest("name in URL does not match name in Eviction object")
	}
	e := &eviction{Action: a, dryRun: a.DryRun}
	if err := decodeInto(a.Body.Get("deleteOptions"), &e.options); err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("deleteOptions: %v", err))
	}
	if ignore := e.options.IgnoreStoreReadErrorWithClusterBreakingPotential; ignore != nil && *ignore {
		return nil, apierrors.NewInvalid(schema.GroupKind{Group: "policy", Kind: "Eviction"}, a.Name, field.ErrorList{
			field.Invalid(field.NewPath("deleteOptions", "ignoreStoreReadErrorWithClusterBreakingPotential"), true, "can not be set for pod eviction, try after removing the option"),
		})
	}
	if a.DryRun {
		all := []string{metav1.DryRunAll}
		if len(e.options.DryRun) > 0 && !slices.Equal(e.options.DryRun, all) {
			//lint:ignore ST1005 as Kubernetes writes it
			return nil, fmt.Errorf("Non-matching dry-run options in request and content: %v and %v", all, e.options.DryRun)
		}
		e.options.DryRun = all
	}
	e.dryRun = len(e.options.DryRun) > 0
	return e, nil
}

// checkOptions returns a 422 if deleteOptions are invalid. It is called after the budget was checked, so errors about the
// budget take precedence, as in kube-apiserver. Unlike in kube-apiserver, the check precedes the first write.
func (e *eviction) checkOptions() error {
	if errs := metav1validation.ValidateDeleteOptions(&e.options); len(errs) > 0 {
		return apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "DeleteOptions"}, "", errs)
	}
	return nil
}

// errPodChanged is returned by an attempt that must be repeated because another write has changed the pod.
var errPodChanged = errors.New("the pod has changed since the budget was checked")

// attempt evicts the pod at its latest revision. It returns errPodChanged if the attempt must be repeated.
func (e *eviction) attempt(ctx context.Context) (metav1.Status, error) {
	success := metav1.Status{Status: metav1.StatusSuccess}
	live, object, err := e.Get(ctx)
	if err != nil {
		return metav1.Status{}, err
	}
	pod := object.Document
	if ignoresBudget(pod) {
		// A pending pod is pinned to its revision: if it starts to run before it is deleted, the budget must be checked.
		return success, e.deletePod(ctx, live, pod.Lookup("status", "phase").Text() == "Pending" && !isMarkedDeleted(pod), errPodChanged)
	}
	matching, err := e.budgetsOf(ctx, pod)
	switch {
	case err != nil:
		return metav1.Status{}, err
	case len(matching) > 1:
		return metav1.Status{
			Status: metav1.StatusFailure, Code: 500,
			Message: "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
		}, nil
	case len(matching) == 0:
		return success, e.deletePod(ctx, live, false, errPodChanged)
	}
	budget := matching[0]
	name := budget.Name()
	unhealthy, err := allowsUnhealthy(budget, pod)
	if err != nil {
		return metav1.Status{}, err
	}
	if unhealthy {
		// The pod is pinned to its revision, because it must not become ready before it is deleted. As in kube-apiserver
		// this precondition replaces the client's resourceVersion, which is not checked.
		e.ignoresRevision = true
		return success, e.deletePod(ctx, live, true, tooManyRequests(name))
	}
	if err := e.countDisruption(ctx, name); err != nil {
		return metav1.Status{}, err
	}
	return success, e.deletePod(ctx, live, false, errPodChanged)
}

// ignoresBudget reports whether a pod can be evicted without checking budgets, because it does not run or is being deleted.
func ignoresBudget(pod document.Value) bool {
	switch pod.Lookup("status", "phase").Text() {
	case "Succeeded", "Failed", "Pending":
		return true
	}
	return isMarkedDeleted(pod)
}

// budgetsOf returns the PodDisruptionBudgets that select a pod.
func (e *eviction) budgetsOf(ctx context.Context, pod document.Value) (matching []*watchcache.Object, err error) {
	podLabels := labels.Set{}
	for key, value := range pod.Lookup("metadata", "labels").Fields() {
		podLabels[key] = value.Text()
	}
	list, err := e.Cache.List(ctx, watchcache.Query{
		Selection: watchcache.Selection{Kind: budgets.Group + "/" + budgets.Resource, Namespace: e.Namespace}, Freshness: watchcache.Latest,
	})
	if err != nil {
		return nil, StoreError(err)
	}
	for _, object := range list.Objects {
		budget, err := decodeBudget(object)
		if err != nil {
			continue // a budget that cannot be decoded selects no pods
		}
		selector, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
		if err == nil && selector.Matches(podLabels) {
			matching = append(matching, object)
		}
	}
	return matching, nil
}

func decodeBudget(object *watchcache.Object) (*policyv1.PodDisruptionBudget, error) {
	doc, err := object.WithoutManagedFields()
	if err != nil {
		return nil, err
	}
	budget := &policyv1.PodDisruptionBudget{}
	return budget, decodeInto(doc, budget)
}

// allowsUnhealthy reports whether a budget allows the eviction of a pod because the pod is not ready, and either
// unhealthyPodEvictionPolicy is AlwaysAllow or enough other pods are healthy.
func allowsUnhealthy(object *watchcache.Object, pod document.Value) (bool, error) {
	if isReady(pod) {
		return false, nil
	}
	budget, err := decodeBudget(object)
	if err != nil {
		return false, apierrors.NewInternalError(err)
	}
	if policy := budget.Spec.UnhealthyPodEvictionPolicy; policy != nil && *policy == policyv1.AlwaysAllow {
		return true, nil
	}
	return budget.Status.CurrentHealthy >= budget.Status.DesiredHealthy && budget.Status.DesiredHealthy > 0, nil
}

// isReady reports whether the condition Ready of a pod is True.
func isReady(pod document.Value) bool {
	for _, condition := range pod.Lookup("status", "conditions").Items() {
		if condition.Get("type").Text() == "Ready" {
			return condition.Get("status").Text() == "True"
		}
	}
	return false
}

// tooManyRequests returns the 429 for a budget whose status the disruption controller has not updated yet. The client should
// retry after 10 seconds.
func tooManyRequests(budget string) error {
	err := apierrors.NewTooManyRequests(budgetViolationMessage, 10)
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{
		Type: policyv1.DisruptionBudgetCause, Message: fmt.Sprintf("The disruption budget %s is still being processed by the server.", budget),
	})
	return err
}

// deletePod sets the condition DisruptionTarget of the pod and deletes it. If pinned is true and the pod is no longer at the
// revision of live, deletePod returns onChange.
func (e *eviction) deletePod(ctx context.Context, live *watchcache.Object, pinned bool, onChange error) error {
	if err := e.checkOptions(); err != nil {
		return err
	}
	pods, err := e.Registry.Endpoint(e.target.Kind, e.target.Version, "")
	if err != nil {
		return err
	}
	// As in kube-apiserver the admission chain runs on the Eviction and not on the deletion.
	d := &Deletion{Endpoint: pods, Namespace: e.Namespace, Name: e.Name, User: e.User, Warn: e.Warn, isAdmitted: true}
	d.SetOptions(e.options)
	hasRevision := d.ResourceVersion != nil
	if pinned && (!hasRevision || e.ignoresRevision) {
		d.ResourceVersion = new(fmt.Sprint(live.Revision()))
	}
	if !e.dryRun {
		err = e.markDisrupted(ctx, d)
	}
	if err == nil {
		_, err = e.Delete(ctx, d)
	}
	if apierrors.IsConflict(err) && !hasRevision && pinned {
		return onChange
	}
	return err
}

// markDisrupted sets the condition DisruptionTarget of the pod. It returns a 409 if the preconditions of d do not hold. If d
// has a resourceVersion precondition, markDisrupted replaces it with the revision of the write of the condition.
func (e *eviction) markDisrupted(ctx context.Context, d *Deletion) error {
	written, err := e.Modify(ctx, func(live *watchcache.Object, pod document.Value) (document.Value, error) {
		if err := d.checkPreconditions(live, pod); err != nil {
			return pod, err
		}
		return pod.With("status", withPodCondition(pod.Get("status"), e.Now().UTC().Format(timeFormat),
			podCondition{"DisruptionTarget", "EvictionByEvictionAPI", "Eviction API: evicting"})), nil
	})
	if err == nil && d.ResourceVersion != nil {
		d.ResourceVersion = new(fmt.Sprint(written.Revision()))
	}
	return err
}

// countDisruption decrements status.disruptionsAllowed of the named budget. It returns a 429 if the budget allows no
// disruptions.
func (e *eviction) countDisruption(ctx context.Context, name string) error {
	kind, _ := e.Kinds.Resource(budgets.Group, "v1", budgets.Resource)
	endpoint, err := e.Registry.Endpoint(kind, "v1", "status")
	if err != nil {
		return err
	}
	for {
		live, err := e.Cache.Get(ctx, watchcache.Key{Kind: budgets.Group + "/" + budgets.Resource, Namespace: e.Namespace, Name: name}, watchcache.Latest)
		if errors.Is(err, storage.ErrNotFound) {
			return apierrors.NewNotFound(budgets, name)
		}
		if err != nil {
			return StoreError(err)
		}
		budget, err := decodeBudget(live)
		if err != nil {
			return apierrors.NewInternalError(err)
		}
		if err := cmp.Or(checkBudget(budget), e.checkOptions()); err != nil || e.dryRun {
			return err
		}
		_, err = e.touch(endpoint, live, budgetManager, func(doc document.Value) document.Value {
			return e.withDisruption(doc, budget)
		}, func(w storage.Write) (*watchcache.Object, error) { return e.commitWithAdmission(ctx, w) })
		var conflict *storage.ConflictError
		if !errors.As(err, &conflict) || ctx.Err() != nil {
			return err
		}
	}
}

// checkBudget returns a 429 or 403 if a budget allows no disruptions.
func checkBudget(budget *policyv1.PodDisruptionBudget) error {
	status := &budget.Status
	forbidden := func(text string) error {
		return apierrors.NewForbidden(schema.GroupResource{Group: "policy", Resource: "poddisruptionbudget"}, budget.Name, errors.New(text))
	}
	switch {
	case status.ObservedGeneration < budget.Generation:
		return tooManyRequests(budget.Name)
	case status.DisruptionsAllowed < 0:
		return forbidden("pdb disruptions allowed is negative")
	case len(status.DisruptedPods) > maxDisruptedPods:
		return forbidden("DisruptedPods map too big - too many evictions not confirmed by PDB controller")
	case status.DisruptionsAllowed > 0:
		return nil
	}
	err := apierrors.NewTooManyRequests(budgetViolationMessage, 0)
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{
		Type: policyv1.DisruptionBudgetCause, Message: exhaustedMessage(budget),
	})
	return err
}

// exhaustedMessage returns Kubernetes' message that states why a budget allows no disruptions.
func exhaustedMessage(budget *policyv1.PodDisruptionBudget) string {
	status := &budget.Status
	var denial *metav1.Condition
	for i, c := range status.Conditions {
		if c.Type == policyv1.DisruptionAllowedCondition && c.Status == metav1.ConditionFalse && c.Message != "" {
			denial = &status.Conditions[i]
		}
	}
	switch {
	case denial != nil && denial.Reason == policyv1.SyncFailedReason:
		return fmt.Sprintf("The disruption budget %s does not allow evicting pods currently because it failed sync: %s", budget.Name, denial.Message)
	case status.CurrentHealthy <= status.DesiredHealthy:
		return fmt.Sprintf("The disruption budget %s needs %d healthy pods and has %d currently", budget.Name, status.DesiredHealthy, status.CurrentHealthy)
	case denial != nil:
		return fmt.Sprintf("The disruption budget %s does not allow evicting pods currently (%s): %s", budget.Name, denial.Reason, denial.Message)
	}
	return fmt.Sprintf("The disruption budget %s does not allow evicting pods currently", budget.Name)
}

// withDisruption returns the budget with disruptionsAllowed decremented and with the pod in disruptedPods. budget is the
// decoded doc.
func (e *eviction) withDisruption(doc document.Value, budget *policyv1.PodDisruptionBudget) document.Value {
	now, status := metav1.NewTime(e.Now()), doc.Get("status")
	left := budget.Status.DisruptionsAllowed - 1
	disrupted := status.Get("disruptedPods").With(e.Name, document.NewString(now.UTC().Format(timeFormat)))
	status = status.With("disruptionsAllowed", document.NewInt(int64(left))).With("disruptedPods", disrupted)
	if left == 0 {
		conditions := slices.Clone(budget.Status.Conditions)
		meta.SetStatusCondition(&conditions, metav1.Condition{
			Type: policyv1.DisruptionAllowedCondition, Status: metav1.ConditionFalse, Reason: policyv1.InsufficientPodsReason,
			ObservedGeneration: budget.Status.ObservedGeneration, LastTransitionTime: now,
		})
		status = status.With("conditions", documentOf(conditions))
	}
	return doc.With("status", status)
}

// decodeInto decodes doc into target, a pointer. If doc is absent, the target is unchanged.
func decodeInto(doc document.Value, target any) error {
	if doc.IsAbsent() {
		return nil
	}
	return json.Unmarshal(doc.AppendJSON(nil), target)
}

// documentOf converts a Go value of a Kubernetes API type to a document.
func documentOf(v any) document.Value {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // API types can always be encoded as JSON
	}
	doc, err := document.ParseJSON(text)
	if err != nil {
		panic(err)
	}
	return doc
}
