package rbac

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// Attributes describe a request to authorize. *Attributes implements authorizer.Attributes. Package rbac reads its fields
// directly, which saves interface calls.
type Attributes struct {
	User user.Info
	// Verb is the verb of a resource request (get, list, watch, create, update, patch, delete or deletecollection) or, for a
	// non-resource request, the HTTP method in lower case.
	Verb string
	// Group is "" for the core group. For a request for a Namespace object, Namespace is the name of the object, so that a Role
	// in the namespace can permit reading the object.
	Group, Version, Resource, Subresource, Namespace, Name string
	// NonResource reports whether the request is for Path, not for a resource.
	NonResource bool
	Path        string
	// FieldSelector and LabelSelector return the parsed selectors of the request; a function is nil if the request has no such
	// selector.
	FieldSelector func() (fields.Requirements, error)
	LabelSelector func() (labels.Requirements, error)
}

// GetUser implements authorizer.Attributes.
func (a *Attributes) GetUser() user.Info { return a.User }

// GetVerb implements authorizer.Attributes.
func (a *Attributes) GetVerb() string { return a.Verb }

// IsReadOnly implements authorizer.Attributes.
func (a *Attributes) IsReadOnly() bool {
	return a.Verb == "get" || a.Verb == "list" || a.Verb == "watch"
}

// GetNamespace implements authorizer.Attributes.
func (a *Attributes) GetNamespace() string { return a.Namespace }

// GetResource implements authorizer.Attributes.
func (a *Attributes) GetResource() string { return a.Resource }

// GetSubresource implements authorizer.Attributes.
func (a *Attributes) GetSubresource() string { return a.Subresource }

// GetName implements authorizer.Attributes.
func (a *Attributes) GetName() string { return a.Name }

// GetAPIGroup implements authorizer.Attributes.
func (a *Attributes) GetAPIGroup() string { return a.Group }

// GetAPIVersion implements authorizer.Attributes.
func (a *Attributes) GetAPIVersion() string { return a.Version }

// IsResourceRequest implements authorizer.Attributes.
func (a *Attributes) IsResourceRequest() bool { return !a.NonResource }

// GetPath implements authorizer.Attributes.
func (a *Attributes) GetPath() string { return a.Path }

// GetFieldSelector implements authorizer.Attributes.
func (a *Attributes) GetFieldSelector() (fields.Requirements, error) {
	if a.FieldSelector == nil {
		return nil, nil
	}
	return a.FieldSelector()
}

// GetLabelSelector implements authorizer.Attributes.
func (a *Attributes) GetLabelSelector() (labels.Requirements, error) {
	if a.LabelSelector == nil {
		return nil, nil
	}
	return a.LabelSelector()
}

// attributesOf converts other implementations of authorizer.Attributes, such as that of Kubernetes' CEL library, to
// *Attributes.
func attributesOf(a authorizer.Attributes) *Attributes {
	if own, ok := a.(*Attributes); ok {
		return own
	}
	return &Attributes{
		User: a.GetUser(), Verb: a.GetVerb(), Group: a.GetAPIGroup(), Version: a.GetAPIVersion(), Resource: a.GetResource(),
		Subresource: a.GetSubresource(), Namespace: a.GetNamespace(), Name: a.GetName(),
		NonResource: !a.IsResourceRequest(), Path: a.GetPath(), FieldSelector: a.GetFieldSelector, LabelSelector: a.GetLabelSelector,
	}
}

// Check returns nil if the authorizer allows a request, a 403 if it does not, and a 500 if it returns an error.
func Check(ctx context.Context, a authorizer.Authorizer, at *Attributes) error {
	_, _, err := Decide(ctx, a, at)
	return err
}

// Decide is Check, and also returns the decision and its reason as kube-apiserver records them in the audit log.
func Decide(ctx context.Context, a authorizer.Authorizer, at *Attributes) (decision, reason string, err error) {
	verdict, reason, err := a.Authorize(ctx, at)
	switch {
	case verdict == authorizer.DecisionAllow:
		return "allow", reason, nil
	case err != nil:
		return "", "internal error", apierrors.NewInternalError(err)
	}
	return "forbid", reason, at.Forbidden(reason)
}

// htmlEscaper escapes parts of requests in error messages, as kube-apiserver does.
var htmlEscaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// Forbidden returns the 403 for a request that is not allowed. The reason is appended to its message unless it is "".
func (a *Attributes) Forbidden(reason string) *apierrors.StatusError {
	message := htmlEscaper.Replace(a.denial())
	if reason != "" {
		message += ": " + reason
	}
	if a.NonResource {
		return apierrors.NewForbidden(schema.GroupResource{}, "", errors.New(message))
	}
	return apierrors.NewForbidden(schema.GroupResource{Group: a.Group, Resource: a.Resource}, a.Name, errors.New(message))
}

// denial returns kube-apiserver's message for a denied request.
func (a *Attributes) denial() string {
	name := ""
	if a.User != nil {
		name = a.User.GetName()
	}
	if a.NonResource {
		return fmt.Sprintf("User %q cannot %s path %q", name, a.Verb, a.Path)
	}
	resource := a.Resource
	if a.Subresource != "" {
		resource += "/" + a.Subresource
	}
	scope := "at the cluster scope"
	if a.Namespace != "" {
		scope = fmt.Sprintf("in the namespace %q", a.Namespace)
	}
	return fmt.Sprintf("User %q cannot %s resource %q in API group %q %s", name, a.Verb, resource, a.Group, scope)
}
