package crd

import (
	"context"
	"time"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api/crd"
	"github.com/cadastre/cadastre/internal/controllers/managedfields"
	"github.com/cadastre/cadastre/internal/registry"
	"github.com/cadastre/cadastre/internal/storage"
)

// Strategy returns the registry strategy of CustomResourceDefinitions: a deletion adds the cleanup finalizer, so that the
// objects of the kind are deleted first, and an update records the previous schemas, which are needed until managedFields
// have been migrated.
func Strategy(now func() time.Time) registry.Strategy {
	return registry.Strategy{
		MarkDeleted: func(doc document.Value) (document.Value, bool) { return crd.MarkDeleted(doc, now()) },
		Allocate: func(_ context.Context, _ *registry.Allocation, obj, live document.Value) (document.Value, []storage.Write, error) {
			return obj, managedfields.RecordPrevious(obj, live), nil // in a dry run the registry does not commit these writes
		},
	}
}
