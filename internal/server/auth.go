package server

import (
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/cadastre/cadastre/internal/auth/authn"
	"github.com/cadastre/cadastre/internal/auth/authz/rbac"
)

// isPublic reports whether a path tells nothing that not everybody may know.
func isPublic(path string) bool {
	switch path {
	case "/healthz", "/livez", "/readyz", "/version":
		return true
	}
	return false
}

// isForAll reports whether everybody may do what the request is about: read what is public.
func (q *request) isForAll() bool {
	reads := q.r.Method == http.MethodGet || q.r.Method == http.MethodHead
	return reads && !q.target.isResource() && isPublic(q.target.path)
}

// authenticate finds out who the client is, and whom it wants to be taken for.
func (q *request) authenticate() error {
	user, err := q.h.Authenticator.Authenticate(q.r)
	if err != nil {
		q.h.Log.Debug("a client could not be authenticated", "address", q.r.RemoteAddr, "error", err)
		return apierrors.NewUnauthorized("Unauthorized")
	}
	if user.IsAnonymous() && !q.isForAll() {
		return apierrors.NewUnauthorized("Unauthorized")
	}
	q.user = user
	wanted, err := authn.Impersonation(q.r.Header)
	if err != nil || wanted == nil {
		return err
	}
	q.user, err = q.h.Authorizer.Impersonate(q.attributes(), wanted)
	return err
}

// authorize asks whether the user may do what it wants.
func (q *request) authorize() error {
	if q.isForAll() {
		return nil
	}
	return q.h.Authorizer.Check(q.attributes())
}

// attributes are what the user wants, as roles see it.
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

// nameInSelector returns the name that a field selector asks for: who may read one object may
// also list and watch just that one. Deletions of many have no name, as in Kubernetes: a role that is about
// some objects by their names allows none.
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
