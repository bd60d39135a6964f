package registry

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/metrics"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// load reads the live object. It is empty if there is none, or the request does not name one.
func (w *write) load(ctx context.Context) (*loaded, error) {
	if w.Name == "" {
		return &loaded{}, nil
	}
	object, err := w.Cache.Get(ctx, w.key(), watchcache.Latest)
	if errors.Is(err, storage.ErrNotFound) {
		return &loaded{}, nil
	}
	if err != nil {
		return nil, StoreError(err)
	}
	live := &loaded{object: object}
	if w.Endpoint.evolving != nil {
		return live, w.convertLive(live)
	}
	if live.current, err = w.parsed(object); err != nil {
		return nil, StoreError(err)
	}
	live.stored = live.current.Document
	live.current.Document, err = w.Endpoint.fromStored(live.stored)
	return live, err
}

// convertLive sets the documents of the live object of a resource whose definition may have changed since it was stored.
func (w *write) convertLive(live *loaded) error {
	shown, err := w.objectAt(w.Endpoint, live.object)
	if err != nil {
		return err
	}
	if live.current, err = w.parsed(shown); err != nil {
		return StoreError(err)
	}
	live.stored = live.current.Document
	if shown != live.object {
		live.outdated, err = w.isOutdated(live)
	}
	return err
}

// isOutdated reports whether the stored form of the live object differs from the current storage version. As in Kubernetes, even a
// no-op then stores the object again, which migrates it to the storage version.
func (w *write) isOutdated(live *loaded) (bool, error) {
	now, err := w.parsed(live.object)
	if err != nil {
		return false, StoreError(err)
	}
	stored, err := w.Endpoint.evolving.ToStorage(live.stored)
	return !document.Equal(now.Document, stored), err
}

// parsed returns a stored object as the apply engine takes it. Managed fields entries that cannot be decoded are dropped,
// as in Kubernetes.
func (r *Registry) parsed(object *watchcache.Object) (apply.Object, error) {
	parsed, err := object.Parsed()
	if entry := (*apply.EntryError)(nil); !errors.As(err, &entry) {
		return parsed, err
	}
	r.Metrics.ManagedFields(metrics.Dropped, 1)
	r.Log.Warn("dropping managedFields that cannot be decoded", "key", object.Key(), "error", err)
	doc, err := document.ParseJSONLimited(object.Text(), anySize)
	if err != nil {
		return apply.Object{}, err
	}
	return apply.Object{Document: doc.With("metadata", doc.Get("metadata").Without("managedFields"))}, nil
}

// checkPrecondition rejects a write whose precondition on the object's existence does not hold.
func (w *write) checkPrecondition(live *loaded) error {
	switch {
	case live.object != nil && w.Precondition == MustNotExist:
		return preconditionFailed(fmt.Sprintf("%s %q exists, and the request has If-None-Match: *, which only creates", w.Endpoint.resource(), w.Name))
	case live.object == nil && w.Precondition == MustExist:
		return preconditionFailed(fmt.Sprintf("%s %q does not exist, and the request has If-Match: *, which only updates", w.Endpoint.resource(), w.Name))
	}
	return nil
}

// preconditionFailed returns the 412 for a precondition in a header.
func preconditionFailed(text string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: 412, Reason: "PreconditionFailed", Message: text,
	}}
}
