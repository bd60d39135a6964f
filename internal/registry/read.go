package registry

import (
	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// At returns a stored object as an endpoint serves it: at its version, or its projection.
func (r *Registry) At(e *Endpoint, object *watchcache.Object) (*watchcache.Object, error) {
	if e.form == nil || !e.isProjected() && e.isServedAsStored(object) {
		return object, nil
	}
	shown, err := object.As(e.form)
	if err != nil {
		return nil, err
	}
	return shown.(*watchcache.Object), nil
}

// isAt reports whether a custom resource is stored exactly as the endpoint serves it. For an object that is being deleted it
// is false: marking an object as deleted does not convert it, so that a deletion does not depend on a conversion webhook.
func (e *Endpoint) isServedAsStored(object *watchcache.Object) bool {
	return e.evolving != nil && !object.IsDeleting() && e.evolving.IsServedAsStored(object.ModRevision(), e.Version)
}

// objectAt returns a stored object at the version of an endpoint, also where the endpoint serves a projection.
func (r *Registry) objectAt(e *Endpoint, object *watchcache.Object) (*watchcache.Object, error) {
	if e.evolving == nil || e.isServedAsStored(object) {
		return object, nil
	}
	shown, err := object.As(e.objectForm)
	if err != nil {
		return nil, err
	}
	return shown.(*watchcache.Object), nil
}

// maxBatch and maxBatchBytes are the maximum number and size of objects that are converted in one call: a conversion webhook
// has 30 seconds for all of them.
const (
	maxBatch      = 100
	maxBatchBytes = 1 << 20
)

// AllAt returns stored objects as an endpoint serves them. If one fails to convert, it returns those before it and the error.
func (r *Registry) AllAt(e *Endpoint, all []*watchcache.Object) ([]*watchcache.Object, error) {
	if e.form == nil {
		return all, nil
	}
	shown := make([]*watchcache.Object, 0, len(all))
	for len(shown) < len(all) {
		pending, count := e.nextBatch(all[len(shown):])
		made, failed := r.convertTogether(e, pending)
		for _, object := range all[len(shown) : len(shown)+count] {
			isNext := len(pending) > 0 && object == pending[0]
			if isNext {
				pending = pending[1:]
			}
			switch {
			case isNext && len(made) > 0:
				shown, made = append(shown, made[0]), made[1:]
				continue
			case isNext && failed != nil:
				return shown, failed
			}
			at, err := r.At(e, object)
			if err != nil {
				return shown, err
			}
			shown = append(shown, at)
		}
	}
	return shown, nil
}

// nextBatch returns those of the next objects that must be converted, and the number of objects that it looked at.
func (e *Endpoint) nextBatch(all []*watchcache.Object) (pending []*watchcache.Object, count int) {
	size := 0
	for i, object := range all {
		if e.evolving == nil || e.isServedAsStored(object) || !object.Lacks(e.form) {
			continue
		}
		if size += len(object.Text()); len(pending) == maxBatch || len(pending) > 0 && size > maxBatchBytes {
			return pending, i
		}
		pending = append(pending, object)
	}
	return pending, len(all)
}

// convertTogether converts objects in one call of a conversion webhook. If one fails, it returns those before it and the error.
// It returns no objects and no error if the objects must be converted one by one, with At.
func (r *Registry) convertTogether(e *Endpoint, all []*watchcache.Object) (shown []*watchcache.Object, err error) {
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
		draft, err := r.unstoredVersion(all[i], apply.Object{Document: doc, Entries: stored[i].Entries})
		if err != nil {
			return shown, err
		}
		all[i].Keep(e.form, draft, len(draft.Text()))
		shown = append(shown, draft)
	}
	return shown, failed
}
