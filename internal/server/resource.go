package server

import (
	"fmt"
	"mime"
	"net/http"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/encoding"
	"github.com/cadastre/cadastre/internal/metrics"
	"github.com/cadastre/cadastre/internal/registry"
)

// readTarget finds out what the client wants, as far as the path and the headers tell.
func (q *request) readTarget() {
	q.target = readTarget(q.r, q.query(), q.h.isNamespaceSubresource)
	if q.target.verb == "patch" {
		mediaType, _, _ := mime.ParseMediaType(q.r.Header.Get("Content-Type"))
		q.patchType = types.PatchType(mediaType)
	}
	if !q.target.isResource() {
		return
	}
	if _, ok := q.h.Kinds.Resource(q.target.group, q.target.version, q.target.resource); ok {
		q.metrics = q.h.Metrics.Endpoint(q.labels())
	}
}

// isNamespaceSubresource reports whether namespaces have a subresource, as opposed to a resource in them, of a name.
func (h *Handler) isNamespaceSubresource(name string) bool {
	if h.Objects.Subresource(name) == nil {
		return false
	}
	namespaces, _ := h.Kinds.Resource("", "v1", "namespaces")
	return namespaces != nil && namespaces.HasSubresource("v1", name)
}

// applies reports whether the request is a server-side apply, in any encoding.
func (q *request) applies() bool { return encoding.ForApply(q.patchType) != nil }

// findKind finds the kind that the path is about, and refuses paths that are about nothing.
func (q *request) findKind() error {
	t := &q.target
	kind, ok := q.h.Kinds.Resource(t.group, t.version, t.resource)
	switch {
	case kind == nil:
		return noSuchResource(fmt.Sprintf("there is no resource %q in group %q; see kubectl api-resources", t.resource, t.group))
	case !ok:
		return noSuchResource(fmt.Sprintf("%s is served at %v, not at %q", kind, kind.Versions, t.version))
	case t.namespaced && !kind.Namespaced:
		return noSuchResource(fmt.Sprintf("%s has no namespaces", kind))
	case !t.namespaced && kind.Namespaced && t.name == "" && (t.verb == "create" || t.verb == "deletecollection"):
		return q.noSuchMethod()
	case !t.namespaced && kind.Namespaced && t.name != "":
		return noSuchResource(fmt.Sprintf("objects of %s are in namespaces: the path must have one", kind))
	}
	if err := t.checkNames(kind); err != nil {
		return err
	}
	q.kind = kind
	if q.metrics == nil { // the kind has come since the target was read
		q.metrics = q.h.Metrics.Endpoint(q.labels())
	}
	if d, ok := kind.Deprecated[t.version]; ok {
		q.warn(d.Warning)
		q.metrics.Deprecated(d.Removed)
	}
	if t.subresource == "" {
		return nil
	}
	s := q.h.Objects.Subresource(t.subresource)
	if s == nil || !kind.HasSubresource(t.version, t.subresource) {
		return noSuchResource(fmt.Sprintf("%s has no subresource %q here", kind, t.subresource))
	}
	if !s.Serves(t.verb) {
		return q.noSuchMethod()
	}
	return nil
}

// checkNames refuses paths that name no object: one without a namespace, from which only lists can be read, and
// names that would be folders in a store.
func (t *target) checkNames(kind *api.Kind) error {
	if t.namespaced && t.namespace == "" && kind.Namespaced && (t.name != "" || t.verb == "deletecollection") {
		return apierrors.NewBadRequest("Namespace parameter required.")
	}
	if problems := content.IsPathSegmentName(t.name); len(problems) > 0 {
		return apierrors.NewBadRequest(fmt.Sprintf("Name parameter invalid: %q: %s", t.name, strings.Join(problems, ";")))
	}
	return nil
}

// noSuchResource is what clients know as: the server does not have that.
func noSuchResource(detail string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    http.StatusNotFound,
		Reason:  metav1.StatusReasonNotFound,
		Message: "the server could not find the requested resource: " + detail,
		Details: &metav1.StatusDetails{},
	}}
}

// labels are what the request is counted as.
func (q *request) labels() metrics.Request {
	t := &q.target
	m := metrics.Request{Version: t.version, Group: t.group, Resource: t.resource, Verb: metrics.VerbOf(t.verb), Scope: metrics.ScopeOf(t.verb, t.namespace, t.name)}
	if q.h.Objects.Subresource(t.subresource) != nil { // other paths must not add label values
		m.Subresource = t.subresource
	}
	if q.applies() {
		m.Verb = metrics.Apply
	}
	if dryRun := q.query()["dryRun"]; len(dryRun) > 0 {
		m.DryRun = metrics.DryRunInvalid
		if len(dryRun) == 1 && dryRun[0] == metav1.DryRunAll {
			m.DryRun = metrics.DryRunAll
		}
	}
	return m
}

// count counts a request that has been answered.
func (q *request) count(took time.Duration) {
	if q.metrics == nil {
		other := metrics.Request{Verb: metrics.Other}
		switch {
		case q.r.Method == http.MethodGet && (isPublic(q.target.path) || q.target.path == "/metrics"):
			other = metrics.Request{Verb: metrics.Get, Subresource: q.target.path}
		case q.r.Method == http.MethodGet:
			other.Verb = metrics.Get
		}
		q.metrics = q.h.Metrics.Endpoint(other)
	}
	if q.w.code == 0 { // nobody waits for the answer any more
		return
	}
	q.metrics.Done(q.w.code, took, q.w.bytes)
	switch q.w.code {
	case http.StatusTooManyRequests:
		q.metrics.Terminated(q.w.code)
	case http.StatusGatewayTimeout:
		if q.r.Context().Err() != nil || took >= q.h.Limits.RequestTime { // else it waited for a revision
			q.metrics.Terminated(q.w.code)
		}
	}
}

// endpoint is where the request arrives.
func (q *request) endpoint() (*registry.Endpoint, error) {
	return q.h.Objects.Endpoint(q.kind, q.target.version, q.target.subresource)
}

// place returns the namespace of the objects that are meant.
func (t *target) place(kind *api.Kind) string {
	if kind.Namespaced {
		return t.namespace
	}
	return ""
}
