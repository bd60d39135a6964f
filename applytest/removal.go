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

// Leftover is an object that a run could not delete.
type Leftover struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

const (
	// cleanInterval is the interval of the attempts to delete the remaining objects.
	cleanInterval = 200 * time.Millisecond
	// namespaceTimeout is the maximum time for an empty namespace to be deleted on a server that completes the deletion
	// of namespaces.
	namespaceTimeout = 3 * time.Second

	namespacePath = "/api/v1/namespaces/"
)

// remove deletes an object. If that is not complete at once, it is tried again at the end of the run.
func (s *server) remove(ctx context.Context, path string) {
	if err := s.tryRemove(ctx, path); err != nil {
		s.addPending(path, err)
	}
}

// addPending stores an object that has not been deleted yet, with the reason.
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

// takePending returns the pending objects and removes them from the list.
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

// removePending tries to delete the pending objects until all are deleted or the timeout is over. It returns the
// remaining objects.
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
		if !slices.ContainsFunc(left, func(l Leftover) bool { return strings.HasPrefix(p.path, l.Path+"/") }) { // already listed with its namespace
			left = append(left, Leftover{p.path, p.reason.Error()})
		}
	}
	return left
}

// retry tries once to delete all pending objects, in parallel to hide the latency of remote clusters.
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
				err = p.reason // more informative than the timeout
			}
			if err != nil {
				s.addPending(p.path, err)
			}
			return nil
		})
	}
	_ = group.Wait() // the functions return no errors
}

// tryRemove deletes an object, including its finalizers. The error is the reason why the object still exists.
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
	return fmt.Errorf("it is still being deleted: %s", a.summary())
}

// isTerminating reports whether the deletion of the object is not complete.
func (a *serverResponse) isTerminating() bool {
	return !a.body.Lookup("metadata", "deletionTimestamp").IsAbsent() || a.body.Lookup("metadata", "finalizers").Len() > 0
}

// release removes the finalizers of an object that is being deleted.
func (s *server) release(ctx context.Context, path string, object document.Value) error {
	if strings.Contains(path, "/customresourcedefinitions/") {
		return nil // the server itself completes the deletion of a CRD
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

// finalize removes the finalizers of a namespace that no controller would remove: those of scripts, and Kubernetes' own
// if the server does not complete the deletion of namespaces.
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

// completesDeletion reports whether the deletion of namespaces is completed, by a controller of the cluster or by the server
// itself.
func (s *server) completesDeletion(ctx context.Context) bool {
	s.deletionOnce.Do(func() { s.deletionCompletes = s.probeDeletion(ctx) })
	return s.deletionCompletes
}

// probeDeletion deletes an empty namespace and waits until it is gone. In a cluster that may take longer; there the
// presence of controllers is sufficient.
func (s *server) probeDeletion(ctx context.Context) bool {
	name := newNamespaceName()
	path := namespacePath + name
	if isAnswered, err := s.createNamespace(ctx, name); err != nil {
		if !isAnswered {
			s.addPending(path, err) // it may exist
		}
		return true // unknown: do not remove finalizers
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
	s.addPending(path, errors.New("it is still being deleted"))
	missing, err := s.missing(ctx, "no controllers")
	return err != nil || missing != ""
}
