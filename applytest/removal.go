package applytest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/cadastre/cadastre/document"
)

// Leftover is an object that a run created and could not delete, with the reason.
type Leftover struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

const (
	// cleanInterval is the time between two attempts to delete the remaining objects.
	cleanInterval = 200 * time.Millisecond
	// namespaceTimeout is the maximum time in which a server that completes the deletion of namespaces must delete an
	// empty namespace.
	namespaceTimeout = 3 * time.Second

	namespacePath = "/api/v1/namespaces/"
)

// remove deletes an object. If the deletion does not complete at once, removePending tries again at the end of the run.
func (s *server) remove(ctx context.Context, path string) {
	if err := s.tryRemove(ctx, path); err != nil {
		s.addPending(path, err)
	}
}

// addPending adds an object that has not been deleted yet to s.pending, with the reason.
func (s *server) addPending(path string, reason error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending = append(s.pending, pendingRemoval{path, reason})
}

// pendingRemovals returns the objects that have not been deleted yet, sorted by path.
func (s *server) pendingRemovals() []pendingRemoval {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.SortedFunc(slices.Values(s.pending), func(a, b pendingRemoval) int { return strings.Compare(a.path, b.path) })
}

// takePending returns the objects that have not been deleted yet, and clears the list of them.
func (s *server) takePending() []pendingRemoval {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.pending
	s.pending = nil
	return taken
}

type pendingRemoval struct {
	path   string
	reason error
}

// removePending repeatedly tries to delete the pending objects, until all are deleted or cleanupTimeout has passed. It
// returns the objects that remain.
func (s *server) removePending(ctx context.Context) []Leftover {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.cleanupTimeout)
	defer cancel()
	for {
		s.retry(ctx)
		if len(s.pendingRemovals()) == 0 || ctx.Err() != nil || s.gone.Load() {
			break
		}
		time.Sleep(cleanInterval)
	}
	var left []Leftover
	for _, p := range s.pendingRemovals() {
		if !slices.ContainsFunc(left, func(l Leftover) bool { return strings.HasPrefix(p.path, l.Path+"/") }) { // an object in a remaining namespace is not listed separately
			left = append(left, Leftover{p.path, p.reason.Error()})
		}
	}
	return left
}

// retry tries once to delete each pending object. It sends the requests in parallel, to hide the latency of remote
// clusters.
func (s *server) retry(ctx context.Context) {
	var group errgroup.Group
	group.SetLimit(defaultParallel)
	for _, p := range s.takePending() {
		group.Go(func() error {
			a, err := s.send(ctx, http.MethodGet, p.path, nil, "")
			if err == nil && a.code != http.StatusNotFound {
				err = s.tryRemove(ctx, p.path)
			}
			if ctx.Err() != nil {
				err = p.reason // the earlier reason is more informative than a timeout
			}
			if err != nil {
				s.addPending(p.path, err)
			}
			return nil
		})
	}
	_ = group.Wait() // Wait never returns an error, because the functions return none
}

// tryRemove deletes an object, and removes its finalizers. The error is the reason why the object still exists; nil if it is
// gone.
func (s *server) tryRemove(ctx context.Context, path string) error {
	a, err := s.send(ctx, http.MethodDelete, path+"?gracePeriodSeconds=0", nil, "")
	switch {
	case err != nil:
		return err
	case a.code == http.StatusNotFound || a.succeeded() && !a.isTerminating():
		return nil
	case !a.succeeded() && a.code != http.StatusConflict:
		return fmt.Errorf("DELETE: %s", a.summary())
	}
	if a, err = s.send(ctx, http.MethodGet, path, nil, ""); err != nil || a.code == http.StatusNotFound {
		return err
	}
	if err := s.release(ctx, path, a.body); err != nil {
		return err
	}
	a, err = s.send(ctx, http.MethodGet, path, nil, "")
	if err != nil || a.code == http.StatusNotFound {
		return err
	}
	return fmt.Errorf("the object is still being deleted: %s", a.summary())
}

// isTerminating reports whether the response is an object whose deletion has started and is not complete.
func (a *serverResponse) isTerminating() bool {
	return !a.body.Lookup("metadata", "deletionTimestamp").IsAbsent() || a.body.Lookup("metadata", "finalizers").Len() > 0
}

// release removes the finalizers of an object whose deletion has started.
func (s *server) release(ctx context.Context, path string, object document.Value) error {
	if strings.Contains(path, "/customresourcedefinitions/") {
		return nil // the server itself removes the finalizer of a CustomResourceDefinition
	}
	if object.Lookup("metadata", "finalizers").Len() > 0 {
		body := strings.NewReader(`{"metadata":{"finalizers":null}}`)
		a, err := s.send(ctx, http.MethodPatch, path, body, "application/merge-patch+json")
		if err != nil || a.code == http.StatusNotFound {
			return err
		}
		if !a.succeeded() {
			return fmt.Errorf("remove the finalizers: %s", a.summary())
		}
	}
	if isNamespace(path) {
		return s.finalize(ctx, path, object)
	}
	return nil
}

func isNamespace(path string) bool { return parseResourcePath(path).collection+"/" == namespacePath }

// finalize removes the finalizers of a namespace that no controller removes: the finalizers that scripts have set and,
// if the server does not complete the deletion of namespaces, the finalizer kubernetes.
func (s *server) finalize(ctx context.Context, path string, object document.Value) error {
	kept := document.NewMap()
	switch finalizers := object.Lookup("spec", "finalizers"); {
	case !s.completesDeletion(ctx):
	case finalizers.JSON() == `["kubernetes"]`:
		return nil
	default:
		kept = document.NewMap(document.Field{Name: "finalizers", Value: document.NewList(document.NewString("kubernetes"))})
	}
	final := object.With("spec", kept).With("metadata", object.Get("metadata").Without("resourceVersion"))
	a, err := s.send(ctx, http.MethodPut, path+"/finalize", strings.NewReader(final.JSON()), "application/json")
	if err == nil && !a.succeeded() && a.code != http.StatusNotFound {
		err = fmt.Errorf("PUT finalize: %s", a.summary())
	}
	return err
}

// completesDeletion reports whether the server, or a controller of the cluster, completes the deletion of namespaces.
// It probes the server only once.
func (s *server) completesDeletion(ctx context.Context) bool {
	s.deletionOnce.Do(func() { s.deletionCompletes = s.probeDeletion(ctx) })
	return s.deletionCompletes
}

// probeDeletion creates and deletes an empty namespace, and reports whether the namespace is deleted within
// namespaceTimeout. In a cluster the deletion may take longer: if the server has controllers, probeDeletion returns
// true even after the timeout.
func (s *server) probeDeletion(ctx context.Context) bool {
	name := newNamespaceName()
	path := namespacePath + name
	if hasResponse, err := s.createNamespace(ctx, name); err != nil {
		if !hasResponse {
			s.addPending(path, err) // the namespace may have been created despite the error
		}
		return true // the behaviour of the server is unknown, so finalizers must not be removed
	}
	a, err := s.send(ctx, http.MethodDelete, path, nil, "")
	if err == nil && !a.succeeded() {
		err = fmt.Errorf("DELETE: %s", a.summary())
	}
	for end := time.Now().Add(namespaceTimeout); err == nil && time.Now().Before(end); time.Sleep(cleanInterval / 10) {
		if a, err = s.send(ctx, http.MethodGet, path, nil, ""); err == nil && a.code == http.StatusNotFound {
			return true
		}
	}
	if err != nil {
		s.addPending(path, err)
		return true
	}
	s.addPending(path, errors.New("the namespace is still being deleted"))
	missing, err := s.missing(ctx, "no controllers")
	return err != nil || missing != ""
}
