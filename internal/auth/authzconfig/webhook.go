package authzconfig

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	authorizationv1beta1 "k8s.io/api/authorization/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/apiserver/pkg/apis/apiserver"
	"k8s.io/apiserver/pkg/apis/apiserver/validation"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	authorizationcel "k8s.io/apiserver/pkg/authorization/cel"

	"github.com/cadastre/cadastre/internal/lib/webhookclient"
)

const (
	// maxDecisions is the maximum number of cached decisions of a webhook, and maxCachedSpec the maximum size of a cached review, so that
	// long names do not fill the memory.
	maxDecisions  = 8192
	maxCachedSpec = 10000
)

// webhook is an authorizer that sends SubjectAccessReviews. It implements Local.
type webhook struct {
	name    string
	reviews *webhookclient.Reviews
	isBeta  bool
	// matcher is nil if there are no conditions.
	matcher *authorizationcel.CELMatcher
	// onError is the decision if the conditions or the call fail.
	onError                        authorizer.Decision
	authorizedTTL, unauthorizedTTL time.Duration
	decisions                      *cache.LRUExpireCache
	// timeout limits each decision, with all attempts.
	timeout time.Duration
}

func (a *Authorizer) newWebhook(name string, c *apiserver.WebhookConfiguration) (*webhook, error) {
	w := &webhook{
		name: name, isBeta: c.SubjectAccessReviewVersion == authorizationv1beta1.SchemeGroupVersion.Version,
		onError: authorizer.DecisionNoOpinion, decisions: cache.NewLRUExpireCache(maxDecisions), timeout: a.RequestTimeout,
	}
	if c.FailurePolicy == apiserver.FailurePolicyDeny {
		w.onError = authorizer.DecisionDeny
	}
	if c.CacheAuthorizedRequests {
		w.authorizedTTL = c.AuthorizedTTL.Duration
	}
	if c.CacheUnauthorizedRequests {
		w.unauthorizedTTL = c.UnauthorizedTTL.Duration
	}
	matcher, errs := validation.ValidateAndCompileMatchConditions(a.compiler, c.MatchConditions)
	if err := errs.ToAggregate(); err != nil {
		return nil, fmt.Errorf("authorization webhook %s: %w", name, err)
	}
	if matcher != nil && len(matcher.CompilationResults) > 0 {
		w.matcher = matcher
	}
	register, version := authorizationv1.AddToScheme, authorizationv1.SchemeGroupVersion
	if w.isBeta {
		register, version = authorizationv1beta1.AddToScheme, authorizationv1beta1.SchemeGroupVersion
	}
	var err error
	if w.reviews, err = webhookclient.OpenReviews(*c.ConnectionInfo.KubeConfigFile, c.Timeout.Duration, register, version); err != nil {
		return nil, fmt.Errorf("authorization webhook %s: %w", name, err)
	}
	return w, nil
}

// Authorize implements authorizer.Authorizer. Like kube-apiserver, it has no opinion if a condition does not match.
func (w *webhook) Authorize(ctx context.Context, at authorizer.Attributes) (authorizer.Decision, string, error) {
	ctx, cancel := context.WithTimeout(ctx, w.timeout)
	defer cancel()
	review := &authorizationv1.SubjectAccessReview{Spec: specOf(at)}
	if w.matcher != nil {
		matches, err := w.matcher.Eval(ctx, review)
		if err != nil {
			return w.onError, "", err
		}
		if !matches {
			return authorizer.DecisionNoOpinion, "", nil
		}
	}
	status, err := w.decide(ctx, review)
	switch {
	case err != nil:
		return w.onError, "", fmt.Errorf("authorization webhook %s: %w", w.name, err)
	case status.Denied && status.Allowed:
		return authorizer.DecisionDeny, status.Reason, fmt.Errorf("authorization webhook %s: expected allowed or denied, received both", w.name)
	case status.Denied:
		return authorizer.DecisionDeny, status.Reason, nil
	case status.Allowed:
		return authorizer.DecisionAllow, status.Reason, nil
	}
	return authorizer.DecisionNoOpinion, status.Reason, nil
}

// decide returns the cached decision about a review, or that of the webhook.
func (w *webhook) decide(ctx context.Context, review *authorizationv1.SubjectAccessReview) (status authorizationv1.SubjectAccessReviewStatus, err error) {
	key, err := json.Marshal(&review.Spec)
	if err != nil {
		return status, err
	}
	if cached, ok := w.decisions.Get(string(key)); ok {
		return cached.(authorizationv1.SubjectAccessReviewStatus), nil
	}
	if status, err = w.send(ctx, review); err != nil {
		return status, err
	}
	ttl := w.unauthorizedTTL
	if status.Allowed {
		ttl = w.authorizedTTL
	}
	if ttl > 0 && len(key) <= maxCachedSpec {
		w.decisions.Add(string(key), status, ttl)
	}
	return status, nil
}

// send calls the webhook.
func (w *webhook) send(ctx context.Context, review *authorizationv1.SubjectAccessReview) (authorizationv1.SubjectAccessReviewStatus, error) {
	if !w.isBeta {
		var result authorizationv1.SubjectAccessReview
		err := w.reviews.Send(ctx, review, &result)
		return result.Status, err
	}
	s := &review.Spec
	old := &authorizationv1beta1.SubjectAccessReview{Spec: authorizationv1beta1.SubjectAccessReviewSpec{
		ResourceAttributes:    (*authorizationv1beta1.ResourceAttributes)(s.ResourceAttributes),
		NonResourceAttributes: (*authorizationv1beta1.NonResourceAttributes)(s.NonResourceAttributes),
		User:                  s.User, Groups: s.Groups, UID: s.UID,
	}}
	for key, values := range s.Extra {
		if old.Spec.Extra == nil {
			old.Spec.Extra = map[string]authorizationv1beta1.ExtraValue{}
		}
		old.Spec.Extra[key] = authorizationv1beta1.ExtraValue(values)
	}
	var result authorizationv1beta1.SubjectAccessReview
	err := w.reviews.Send(ctx, old, &result)
	return authorizationv1.SubjectAccessReviewStatus(result.Status), err
}

// specOf returns the spec of a review for a request.
func specOf(at authorizer.Attributes) (s authorizationv1.SubjectAccessReviewSpec) {
	if u := at.GetUser(); u != nil {
		s.User, s.UID, s.Groups = u.GetName(), u.GetUID(), u.GetGroups()
		for key, values := range u.GetExtra() {
			if s.Extra == nil {
				s.Extra = map[string]authorizationv1.ExtraValue{}
			}
			s.Extra[key] = values
		}
	}
	if !at.IsResourceRequest() {
		s.NonResourceAttributes = &authorizationv1.NonResourceAttributes{Path: at.GetPath(), Verb: at.GetVerb()}
		return s
	}
	s.ResourceAttributes = &authorizationv1.ResourceAttributes{
		Namespace: at.GetNamespace(), Verb: at.GetVerb(), Group: at.GetAPIGroup(), Version: at.GetAPIVersion(),
		Resource: at.GetResource(), Subresource: at.GetSubresource(), Name: at.GetName(),
		FieldSelector: fieldSelectorOf(at), LabelSelector: labelSelectorOf(at),
	}
	return s
}

// fieldSelectorOf returns the field selector of a request; nil if there is none. Requirements that cannot be parsed or expressed are
// omitted, which makes the request that is authorized broader.
func fieldSelectorOf(at authorizer.Attributes) *authorizationv1.FieldSelectorAttributes {
	requirements, _ := at.GetFieldSelector()
	var all []metav1.FieldSelectorRequirement
	for _, r := range requirements {
		operator := metav1.FieldSelectorOpIn
		switch r.Operator {
		case selection.Equals, selection.DoubleEquals, selection.In:
		case selection.NotEquals, selection.NotIn:
			operator = metav1.FieldSelectorOpNotIn
		default:
			continue
		}
		all = append(all, metav1.FieldSelectorRequirement{Key: r.Field, Operator: operator, Values: []string{r.Value}})
	}
	if all == nil {
		return nil
	}
	return &authorizationv1.FieldSelectorAttributes{Requirements: all}
}

// labelOperators maps the operators of label selectors to those of reviews.
var labelOperators = map[selection.Operator]metav1.LabelSelectorOperator{
	selection.Equals: metav1.LabelSelectorOpIn, selection.DoubleEquals: metav1.LabelSelectorOpIn, selection.In: metav1.LabelSelectorOpIn,
	selection.NotEquals: metav1.LabelSelectorOpNotIn, selection.NotIn: metav1.LabelSelectorOpNotIn,
	selection.Exists: metav1.LabelSelectorOpExists, selection.DoesNotExist: metav1.LabelSelectorOpDoesNotExist,
}

// labelSelectorOf returns the label selector of a request as fieldSelectorOf does.
func labelSelectorOf(at authorizer.Attributes) *authorizationv1.LabelSelectorAttributes {
	requirements, _ := at.GetLabelSelector()
	var all []metav1.LabelSelectorRequirement
	for _, r := range requirements {
		if operator, ok := labelOperators[r.Operator()]; ok {
			all = append(all, metav1.LabelSelectorRequirement{Key: r.Key(), Operator: operator, Values: r.ValuesUnsorted()})
		}
	}
	if all == nil {
		return nil
	}
	return &authorizationv1.LabelSelectorAttributes{Requirements: all}
}

// ConditionsAwareAuthorize implements authorizer.Authorizer. Decisions of webhooks are unconditional.
func (w *webhook) ConditionsAwareAuthorize(ctx context.Context, at authorizer.Attributes) authorizer.ConditionsAwareDecision {
	return authorizer.ConditionsAwareDecisionFromParts(w.Authorize(ctx, at))
}

// EvaluateConditions implements authorizer.Authorizer. It always fails, because decisions of webhooks have no conditions.
func (w *webhook) EvaluateConditions(context.Context, authorizer.ConditionsAwareDecision, authorizer.ConditionsData) (authorizer.Decision, string, error) {
	return authorizer.DecisionDeny, "", authorizer.ErrorConditionEvaluationNotSupported
}

// RulesFor implements authorizer.RuleResolver. A webhook lists no rules, so that the result is incomplete.
func (w *webhook) RulesFor(context.Context, user.Info, string) ([]authorizer.ResourceRuleInfo, []authorizer.NonResourceRuleInfo, bool, error) {
	return nil, nil, true, errors.New("webhook authorizer does not support user rule resolution")
}
