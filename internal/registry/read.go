package registry

import (
	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// At returns a stored object as an endpoint serves it: at the endpoint's version, or its projection, such as a Scale. It may
// call a conversion webhook.
func (r *Registry) At(e *Endpoint, object *watchcache.Object) (*watchcache.Object, error) {
	if e.form == nil || !e.isProjected() && e.isServedAsStored(object) {
		return object, nil
	}
	converted, err := object.As(e.form)
	if err != nil {
		return nil, err
	}
	return converted.(*watchcache.Object), nil
}

// isServedAsStored reports whether a custom resource can be served without conversion. It is false for an object that is being
// deleted: setting the deletionTimestamp does not convert the object to the current storage version, so a deletion does not
// depend on a conversion webhook.
func (e *Endpoint) isServedAsStored(object *watchcache.Object) bool {
	return e.evolving != nil && !object.IsDeleting() && e.evolving.IsServedAsStored(object.ModRevision(), e.Version)
}

// objectAt returns a stored custom resource at the version of an endpoint. Unlike At, it returns the object itself where the
// endpoint serves a projection. Objects of built-in resources are returned unchanged.
func (r *Registry) objectAt(e *Endpoint, object *watchcache.Object) (*watchcache.Object, error) {
	if e.evolving == nil || e.isServedAsStored(object) {
		return object, nil
	}
	converted, err := object.As(e.objectForm)
	if err != nil {
		return nil, err
	}
	return converted.(*watchcache.Object), nil
}

// maxBatch and maxBatchBytes are the maximum number and total size of the objects that are converted in one call of a
// conversion webhook, which must respond within 30 seconds.
const (
	maxBatch      = 100
	maxBatchBytes = 1 << 20
)

// AllAt returns stored objects as an endpoint serves them, like At. If an object cannot be converted, it returns the objects
// before it, and the error.
func (r *Registry) AllAt(e *Endpoint, all []*watchcache.Object) ([]*watchcache.Object, error) {
	if e.form == nil {
		return all, nil
	}
	served := make([]*watchcache.Object, 0, len(all))
	for len(served) < len(all) {
		pending, count := e.nextBatch(all[len(served):])
		converted, failed := r.convertBatch(e, pending)
		for _, object := range all[len(served) : len(served)+count] {
			isNext := len(pending) > 0 && object == pending[0]
			if isNext {
				pending = pending[1:]
			}
			switch {
			case isNext && len(converted) > 0:
				served, converted = append(served, converted[0]), converted[1:]
				continue
			case isNext && failed != nil:
				return served, failed
			}
			at, err := r.At(e, object)
			if err != nil {
				return served, err
			}
			served = append(served, at)
		}
	}
	return served, nil
}

// nextBatch selects the objects for the next call of convertBatch: those of the first count objects that need conversion and
// whose conversion is not cached.
func (e *Endpoint) nextBatch(all []*watchcache.Object) (pending []*watchcache.Object, count int) {
	size := 0
	for i, object := range all {
		if e.evolving == nil || e.isServedAsStored(object) || !object.LacksForm(e.form) {
			continue
		}
		if size += len(object.Text()); len(pending) == maxBatch || len(pending) > 0 && size > maxBatchBytes {
			return pending, i
		}
		pending = append(pending, object)
	}
	return pending, len(all)
}

// convertBatch converts custom resources in one call of a conversion webhook, and caches the results. If an object cannot be
// converted, it returns the converted objects before it, and the error. If the objects must be converted one by one with At,
// it returns nil and no error.
func (r *Registry) convertBatch(e *Endpoint, all []*watchcache.Object) (converted []*watchcache.Object, err error) {
	if len(all) < 2 || e.isProjected() {
		return nil, nil
	}
	stored, docs := make([]apply.Object, len(all)), make([]document.Value, len(all))
	for i, object := range all {
		if stored[i], err = r.parsed(object); err != nil {
			return nil, nil
		}
		docs[i] = stored[i].Document
	}
	docs, failed := e.evolving.FromStorageAll(docs, e.Version)
	for i, doc := range docs {
		object, err := r.unstoredVersion(all[i], apply.Object{Document: doc, Entries: stored[i].Entries})
		if err != nil {
			return converted, err
		}
		all[i].Keep(e.form, object, len(object.Text()))
		converted = append(converted, object)
	}
	return converted, failed
}
