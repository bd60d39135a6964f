package garbagecollector

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/registry"
)

// endpoint returns the endpoint for the collector's writes to a kind. If the storage version is served, the endpoint is at that
// version, so no conversion is needed.
func (c *Collector) endpoint(kind *api.Kind) (*registry.Endpoint, error) {
	stored := kind.StoredVersion()
	version := stored[strings.LastIndexByte(stored, '/')+1:]
	if !kind.HasVersion(version) {
		version = kind.Versions[0]
	}
	return c.Objects.Endpoint(kind, version, "")
}

// delete deletes an object with a propagation policy, on the condition that its UID and ownerReferences have not changed.
func (c *Collector) delete(ctx context.Context, object *subject, dependents registry.Propagation) error {
	endpoint, err := c.endpoint(object.kind)
	if err != nil {
		return err
	}
	owners := object.OwnerReferences()
	_, err = c.Objects.Delete(ctx, &registry.Deletion{
		Endpoint: endpoint, Namespace: object.Namespace(), Name: object.Name(),
		UID: new(object.UID()), Propagation: dependents,
		Precondition: func(doc document.Value) bool {
			return doc.Lookup("metadata", "ownerReferences").JSON() == owners
		},
	})
	return err
}

// removeFinalizer removes a finalizer from an object.
func (c *Collector) removeFinalizer(ctx context.Context, object *subject, finalizer string) error {
	return c.patchMetadata(ctx, object, "finalizers", func(list document.Value) document.Value {
		var kept []document.Value
		for _, f := range list.Items() {
			if f.Text() != finalizer {
				kept = append(kept, f)
			}
		}
		if len(kept) == 0 {
			return document.NewNull()
		}
		return document.NewList(kept...)
	})
}

// patchMetadata applies the function change to a list in the metadata of an object and writes the result, on the condition that
// the object has not changed. If the object no longer exists, patchMetadata returns nil.
func (c *Collector) patchMetadata(ctx context.Context, object *subject, field string, change func(document.Value) document.Value) error {
	endpoint, err := c.endpoint(object.kind)
	if err != nil {
		return err
	}
	doc, err := object.WithoutManagedFields()
	if err != nil {
		return err
	}
	metadata := document.NewMap(
		document.Field{Name: field, Value: change(doc.Lookup("metadata", field))},
		document.Field{Name: "resourceVersion", Value: document.NewString(fmt.Sprint(object.Revision()))},
		document.Field{Name: "uid", Value: document.NewString(object.UID())},
	)
	patch := document.NewMap(document.Field{Name: "metadata", Value: metadata})
	_, err = c.Objects.Patch(ctx, &registry.Request{
		Endpoint: endpoint, Namespace: object.Namespace(), Name: object.Name(), Body: registry.Body{Text: patch.JSON()},
		User: c.User, Manager: c.Manager, FieldValidation: registry.Ignore, Warn: func(string) {},
	}, registry.MergePatch)
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
