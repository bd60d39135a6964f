package admission

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// NewReader returns a Reader that reads from the watch cache.
func NewReader(cache *watchcache.Cache, resources *api.Register) Reader {
	return &cacheReader{cache, resources}
}

type cacheReader struct {
	cache     *watchcache.Cache
	resources *api.Register
}

// Get implements Reader.
func (r *cacheReader) Get(ctx context.Context, resource schema.GroupResource, namespace, name string) (Object, error) {
	kind, err := r.kind(resource)
	if err != nil {
		return Object{}, err
	}
	found, err := r.cache.Get(ctx, watchcache.Key{Kind: kind, Namespace: namespace, Name: name}, watchcache.Any)
	if errors.Is(err, storage.ErrNotFound) {
		return Object{}, nil
	}
	if err != nil {
		return Object{}, err
	}
	return read(found)
}

// List implements Reader.
func (r *cacheReader) List(ctx context.Context, resource schema.GroupResource, namespace string) ([]Object, error) {
	kind, err := r.kind(resource)
	if err != nil {
		return nil, err
	}
	list, err := r.cache.List(ctx, watchcache.Query{Selection: watchcache.Selection{Kind: kind, Namespace: namespace}, Freshness: watchcache.Any})
	if err != nil {
		return nil, err
	}
	objects := make([]Object, len(list.Objects))
	for i, found := range list.Objects {
		if objects[i], err = read(found); err != nil {
			return nil, err
		}
	}
	return objects, nil
}

// kind returns the GROUP/RESOURCE of a resource in storage keys. An unknown resource is an error.
func (r *cacheReader) kind(resource schema.GroupResource) (string, error) {
	kind, _ := r.resources.Resource(resource.Group, "", resource.Resource) // storage keys do not depend on the version
	if kind == nil {
		return "", fmt.Errorf("resource %s is not served", resource)
	}
	return kind.StoreName(), nil
}

func read(found *watchcache.Object) (Object, error) {
	doc, err := document.Value{}, error(nil)
	if parsed, parseErr := found.Parsed(); parseErr == nil {
		doc = parsed.Document // the cache holds parsed with the object
	} else if doc, err = found.WithoutManagedFields(); err != nil {
		return Object{}, err
	}
	return Object{Document: doc, Key: found.Key(), Revision: int64(found.Revision())}, nil
}
