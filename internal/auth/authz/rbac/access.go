package rbac

import (
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/internal/auth/authn"
)

// accessSpec is what the reviews of access have in common: what is asked about. Exactly one of
// the two is there.
type accessSpec struct {
	resource *authorizationv1.ResourceAttributes
	path     *authorizationv1.NonResourceAttributes
}

func newAccessSpec(s *authorizationv1.SubjectAccessReviewSpec) accessSpec {
	return accessSpec{resource: s.ResourceAttributes, path: s.NonResourceAttributes}
}

// invalidReview is the error for a review that is not well asked. Kubernetes does not name the
// kind there.
func invalidReview(errs field.ErrorList) error {
	return apierrors.NewInvalid(schema.GroupKind{Group: authorizationv1.GroupName}, "", errs)
}

func (s accessSpec) attributes(user *authn.User) *Attributes {
	if s.resource == nil {
		return &Attributes{User: user, Verb: s.path.Verb, NonResource: true, Path: s.path.Path}
	}
	r := s.resource
	return &Attributes{
		User: user, Verb: r.Verb, Group: r.Group, Resource: r.Resource, Subresource: r.Subresource,
		Namespace: r.Namespace, Name: r.Name,
	}
}

func subjectOf(s *authorizationv1.SubjectAccessReviewSpec) *authn.User {
	user := &authn.User{Name: s.User, UID: s.UID, Groups: s.Groups}
	for key, values := range s.Extra {
		if user.Extra == nil {
			user.Extra = map[string][]string{}
		}
		user.Extra[key] = values
	}
	return user
}

func (s accessSpec) validate() (errs field.ErrorList) {
	spec := field.NewPath("spec")
	switch {
	case s.resource != nil && s.path != nil:
		errs = append(errs, field.Invalid(spec.Child("nonResourceAttributes"), s.path, "cannot be specified in combination with resourceAttributes"))
	case s.resource == nil && s.path == nil:
		errs = append(errs, field.Invalid(spec.Child("resourceAttributes"), s.path, "exactly one of nonResourceAttributes or resourceAttributes must be specified"))
	}
	if s.resource == nil {
		return errs
	}
	at := spec.Child("resourceAttributes")
	if f := s.resource.FieldSelector; f != nil {
		errs = append(errs, validateSelector(at.Child("fieldSelector"), f.RawSelector, f.Requirements, func(r metav1.FieldSelectorRequirement, at *field.Path) field.ErrorList {
			return metav1validation.ValidateFieldSelectorRequirement(r, metav1validation.FieldSelectorValidationOptions{AllowUnknownOperatorInRequirement: true}, at)
		})...)
	}
	if l := s.resource.LabelSelector; l != nil {
		errs = append(errs, validateSelector(at.Child("labelSelector"), l.RawSelector, l.Requirements, func(r metav1.LabelSelectorRequirement, at *field.Path) field.ErrorList {
			return metav1validation.ValidateLabelSelectorRequirement(r, metav1validation.LabelSelectorValidationOptions{AllowUnknownOperatorInRequirement: true}, at)
		})...)
	}
	return errs
}

// validateSelector wants a selector to be given as a text or as a list, and each of the list to be
// well formed.
func validateSelector[R any](at *field.Path, raw string, list []R, validate func(R, *field.Path) field.ErrorList) (errs field.ErrorList) {
	switch {
	case raw != "" && len(list) > 0:
		errs = append(errs, field.Invalid(at.Child("rawSelector"), raw, "may not specified at the same time as requirements"))
	case raw == "" && len(list) == 0:
		errs = append(errs, field.Required(at.Child("requirements"), "when "+at.String()+" is specified, requirements or rawSelector is required"))
	}
	for i, r := range list {
		errs = append(errs, validate(r, at.Child("requirements").Index(i))...)
	}
	return errs
}

func validateSubject(s *authorizationv1.SubjectAccessReviewSpec) field.ErrorList {
	if s.User == "" && len(s.Groups) == 0 {
		return field.ErrorList{field.Invalid(field.NewPath("spec", "user"), s.User, "at least one of user or group must be specified")}
	}
	return nil
}

// mustBeEmpty refuses metadata: a question has no name.
func mustBeEmpty(meta metav1.ObjectMeta) field.ErrorList {
	if isEmpty(meta) {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("metadata"), meta, "must be empty")}
}

func isEmpty(meta metav1.ObjectMeta) bool {
	meta.ManagedFields = nil
	return equality.Semantic.DeepEqual(metav1.ObjectMeta{}, meta)
}

// validateLocal wants a question that is asked in a namespace to be about that namespace.
func (s accessSpec) validateLocal(meta metav1.ObjectMeta) (errs field.ErrorList) {
	namespace := meta.Namespace
	meta.Namespace = ""
	if !isEmpty(meta) {
		errs = append(errs, field.Invalid(field.NewPath("metadata"), meta, "must be empty except for namespace"))
	}
	spec := field.NewPath("spec")
	if s.resource != nil && s.resource.Namespace != namespace {
		errs = append(errs, field.Invalid(spec.Child("resourceAttributes", "namespace"), s.resource.Namespace, "must match metadata.namespace"))
	}
	if s.path != nil {
		errs = append(errs, field.Invalid(spec.Child("nonResourceAttributes"), s.path, "disallowed on this kind of request"))
	}
	return errs
}

// selectorErrors says which selectors could not be read. Rules know nothing of selectors, so that
// the answer is the same.
func (s accessSpec) selectorErrors() string {
	if s.resource == nil {
		return ""
	}
	var texts []string
	if f := s.resource.FieldSelector; f != nil {
		_, err := fields.ParseSelector(f.RawSelector)
		texts = appendIgnored(texts, "fieldSelector", err != nil, f.Requirements, readsField)
	}
	if l := s.resource.LabelSelector; l != nil {
		_, err := labels.Parse(l.RawSelector)
		texts = appendIgnored(texts, "labelSelector", err != nil, l.Requirements, readsLabel)
	}
	return strings.Join(texts, "; ")
}

func appendIgnored[R any](texts []string, name string, rawFails bool, list []R, reads func(R) bool) []string {
	read := 0
	for _, r := range list {
		if reads(r) {
			read++
		}
	}
	how := " ignored due to parse error"
	switch {
	case len(list) == 0 && !rawFails, len(list) > 0 && read == len(list):
		return texts
	case read > 0:
		how = " partially" + how
	}
	return append(texts, "spec.resourceAttributes."+name+how)
}

// readsField is about what selectors of fields can say so far.
func readsField(r metav1.FieldSelectorRequirement) bool {
	return len(r.Values) == 1 && (r.Operator == metav1.FieldSelectorOpIn || r.Operator == metav1.FieldSelectorOpNotIn)
}

func readsLabel(r metav1.LabelSelectorRequirement) bool {
	_, err := metav1.LabelSelectorAsSelector(&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{r}})
	return err == nil
}
