package objects

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/internal/cache"
	"github.com/cadastre/cadastre/internal/store"
)

// namespaces is what the kind of namespaces is called in keys.
const namespaces = "core/namespaces"

// findPlace refuses what would be created while its kind is going, or in a namespace that is not there, or that is
// going. Clients hear of that before they hear what is wrong with the object. What it found is a condition of the
// commit: were the namespace to go meanwhile, nobody would find the object in it any more. If it changed in another
// way, the write is tried again.
func (w *writing) findPlace(ctx context.Context) error {
	switch e := w.Endpoint; {
	case w.live != nil:
		return nil
	case e.Kind.IsClosed:
		return apierrors.NewForbidden(e.resource(), cmp.Or(w.prefix, w.Name), errors.New("create not allowed while custom resource definition is terminating"))
	case w.Namespace == "":
		return nil // an object that must be in one, and is not, is invalid
	}
	// What the cache has is fresh enough: it was asked for the latest object a moment ago.
	there, err := w.all.Cache.Get(ctx, cache.Key{Kind: namespaces, Name: w.Namespace}, cache.Any)
	if errors.Is(err, store.ErrNotFound) {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, w.Namespace)
	}
	if err != nil {
		return StoreError(err)
	}
	parsed, err := w.all.parsed(there)
	if err != nil {
		return StoreError(err)
	}
	if parsed.Document.Lookup("metadata", "deletionTimestamp").IsAbsent() {
		w.home = store.Write{Key: there.Key(), Expected: there.Revision(), Keep: true}
		return nil
	}
	forbidden := apierrors.NewForbidden(w.Endpoint.resource(), cmp.Or(w.prefix, w.Name),
		fmt.Errorf("unable to create new content in namespace %s because it is being terminated", w.Namespace))
	forbidden.ErrStatus.Details.Causes = append(forbidden.ErrStatus.Details.Causes, metav1.StatusCause{
		Type: "NamespaceTerminating", Message: fmt.Sprintf("namespace %s is being terminated", w.Namespace), Field: "metadata.namespace",
	})
	return forbidden
}
