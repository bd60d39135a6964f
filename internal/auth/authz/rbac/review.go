package rbac

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// Reviewer serves access reviews and token reviews, which are not stored: the response to a create request is the object with
// a status.
type Reviewer struct {
	// Authorizer decides SubjectAccessReviews, LocalSubjectAccessReviews and SelfSubjectAccessReviews.
	Authorizer authorizer.Authorizer
	// Rules are the authorizers whose rules SelfSubjectRulesReviews include. The reviews are marked as incomplete if an authorizer
	// does not implement authorizer.RuleResolver.
	Rules []authorizer.Authorizer
	// Tokens authenticates the tokens of TokenReviews; if it is nil, no token is valid. Audiences are the audiences of TokenReviews
	// that request none.
	Tokens    authenticator.Token
	Audiences authenticator.Audiences
}

// reviewRequest is a review in JSON, and the user that created it.
type reviewRequest struct {
	ctx       context.Context
	user      user.Info
	namespace string
	body      []byte
}

// reviews maps the resource of each review to its kind and the method that serves it.
var reviews = map[string]struct {
	kind  schema.GroupVersionKind
	serve func(*Reviewer, *reviewRequest) (runtime.Object, error)
}{
	"selfsubjectaccessreviews":  {authorizationv1.SchemeGroupVersion.WithKind("SelfSubjectAccessReview"), (*Reviewer).selfAccess},
	"subjectaccessreviews":      {authorizationv1.SchemeGroupVersion.WithKind("SubjectAccessReview"), (*Reviewer).access},
	"localsubjectaccessreviews": {authorizationv1.SchemeGroupVersion.WithKind("LocalSubjectAccessReview"), (*Reviewer).localAccess},
	"selfsubjectrulesreviews":   {authorizationv1.SchemeGroupVersion.WithKind("SelfSubjectRulesReview"), (*Reviewer).selfRules},
	"selfsubjectreviews":        {authenticationv1.SchemeGroupVersion.WithKind("SelfSubjectReview"), (*Reviewer).self},
	"tokenreviews":              {authenticationv1.SchemeGroupVersion.WithKind("TokenReview"), (*Reviewer).token},
}

// IsReview reports whether a resource is one of the reviews that Reviewer serves.
func IsReview(group, resource string) bool {
	review, ok := reviews[resource]
	return ok && review.kind.Group == group
}

// Review serves the creation of a review by a user, in a namespace if the resource is namespaced. The body and the result
// are JSON. The caller must have authorized the request.
func (r *Reviewer) Review(ctx context.Context, u user.Info, resource, namespace string, body []byte) ([]byte, error) {
	review, ok := reviews[resource]
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("expected a review, received %q", resource))
	}
	var received metav1.TypeMeta
	if err := decode(body, &received); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if got := received.GroupVersionKind(); !got.Empty() && got != review.kind {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("expected %s, received %s", review.kind, got))
	}
	answer, err := review.serve(r, &reviewRequest{ctx, u, namespace, body})
	if err != nil {
		return nil, err
	}
	answer.GetObjectKind().SetGroupVersionKind(review.kind)
	return json.Marshal(answer)
}

// read decodes the review from JSON into target, a pointer. Its error is a 400.
func (q *reviewRequest) read(target any) error {
	if err := decode(q.body, target); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	return nil
}

func (r *Reviewer) selfAccess(q *reviewRequest) (runtime.Object, error) {
	var review authorizationv1.SelfSubjectAccessReview
	if err := q.read(&review); err != nil {
		return nil, err
	}
	spec := accessSpec{resource: review.Spec.ResourceAttributes, path: review.Spec.NonResourceAttributes}
	if errs := append(spec.validate(), validateNoMetadata(review.ObjectMeta)...); len(errs) > 0 {
		return nil, invalidReview(errs)
	}
	review.Status = r.decide(q.ctx, q.user, spec)
	return &review, nil
}

func (r *Reviewer) access(q *reviewRequest) (runtime.Object, error) {
	var review authorizationv1.SubjectAccessReview
	if err := q.read(&review); err != nil {
		return nil, err
	}
	spec := newAccessSpec(&review.Spec)
	errs := append(spec.validate(), validateSubject(&review.Spec)...)
	if errs = append(errs, validateNoMetadata(review.ObjectMeta)...); len(errs) > 0 {
		return nil, invalidReview(errs)
	}
	review.Status = r.decide(q.ctx, subjectOf(&review.Spec), spec)
	return &review, nil
}

func (r *Reviewer) localAccess(q *reviewRequest) (runtime.Object, error) {
	var review authorizationv1.LocalSubjectAccessReview
	if err := q.read(&review); err != nil {
		return nil, err
	}
	if review.Namespace == "" {
		review.Namespace = q.namespace
	}
	spec := newAccessSpec(&review.Spec)
	errs := append(spec.validate(), validateSubject(&review.Spec)...)
	if errs = append(errs, spec.validateLocal(review.ObjectMeta)...); len(errs) > 0 {
		return nil, invalidReview(errs)
	}
	if review.Namespace != q.namespace {
		return nil, apierrors.NewBadRequest("spec.resourceAttributes.namespace must match namespace: " + q.namespace)
	}
	review.Status = r.decide(q.ctx, subjectOf(&review.Spec), spec)
	return &review, nil
}

// decide returns the status of a review: whether the authorizer allows the user the access that the spec describes.
func (r *Reviewer) decide(ctx context.Context, u user.Info, spec accessSpec) authorizationv1.SubjectAccessReviewStatus {
	decision, reason, err := r.Authorizer.Authorize(ctx, spec.attributes(u))
	status := authorizationv1.SubjectAccessReviewStatus{
		Allowed: decision == authorizer.DecisionAllow, Denied: decision == authorizer.DecisionDeny,
		Reason: reason, EvaluationError: spec.selectorErrors(),
	}
	if err != nil {
		status.EvaluationError = strings.TrimPrefix(status.EvaluationError+"; "+err.Error(), "; ")
	}
	return status
}

func (r *Reviewer) selfRules(q *reviewRequest) (runtime.Object, error) {
	var review authorizationv1.SelfSubjectRulesReview
	if err := q.read(&review); err != nil {
		return nil, err
	}
	if review.Spec.Namespace == "" {
		return nil, apierrors.NewBadRequest("no namespace on request")
	}
	answer := authorizationv1.SelfSubjectRulesReview{Status: authorizationv1.SubjectRulesReviewStatus{
		ResourceRules: []authorizationv1.ResourceRule{}, NonResourceRules: []authorizationv1.NonResourceRule{},
	}}
	var errs []error
	for _, source := range r.Rules {
		errs = append(errs, addRules(q.ctx, &answer.Status, source, q.user, review.Spec.Namespace))
	}
	if err := errors.Join(errs...); err != nil {
		answer.Status.EvaluationError = err.Error()
	}
	return &answer, nil
}

// addRules adds the rules of source to the status. If source cannot list its rules, the status
// is marked as incomplete.
func addRules(ctx context.Context, status *authorizationv1.SubjectRulesReviewStatus, source authorizer.Authorizer, u user.Info, namespace string) error {
	resolver, ok := source.(authorizer.RuleResolver)
	if !ok {
		status.Incomplete = true
		return nil
	}
	resources, paths, incomplete, err := resolver.RulesFor(ctx, u, namespace)
	for _, rule := range resources {
		status.ResourceRules = append(status.ResourceRules, authorizationv1.ResourceRule{
			Verbs: rule.GetVerbs(), APIGroups: rule.GetAPIGroups(), Resources: rule.GetResources(), ResourceNames: rule.GetResourceNames(),
		})
	}
	for _, rule := range paths {
		status.NonResourceRules = append(status.NonResourceRules, authorizationv1.NonResourceRule{
			Verbs: rule.GetVerbs(), NonResourceURLs: rule.GetNonResourceURLs(),
		})
	}
	status.Incomplete = status.Incomplete || incomplete
	return err
}

func (r *Reviewer) self(q *reviewRequest) (runtime.Object, error) {
	var review authenticationv1.SelfSubjectReview
	if err := q.read(&review); err != nil {
		return nil, err
	}
	answer := authenticationv1.SelfSubjectReview{
		ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(time.Now())},
		Status:     authenticationv1.SelfSubjectReviewStatus{UserInfo: userInfo(q.user)},
	}
	return &answer, nil
}

func (r *Reviewer) token(q *reviewRequest) (runtime.Object, error) {
	var review authenticationv1.TokenReview
	if err := q.read(&review); err != nil {
		return nil, err
	}
	if review.Spec.Token == "" {
		return nil, apierrors.NewBadRequest("token is required for TokenReview in authentication")
	}
	review.Status = authenticationv1.TokenReviewStatus{}
	if r.Tokens == nil {
		return &review, nil
	}
	requested := authenticator.Audiences(review.Spec.Audiences)
	if len(requested) == 0 {
		requested = r.Audiences
	}
	ctx := q.ctx
	if len(requested) > 0 {
		ctx = authenticator.WithAudiences(ctx, requested)
	}
	response, ok, err := r.Tokens.AuthenticateToken(ctx, review.Spec.Token)
	switch {
	case ok && err == nil && len(requested) > 0 && len(requested.Intersect(response.Audiences)) == 0:
		return nil, apierrors.NewInternalError(errors.New("error validating audiences"))
	case ok && err == nil:
		review.Status.Authenticated, review.Status.User, review.Status.Audiences = true, userInfo(response.User), response.Audiences
	case err != nil:
		review.Status.Error = err.Error()
	default:
		review.Status.Error = "invalid bearer token"
	}
	return &review, nil
}

func userInfo(u user.Info) authenticationv1.UserInfo {
	info := authenticationv1.UserInfo{Username: u.GetName(), UID: u.GetUID(), Groups: u.GetGroups()}
	for key, values := range u.GetExtra() {
		if info.Extra == nil {
			info.Extra = map[string]authenticationv1.ExtraValue{}
		}
		info.Extra[key] = values
	}
	return info
}
