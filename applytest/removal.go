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
	// cleanInterval is the time between two attempts of removePending to delete the remaining objects.
	cleanInterval = 200 * time.Millisecond
	// namespaceTimeout is the maximum time in which a server that completes the deletion of namespaces must delete an
	// empty namespace.
	namespaceTimeout = 3 * time.Second

	namespacePath = "/api/v1/namespaces/"
)

// remove deletes the object at path. If the deletion does not complete at once, remove adds the object to s.pending, and
// removePending tries again later.
func (s *server) remove(ctx context.Context, path string) {
	if err := s.tryRemove(ctx, path); err != nil {
		s.addPending(path, err)
	}
}

// addPending adds the object at path, which has not been deleted yet, to s.pending. reason is the error of the deletion.
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

// takePending returns the objects that have not been deleted yet, and clears s.pending.
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

// removePending tries to delete the pending objects every cleanInterval, until all are deleted or cleanupTimeout has passed.
// It returns the objects that remain.
func (s *server) removePending(ctx context.Context) []Leftover {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.cleanupTimeout)
	defer cancel()
	for {
		s.tryRemoveAll(ctx)
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

// tryRemoveAll tries once to delete each pending object. It sends the requests in parallel, to hide the latency of remote
// clusters.
func (s *server) tryRemoveAll(ctx context.Context) {
	var group errgroup.Group
	group.SetLimit(defaultParallel)
	for _, p := range s.takePending() {
		group.Go(func() error {
			resp, err := s.send(ctx, http.MethodGet, p.path, nil, "")
			if err == nil && resp.code != http.StatusNotFound {
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

// tryRemove deletes the object at path, and removes its finalizers. The error is the reason why the object still exists; nil
// if the object no longer exists.
func (s *server) tryRemove(ctx context.Context, path string) error {
	resp, err := s.send(ctx, http.MethodDelete, path+"?gracePeriodSeconds=0", nil, "")
	switch {
	case err != nil:
		return err
	case resp.code == http.StatusNotFound || resp.succeeded() && !resp.isTerminating():
		return nil
	case !resp.succeeded() && resp.code != http.StatusConflict:
		return fmt.Errorf("DELETE: %s", resp.summary())
	}
	if resp, err = s.send(ctx, http.MethodGet, path, nil, ""); err != nil || resp.code == http.StatusNotFound {
		return err
	}
	if err := s.removeFinalizers(ctx, path, resp.body); err != nil {
		return err
	}
	resp, err = s.send(ctx, http.MethodGet, path, nil, "")
	if err != nil || resp.code == http.StatusNotFound {
		return err
	}
	return fmt.Errorf("the object is still being deleted: %s", resp.summary())
}

// isTerminating reports whether the response contains an object with a deletionTimestamp.
func (resp *serverResponse) isTerminating() bool {
	return !resp.body.Lookup("metadata", "deletionTimestamp").IsAbsent() || resp.body.Lookup("metadata", "finalizers").Len() > 0
}

// removeFinalizers removes the finalizers of object, whose path is given and whose deletion has started.
func (s *server) removeFinalizers(ctx context.Context, path string, object document.Value) error {
	if strings.Contains(path, "/customresourcedefinitions/") {
		return nil // the server itself removes the finalizer of a CustomResourceDefinition
	}
	if object.Lookup("metadata", "finalizers").Len() > 0 {
		body := strings.NewReader(`{"metadata":{"finalizers":null}}`)
		resp, err := s.send(ctx, http.MethodPatch, path, body, "application/merge-patch+json")
		if err != nil || resp.code == http.StatusNotFound {
			return err
		}
		if !resp.succeeded() {
			return fmt.Errorf("remove the finalizers: %s", resp.summary())
		}
	}
	if isNamespace(path) {
		return s.finalizeNamespace(ctx, path, object)
	}
	return nil
}

func isNamespace(path string) bool { return parseResourcePath(path).collection+"/" == namespacePath }

// finalizeNamespace removes the finalizers that no controller removes from the namespace object, whose path is given: the
// finalizers that scripts have set and, if the server does not complete the deletion of namespaces, the finalizer
// kubernetes.
func (s *server) finalizeNamespace(ctx context.Context, path string, object document.Value) error {
	kept := document.NewMap()
	switch finalizers := object.Lookup("spec", "finalizers"); {
	case !s.completesDeletion(ctx):
	case finalizers.JSON() == `["kubernetes"]`:
		return nil
	default:
		kept = document.NewMap(document.Field{Name: "finalizers", Value: document.NewList(document.NewString("kubernetes"))})
	}
	final := object.With("spec", kept).With("metadata", object.Get("metadata").Without("resourceVersion"))
	resp, err := s.send(ctx, http.MethodPut, path+"/finalize", strings.NewReader(final.JSON()), "application/json")
	if err == nil && !resp.succeeded() && resp.code != http.StatusNotFound {
		err = fmt.Errorf("PUT finalize: %s", resp.summary())
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
	resp, err := s.send(ctx, http.MethodDelete, path, nil, "")
	if err == nil && !resp.succeeded() {
		err = fmt.Errorf("DELETE: %s", resp.summary())
	}
	for end := time.Now().Add(namespaceTimeout); err == nil && time.Now().Before(end); time.Sleep(cleanInterval / 10) {
		if resp, err = s.send(ctx, http.MethodGet, path, nil, ""); err == nil && resp.code == http.StatusNotFound {
			return true
		}
	}
	if err != nil {
		s.addPending(path, err)
		return true
	}
	s.addPending(path, errors.New("the namespace is still being deleted"))
	missing, err := s.missingReason(ctx, "no controllers")
	return err != nil || missing != ""
}
