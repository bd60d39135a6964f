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
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/encoding"
	"github.com/cadastre/cadastre/internal/metrics"
	"github.com/cadastre/cadastre/internal/registry"
)

// readTarget parses the path, the method and the patch type, and selects the metrics of the endpoint.
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

// isNamespaceSubresource reports whether name is a subresource of namespaces, as opposed to a resource in a namespace.
func (h *Handler) isNamespaceSubresource(name string) bool {
	if h.Objects.Subresource(name) == nil {
		return false
	}
	namespaces, _ := h.Kinds.Resource("", "v1", "namespaces")
	return namespaces != nil && namespaces.HasSubresource("v1", name)
}

// isApply reports whether the request is a server-side apply, in any encoding.
func (q *request) isApply() bool { return encoding.ForApply(q.patchType) != nil }

// findKind looks up the resource of the path. It returns a 404 or 405 for paths without a resource, and for subresources and
// verbs that the resource does not have.
func (q *request) findKind() error {
	t := &q.target
	kind, ok := q.h.Kinds.Resource(t.group, t.version, t.resource)
	switch {
	case kind == nil:
		return resourceNotFound(fmt.Sprintf("there is no resource %q in group %q; see kubectl api-resources", t.resource, t.group))
	case !ok:
		return resourceNotFound(fmt.Sprintf("%s is served at %v, not at %q", kind, kind.Versions, t.version))
	case t.namespaced && !kind.Namespaced:
		return resourceNotFound(fmt.Sprintf("%s has no namespaces", kind))
	case !t.namespaced && kind.Namespaced && t.name == "" && (t.verb == "create" || t.verb == "deletecollection"):
		return q.methodNotAllowed()
	case !t.namespaced && kind.Namespaced && t.name != "":
		return resourceNotFound(fmt.Sprintf("objects of %s are in namespaces: the path must have one", kind))
	}
	if err := t.checkNames(kind); err != nil {
		return err
	}
	q.kind = kind
	if q.metrics == nil { // the resource was established after readTarget
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
		return resourceNotFound(fmt.Sprintf("%s has no subresource %q here", kind, t.subresource))
	}
	if !s.Serves(t.verb) {
		return q.methodNotAllowed()
	}
	return nil
}

// checkNames rejects paths with an empty namespace, except the paths of lists, and names with characters that are reserved in
// paths.
func (t *target) checkNames(kind *api.Kind) error {
	if t.namespaced && t.namespace == "" && kind.Namespaced && (t.name != "" || t.verb == "deletecollection") {
		return apierrors.NewBadRequest("Namespace parameter required.")
	}
	if problems := content.IsPathSegmentName(t.name); len(problems) > 0 {
		return apierrors.NewBadRequest(fmt.Sprintf("Name parameter invalid: %q: %s", t.name, strings.Join(problems, ";")))
	}
	return nil
}

// resourceNotFound returns the 404 for a resource that the server does not serve. Unlike kube-apiserver's error it contains
// detail.
func resourceNotFound(detail string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    http.StatusNotFound,
		Reason:  metav1.StatusReasonNotFound,
		Message: "the server could not find the requested resource: " + detail,
		Details: &metav1.StatusDetails{},
	}}
}

// labels returns the metric labels of the request.
func (q *request) labels() metrics.Request {
	t := &q.target
	m := metrics.Request{Version: t.version, Group: t.group, Resource: t.resource, Verb: metrics.VerbOf(t.verb), Scope: metrics.ScopeOf(t.verb, t.namespace, t.name)}
	if q.h.Objects.Subresource(t.subresource) != nil { // the path of an unknown subresource must not become a value of the metric label
		m.Subresource = t.subresource
	}
	if q.isApply() {
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

// hasOwnMetrics reports whether requests for a path that is not a resource are counted apart from those for other paths.
func hasOwnMetrics(path string) bool {
	switch path {
	case "/healthz", "/livez", "/readyz", "/version", "/version/", "/metrics":
		return true
	}
	return false
}

// count updates the metrics of the request when it ends.
func (q *request) count(took time.Duration) {
	if q.metrics == nil {
		other := metrics.Request{Verb: metrics.Other}
		switch {
		case q.r.Method == http.MethodGet && hasOwnMetrics(q.target.path):
			other = metrics.Request{Verb: metrics.Get, Subresource: q.target.path}
		case q.r.Method == http.MethodGet:
			other.Verb = metrics.Get
		}
		q.metrics = q.h.Metrics.Endpoint(other)
	}
	if q.w.code == 0 { // the client has disconnected
		return
	}
	q.metrics.Done(q.w.code, took, q.w.bytes)
	if q.user != nil && q.user.GetName() == user.APIServerUser {
		q.metrics.Self()
	}
	switch q.w.code {
	case http.StatusTooManyRequests:
		q.metrics.Terminated(q.w.code)
	case http.StatusGatewayTimeout:
		if q.r.Context().Err() != nil || took >= q.h.Limits.RequestTimeout { // otherwise, only the wait for a future revision has timed out
			q.metrics.Terminated(q.w.code)
		}
	}
}

// endpoint returns the registry endpoint of the request.
func (q *request) endpoint() (*registry.Endpoint, error) {
	return q.h.Objects.Endpoint(q.kind, q.target.version, q.target.subresource)
}

// objectNamespace returns the namespace of the objects of a kind; "" for a cluster-scoped kind.
func (t *target) objectNamespace(kind *api.Kind) string {
	if kind.Namespaced {
		return t.namespace
	}
	return ""
}
