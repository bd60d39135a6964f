package rbac

import (
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/internal/auth/authn"
)

// Attributes are who wants to do what.
type Attributes struct {
	User *authn.User
	// Verb is Kubernetes' word for it: get, list, watch, create, update, patch, delete,
	// deletecollection; for a path, the method in lower case.
	Verb string
	// Group is "" for the core. For a namespace itself, Namespace is its name, too: whoever
	// may read namespaces within one may read that one.
	Group, Resource, Subresource, Namespace, Name string
	// NonResource says that it is about Path, and not about a resource.
	NonResource bool
	Path        string
}

// clean keeps what clients send from looking like HTML.
var clean = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// Forbidden returns the error for what is not allowed. The reason may be "".
func (a *Attributes) Forbidden(reason string) *apierrors.StatusError {
	message := clean.Replace(a.cannot())
	if reason != "" {
		message += ": " + reason
	}
	resource := schema.GroupResource{Group: a.Group, Resource: a.Resource}
	if a.NonResource {
		return apierrors.NewForbidden(schema.GroupResource{}, "", fmt.Errorf("%s", message))
	}
	return apierrors.NewForbidden(resource, a.Name, fmt.Errorf("%s", message))
}

// cannot says what the user cannot do.
func (a *Attributes) cannot() string {
	name := ""
	if a.User != nil {
		name = a.User.Name
	}
	if a.NonResource {
		return fmt.Sprintf("User %q cannot %s path %q", name, a.Verb, a.Path)
	}
	resource := a.Resource
	if a.Subresource != "" {
		resource += "/" + a.Subresource
	}
	where := "at the cluster scope"
	if a.Namespace != "" {
		where = fmt.Sprintf("in the namespace %q", a.Namespace)
	}
	return fmt.Sprintf("User %q cannot %s resource %q in API group %q %s", name, a.Verb, resource, a.Group, where)
}
