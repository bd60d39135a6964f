package registry

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/metrics"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// convertLive converts a live custom resource to the request's version, with the current CustomResourceDefinition.
func (w *write) convertLive(live *loaded) error {
	converted, err := w.objectAt(w.Endpoint, live.object)
	if err != nil {
		return err
	}
	if live.current, err = w.parsed(converted); err != nil {
		return StoreError(err)
	}
	live.stored = live.current.Document
	if converted != live.object {
		live.outdated, err = w.isOutdated(live)
	}
	return err
}

// isOutdated reports whether a live custom resource would be stored differently if it were written unchanged, for instance
// because the storage version has changed. As in Kubernetes, even a no-op then stores the object again, which migrates it to
// the storage version.
func (w *write) isOutdated(live *loaded) (bool, error) {
	inStore, err := w.parsed(live.object)
	if err != nil {
		return false, StoreError(err)
	}
	stored, err := w.Endpoint.evolving.ToStorage(live.stored)
	return !document.Equal(inStore.Document, stored), err
}

// parsed splits a stored object into its document and its managed fields entries, for the apply engine. If an entry cannot be
// decoded, it logs a warning and drops all entries, as Kubernetes does.
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

// checkPrecondition returns a 412 if the request has If-Match: * and the object does not exist, or if it has If-None-Match: *
// and the object exists.
func (w *write) checkPrecondition(live *loaded) error {
	switch {
	case live.object != nil && w.Precondition == MustNotExist:
		return preconditionFailed(fmt.Sprintf("%s %q exists, and the request has If-None-Match: *, which only creates", w.Endpoint.resource(), w.Name))
	case live.object == nil && w.Precondition == MustExist:
		return preconditionFailed(fmt.Sprintf("%s %q does not exist, and the request has If-Match: *, which only updates", w.Endpoint.resource(), w.Name))
	}
	return nil
}

// preconditionFailed returns a 412 with the message text.
func preconditionFailed(text string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: 412, Reason: "PreconditionFailed", Message: text,
	}}
}
