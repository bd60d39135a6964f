package rbac

import (
	"encoding/json"
	"fmt"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/internal/auth/authn"
)

// Reviewer answers questions about who somebody is and what they may. Each question is an object
// that is created, and is nowhere kept: the answer is the object with its status.
type Reviewer struct {
	Authorizer *Authorizer
	// Token returns who has a bearer token; nil means that there are none.
	Token func(token string) (*authn.User, error)
}

// question is who asks what.
type question struct {
	user      *authn.User
	namespace string
	body      []byte
}

// answers has the kind of each resource that is a question, and who answers it.
var answers = map[string]struct {
	kind   schema.GroupVersionKind
	answer func(*Reviewer, *question) (runtime.Object, error)
}{
	"selfsubjectaccessreviews":  {authorizationv1.SchemeGroupVersion.WithKind("SelfSubjectAccessReview"), (*Reviewer).selfAccess},
	"subjectaccessreviews":      {authorizationv1.SchemeGroupVersion.WithKind("SubjectAccessReview"), (*Reviewer).access},
	"localsubjectaccessreviews": {authorizationv1.SchemeGroupVersion.WithKind("LocalSubjectAccessReview"), (*Reviewer).localAccess},
	"selfsubjectrulesreviews":   {authorizationv1.SchemeGroupVersion.WithKind("SelfSubjectRulesReview"), (*Reviewer).selfRules},
	"selfsubjectreviews":        {authenticationv1.SchemeGroupVersion.WithKind("SelfSubjectReview"), (*Reviewer).self},
	"tokenreviews":              {authenticationv1.SchemeGroupVersion.WithKind("TokenReview"), (*Reviewer).token},
}

// IsReview reports whether a resource is a question.
func IsReview(group, resource string) bool {
	review, ok := answers[resource]
	return ok && review.kind.Group == group
}

// Review answers the question that somebody asked by creating an object of a resource, in a
// namespace if it is of one. Body and answer are JSON. Whether they may ask is checked before.
func (r *Reviewer) Review(user *authn.User, resource, namespace string, body []byte) ([]byte, error) {
	review, ok := answers[resource]
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("expected a review, received %q", resource))
	}
	var what metav1.TypeMeta
	if err := decode(body, &what); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if got := what.GroupVersionKind(); !got.Empty() && got != review.kind {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("expected %s, received %s", review.kind, got))
	}
	answer, err := review.answer(r, &question{user, namespace, body})
	if err != nil {
		return nil, err
	}
	answer.GetObjectKind().SetGroupVersionKind(review.kind)
	return json.Marshal(answer)
}

// read takes the question apart.
func (q *question) read(into any) error {
	if err := decode(q.body, into); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	return nil
}

func (r *Reviewer) selfAccess(q *question) (runtime.Object, error) {
	var review authorizationv1.SelfSubjectAccessReview
	if err := q.read(&review); err != nil {
		return nil, err
	}
	spec := accessSpec{resource: review.Spec.ResourceAttributes, path: review.Spec.NonResourceAttributes}
	if errs := append(spec.validate(), mustBeEmpty(review.ObjectMeta)...); len(errs) > 0 {
		return nil, invalidReview(errs)
	}
	review.Status = r.decide(q.user, spec)
	return &review, nil
}

func (r *Reviewer) access(q *question) (runtime.Object, error) {
	var review authorizationv1.SubjectAccessReview
	if err := q.read(&review); err != nil {
		return nil, err
	}
	spec := newAccessSpec(&review.Spec)
	errs := append(spec.validate(), validateSubject(&review.Spec)...)
	if errs = append(errs, mustBeEmpty(review.ObjectMeta)...); len(errs) > 0 {
		return nil, invalidReview(errs)
	}
	review.Status = r.decide(subjectOf(&review.Spec), spec)
	return &review, nil
}

func (r *Reviewer) localAccess(q *question) (runtime.Object, error) {
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
	review.Status = r.decide(subjectOf(&review.Spec), spec)
	return &review, nil
}

// decide answers whether a user may do something.
func (r *Reviewer) decide(user *authn.User, spec accessSpec) authorizationv1.SubjectAccessReviewStatus {
	allowed, reason := r.Authorizer.Allowed(spec.attributes(user))
	return authorizationv1.SubjectAccessReviewStatus{Allowed: allowed, Reason: reason, EvaluationError: spec.selectorErrors()}
}

func (r *Reviewer) selfRules(q *question) (runtime.Object, error) {
	var review authorizationv1.SelfSubjectRulesReview
	if err := q.read(&review); err != nil {
		return nil, err
	}
	if review.Spec.Namespace == "" {
		return nil, apierrors.NewBadRequest("no namespace on request")
	}
	rules, err := r.Authorizer.RulesFor(q.user, review.Spec.Namespace)
	answer := authorizationv1.SelfSubjectRulesReview{Status: rulesStatus(rules)}
	if err != nil {
		answer.Status.EvaluationError = err.Error()
	}
	return &answer, nil
}

func rulesStatus(rules []rbacv1.PolicyRule) authorizationv1.SubjectRulesReviewStatus {
	status := authorizationv1.SubjectRulesReviewStatus{
		ResourceRules: []authorizationv1.ResourceRule{}, NonResourceRules: []authorizationv1.NonResourceRule{},
	}
	for _, rule := range rules {
		if len(rule.Resources) > 0 {
			status.ResourceRules = append(status.ResourceRules, authorizationv1.ResourceRule{
				Verbs: rule.Verbs, APIGroups: rule.APIGroups, Resources: rule.Resources, ResourceNames: rule.ResourceNames,
			})
		}
		if len(rule.NonResourceURLs) > 0 {
			status.NonResourceRules = append(status.NonResourceRules, authorizationv1.NonResourceRule{
				Verbs: rule.Verbs, NonResourceURLs: rule.NonResourceURLs,
			})
		}
	}
	return status
}

func (r *Reviewer) self(q *question) (runtime.Object, error) {
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

func (r *Reviewer) token(q *question) (runtime.Object, error) {
	var review authenticationv1.TokenReview
	if err := q.read(&review); err != nil {
		return nil, err
	}
	if review.Spec.Token == "" {
		return nil, apierrors.NewBadRequest("token is required for TokenReview in authentication")
	}
	review.Status = authenticationv1.TokenReviewStatus{}
	if r.Token != nil {
		user, err := r.Token(review.Spec.Token)
		if err != nil {
			review.Status.Error = err.Error()
		} else {
			review.Status.Authenticated, review.Status.User = true, userInfo(user)
		}
	}
	return &review, nil
}

func userInfo(u *authn.User) authenticationv1.UserInfo {
	info := authenticationv1.UserInfo{Username: u.Name, UID: u.UID, Groups: u.Groups}
	for key, values := range u.Extra {
		if info.Extra == nil {
			info.Extra = map[string]authenticationv1.ExtraValue{}
		}
		info.Extra[key] = values
	}
	return info
}
