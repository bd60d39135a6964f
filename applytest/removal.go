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
	// cleanPause is before what is still there is looked at again.
	cleanPause = 200 * time.Millisecond
	// finishTime is how long an empty namespace may take to go where somebody completes its deletion.
	finishTime = 3 * time.Second

	namespacePath = "/api/v1/namespaces/"
)

// remove deletes an object. What does not go at once is looked at again at the end of the run.
func (s *server) remove(ctx context.Context, path string) {
	if err := s.tryRemove(ctx, path); err != nil {
		s.pend(path, err)
	}
}

// pend keeps what is not yet gone, and why.
func (s *server) pend(path string, why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending = append(s.pending, pendingRemoval{path, why})
}

// stillPending are those that are not yet gone, in the order of their paths.
func (s *server) stillPending() []pendingRemoval {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.SortedFunc(slices.Values(s.pending), func(a, b pendingRemoval) int { return strings.Compare(a.path, b.path) })
}

// takePending returns them to somebody who looks at them again.
func (s *server) takePending() []pendingRemoval {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.pending
	s.pending = nil
	return taken
}

type pendingRemoval struct {
	path string
	why  error
}

// settle tries again to remove what is not yet gone, until it is or the time is over. What is left is returned.
func (s *server) settle(ctx context.Context) []Leftover {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.cleanTime)
	defer cancel()
	for {
		s.retry(ctx)
		if len(s.stillPending()) == 0 || ctx.Err() != nil || s.gone.Load() {
			break
		}
		time.Sleep(cleanPause)
	}
	var left []Leftover
	for _, p := range s.stillPending() {
		if !slices.ContainsFunc(left, func(l Leftover) bool { return strings.HasPrefix(p.path, l.Path+"/") }) { // in a namespace that is left
			left = append(left, Leftover{p.path, p.why.Error()})
		}
	}
	return left
}

// retry looks once at all that is pending, several at a time: a cluster that is far away has many.
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
				err = p.why // rather than that the time is over
			}
			if err != nil {
				s.pend(p.path, err)
			}
			return nil
		})
	}
	_ = group.Wait() // none fails
}

// tryRemove deletes an object, also one that waits for somebody to remove its finalizers. The error says why it is
// still there.
func (s *server) tryRemove(ctx context.Context, path string) error {
	a, err := s.send(ctx, http.MethodDelete, path+"?gracePeriodSeconds=0", nil, "")
	switch {
	case err != nil:
		return err
	case a.code == http.StatusNotFound || a.succeeded() && !a.isGoing():
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

// isGoing says whether a deletion was begun, and is not complete.
func (a *answer) isGoing() bool {
	return !a.body.Lookup("metadata", "deletionTimestamp").IsAbsent() || a.body.Lookup("metadata", "finalizers").Len() > 0
}

// release takes away what keeps an object that is being deleted.
func (s *server) release(ctx context.Context, path string, object document.Value) error {
	if strings.Contains(path, "/customresourcedefinitions/") {
		return nil // the server itself completes the deletion of a kind
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

func isNamespace(path string) bool { return placeOf(path).collection+"/" == namespacePath }

// finalize takes from a namespace the finalizers that nobody else would: those of scripts, and Kubernetes' own where no
// controller does.
func (s *server) finalize(ctx context.Context, path string, object document.Value) error {
	kept := document.NewMap()
	switch finalizers := object.Lookup("spec", "finalizers"); {
	case !s.finishes(ctx):
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

// finishes says whether somebody completes the deletion of namespaces: a controller in a cluster, or the server itself.
func (s *server) finishes(ctx context.Context) bool {
	s.finishOnce.Do(func() { s.finisher = s.seesFinisher(ctx) })
	return s.finisher
}

// seesFinisher deletes an empty namespace and waits for it to go. In a cluster that takes longer; there controllers are
// known by what else they do.
func (s *server) seesFinisher(ctx context.Context) bool {
	name := newNamespaceName()
	path := namespacePath + name
	if isAnswered, err := s.makeNamespace(ctx, name); err != nil {
		if !isAnswered {
			s.pend(path, err) // it may be there
		}
		return true // so nothing is taken away that somebody else may need
	}
	a, err := s.send(ctx, http.MethodDelete, path, nil, "")
	if err == nil && !a.succeeded() {
		err = fmt.Errorf("DELETE: %s", a.summary())
	}
	for end := time.Now().Add(finishTime); err == nil && time.Now().Before(end); time.Sleep(cleanPause / 10) {
		if a, err = s.send(ctx, http.MethodGet, path, nil, ""); err == nil && a.code == http.StatusNotFound {
			return true
		}
	}
	if err != nil {
		s.pend(path, err)
		return true
	}
	s.pend(path, errors.New("it is still being deleted"))
	lack, err := s.lacks(ctx, "no controllers")
	return err != nil || lack != ""
}
