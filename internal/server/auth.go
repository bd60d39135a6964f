package server

import (
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/cadastre/cadastre/internal/auth/authn"
	"github.com/cadastre/cadastre/internal/auth/authz/rbac"
)

// isPublic reports whether a path is served without authentication.
func isPublic(path string) bool {
	switch path {
	case "/healthz", "/livez", "/readyz", "/version":
		return true
	}
	return false
}

// isAlwaysAllowed reports whether the request reads a public path.
func (q *request) isAlwaysAllowed() bool {
	reads := q.r.Method == http.MethodGet || q.r.Method == http.MethodHead
	return reads && !q.target.isResource() && isPublic(q.target.path)
}

// authenticate sets the user of the request, which is the impersonated user if the request impersonates one.
func (q *request) authenticate() error {
	user, err := q.h.Authenticator.Authenticate(q.r)
	if err != nil {
		q.h.Log.Debug("authentication failed", "address", q.r.RemoteAddr, "error", err)
		return apierrors.NewUnauthorized("Unauthorized")
	}
	if user.IsAnonymous() && !q.isAlwaysAllowed() {
		return apierrors.NewUnauthorized("Unauthorized")
	}
	q.user = user
	impersonated, err := authn.Impersonation(q.r.Header)
	if err != nil || impersonated == nil {
		return err
	}
	q.user, err = q.h.Authorizer.Impersonate(q.attributes(), impersonated)
	return err
}

// authorize returns a 403 unless the user may make the request.
func (q *request) authorize() error {
	if q.isAlwaysAllowed() {
		return nil
	}
	return q.h.Authorizer.Check(q.attributes())
}

// attributes describes the request to the authorizer.
func (q *request) attributes() *rbac.Attributes {
	t := &q.target
	if !t.isResource() {
		return &rbac.Attributes{User: q.user, Verb: t.verb, NonResource: true, Path: t.path}
	}
	a := &rbac.Attributes{
		User: q.user, Verb: t.verb,
		Group: t.group, Resource: t.resource, Subresource: t.subresource, Namespace: t.namespace, Name: t.name,
	}
	if t.name == "" && (t.verb == "list" || t.verb == "watch") {
		a.Name = q.nameInSelector()
	}
	return a
}

// nameInSelector returns the name in a field selector metadata.name=NAME; "" if there is none. A user that may read one object
// may also list and watch that object alone. A deletecollection has no name, as in Kubernetes: a role with resourceNames does
// not allow it.
func (q *request) nameInSelector() string {
	text := q.query().Get("fieldSelector")
	if text == "" {
		return ""
	}
	selector, err := fields.ParseSelector(text)
	if err != nil {
		return ""
	}
	name, _ := selector.RequiresExactMatch("metadata.name")
	return name
}
