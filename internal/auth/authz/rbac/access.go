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
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/cadastre/cadastre/internal/auth/authn"
)

// accessSpec is the part of the spec that all access reviews share: the request to authorize, for a resource or for a
// non-resource path. Exactly one field of a valid spec is set.
type accessSpec struct {
	resource *authorizationv1.ResourceAttributes
	path     *authorizationv1.NonResourceAttributes
}

func newAccessSpec(s *authorizationv1.SubjectAccessReviewSpec) accessSpec {
	return accessSpec{resource: s.ResourceAttributes, path: s.NonResourceAttributes}
}

// invalidReview returns the 422 for an invalid review. As in kube-apiserver, the error contains no kind.
func invalidReview(errs field.ErrorList) error {
	return apierrors.NewInvalid(schema.GroupKind{Group: authorizationv1.GroupName}, "", errs)
}

func (s accessSpec) attributes(u user.Info) *Attributes {
	if s.resource == nil {
		return &Attributes{User: u, Verb: s.path.Verb, NonResource: true, Path: s.path.Path}
	}
	r := s.resource
	return &Attributes{
		User: u, Verb: r.Verb, Group: r.Group, Version: r.Version, Resource: r.Resource, Subresource: r.Subresource,
		Namespace: r.Namespace, Name: r.Name, FieldSelector: s.fieldSelector, LabelSelector: s.labelSelector,
	}
}

// fieldSelector returns the requirements of the review's field selector. It omits requirements that are not supported; a raw
// selector that cannot be parsed is an error.
func (s accessSpec) fieldSelector() (parsed fields.Requirements, err error) {
	f := s.resource.FieldSelector
	if f == nil {
		return nil, nil
	}
	if f.RawSelector != "" {
		selector, err := fields.ParseSelector(f.RawSelector)
		if err != nil {
			return nil, err
		}
		return selector.Requirements(), nil
	}
	for _, r := range f.Requirements {
		if !isSupportedField(r) {
			continue
		}
		operator := selection.Equals
		if r.Operator == metav1.FieldSelectorOpNotIn {
			operator = selection.NotEquals
		}
		parsed = append(parsed, fields.Requirement{Operator: operator, Field: r.Key, Value: r.Values[0]})
	}
	return parsed, nil
}

// labelSelector returns the requirements of the review's label selector. It omits invalid requirements; a raw selector that
// cannot be parsed is an error.
func (s accessSpec) labelSelector() (parsed labels.Requirements, err error) {
	l := s.resource.LabelSelector
	if l == nil {
		return nil, nil
	}
	if l.RawSelector != "" {
		selector, err := labels.Parse(l.RawSelector)
		if err != nil {
			return nil, err
		}
		requirements, _ := selector.Requirements()
		return requirements, nil
	}
	for _, r := range l.Requirements {
		selector, err := metav1.LabelSelectorAsSelector(&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{r}})
		if err == nil {
			requirements, _ := selector.Requirements()
			parsed = append(parsed, requirements...)
		}
	}
	return parsed, nil
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

// validateSelector returns the errors of a selector, which must be either a raw string or a list of valid requirements.
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

// validateNoMetadata returns an error if a review contains metadata, which would have no effect because reviews are not stored.
// managedFields are ignored.
func validateNoMetadata(meta metav1.ObjectMeta) field.ErrorList {
	if isEmpty(meta) {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("metadata"), meta, "must be empty")}
}

func isEmpty(meta metav1.ObjectMeta) bool {
	meta.ManagedFields = nil
	return equality.Semantic.DeepEqual(metav1.ObjectMeta{}, meta)
}

// validateLocal returns the errors of a LocalSubjectAccessReview: it must be for a resource in the namespace of the review.
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

// selectorErrors returns a text that names the selectors which cannot be parsed; "" if there are none. Selectors do not
// affect the decision of RBAC.
func (s accessSpec) selectorErrors() string {
	if s.resource == nil {
		return ""
	}
	var texts []string
	if f := s.resource.FieldSelector; f != nil {
		_, err := fields.ParseSelector(f.RawSelector)
		texts = appendIgnored(texts, "fieldSelector", err != nil, f.Requirements, isSupportedField)
	}
	if l := s.resource.LabelSelector; l != nil {
		_, err := labels.Parse(l.RawSelector)
		texts = appendIgnored(texts, "labelSelector", err != nil, l.Requirements, isSupportedLabel)
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

// isSupportedField reports whether a requirement of a field selector is supported: In or NotIn with a single value.
func isSupportedField(r metav1.FieldSelectorRequirement) bool {
	return len(r.Values) == 1 && (r.Operator == metav1.FieldSelectorOpIn || r.Operator == metav1.FieldSelectorOpNotIn)
}

func isSupportedLabel(r metav1.LabelSelectorRequirement) bool {
	_, err := metav1.LabelSelectorAsSelector(&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{r}})
	return err == nil
}
