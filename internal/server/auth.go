package server

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/cadastre/cadastre/internal/auth/authn"
	"github.com/cadastre/cadastre/internal/auth/authz/rbac"
)

// authenticate sets q.user to the authenticated user or, if the request impersonates a user, to the impersonated user. It returns
// a 401 if the request is not authenticated, and a 403 if the user may not impersonate.
func (q *request) authenticate() error {
	response, ok, err := q.h.Authenticator.AuthenticateRequest(q.r)
	switch {
	case err != nil:
		q.h.refusals.log(q.r, err)
		return q.unauthorized()
	case !ok:
		return q.unauthorized()
	}
	q.user = response.User
	if err := q.startAudit(""); err != nil {
		return err
	}
	impersonated, err := authn.Impersonation(q.r.Header)
	if err != nil || impersonated == nil {
		return err
	}
	var constraint string
	q.user, constraint, err = rbac.Impersonate(q.r.Context(), q.h.Authorizer, q.attributes(), impersonated)
	if err == nil {
		q.audit.setImpersonated(q.user, constraint)
	}
	return err
}

// unauthorized returns the 401 for a request that is not authenticated.
func (q *request) unauthorized() error {
	if q.h.Audit != nil {
		if err := q.startAudit(attemptedAuthentication(q.r)); err != nil {
			return err
		}
	}
	return apierrors.NewUnauthorized("Unauthorized")
}

// authorize returns a 403 unless the user is authorized to make the request.
func (q *request) authorize() error {
	if q.audit == nil {
		return rbac.Check(q.r.Context(), q.h.Authorizer, q.attributes())
	}
	decision, reason, err := rbac.Decide(q.r.Context(), q.h.Authorizer, q.attributes())
	q.audit.annotate(decisionAnnotation, decision)
	q.audit.annotate(reasonAnnotation, reason)
	return err
}

// attributes returns the attributes of the request for the authorizer. They are stored in the request to save an allocation;
// the next call overwrites them.
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

// setSelectors sets the functions with which the authorizer parses the field and label selectors if it needs them.
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

// nameInSelector returns NAME of the field selector metadata.name=NAME, "" if there is no such selector. The authorizer uses
// NAME as the name of the object, so that a role with resourceNames also permits clients to list and watch the named object.
// As in Kubernetes, the name in the selector of a deletecollection is not used.
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
