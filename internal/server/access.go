package server

import (
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

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
	response, ok, err := q.h.Authenticator.AuthenticateRequest(q.r)
	switch {
	case err != nil:
		q.h.Log.Debug("authentication failed", "address", q.r.RemoteAddr, "error", err)
		return apierrors.NewUnauthorized("Unauthorized")
	case ok:
		q.user = response.User
	case q.isForAll():
		q.user = authn.Anonymous
	default:
		return apierrors.NewUnauthorized("Unauthorized")
	}
	wanted, err := authn.Impersonation(q.r.Header)
	if err != nil || wanted == nil {
		return err
	}
	q.user, err = rbac.Impersonate(q.r.Context(), q.h.Authorizer, q.attributes(), wanted)
	return err
}

// authorize asks whether the user may do what it wants.
func (q *request) authorize() error {
	if q.isForAll() {
		return nil
	}
	return rbac.Check(q.r.Context(), q.h.Authorizer, q.attributes())
}

// attributes describes the request to the authorizer. The result is part of the request, which spares an allocation; the
// next call overwrites it.
func (q *request) attributes() *rbac.Attributes {
	t, a := &q.target, &q.access
	if !t.isResource() {
		*a = rbac.Attributes{User: q.user, Verb: t.verb, NonResource: true, Path: t.path}
		return a
	}
	*a = rbac.Attributes{
		User: q.user, Verb: t.verb, Path: t.path,
		Group: t.group, Version: t.version, Resource: t.resource, Subresource: t.subresource, Namespace: t.namespace, Name: t.name,
	}
	if t.verb == "list" || t.verb == "watch" || t.verb == "deletecollection" {
		q.setSelectors(a)
	}
	if t.name == "" && (t.verb == "list" || t.verb == "watch") {
		a.Name = q.nameInSelector()
	}
	return a
}

// setSelectors sets the selectors that the authorizer may parse.
func (q *request) setSelectors(a *rbac.Attributes) {
	if text := q.query().Get("fieldSelector"); text != "" {
		a.FieldSelector = func() (fields.Requirements, error) {
			selector, err := fields.ParseSelector(text)
			if err != nil {
				return nil, err
			}
			return selector.Requirements(), nil
		}
	}
	if text := q.query().Get("labelSelector"); text != "" {
		a.LabelSelector = func() (labels.Requirements, error) {
			selector, err := labels.Parse(text)
			if err != nil {
				return nil, err
			}
			requirements, _ := selector.Requirements()
			return requirements, nil
		}
	}
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
