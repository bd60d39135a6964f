package objects

import (
	"iter"
	"slices"

	"github.com/cadastre/cadastre/internal/cache"
)

// At returns an object as an endpoint shows it: at its version, or as a scale.
func (o *Objects) At(e *Endpoint, object *cache.Object) (*cache.Object, error) {
	if e.form == nil || e.Subresource != scale && e.isAt(object) {
		return object, nil
	}
	shown, err := object.As(e.form)
	if err != nil {
		return nil, err
	}
	return shown.(*cache.Object), nil
}

// isAt reports whether an object that may be older than its definition is stored as it is shown here.
func (e *Endpoint) isAt(object *cache.Object) bool {
	return e.evolving != nil && e.evolving.IsAt(object.Revision(), e.Version)
}

// objectAt returns an object at the version of an endpoint, also where the endpoint shows something else.
func (o *Objects) objectAt(e *Endpoint, object *cache.Object) (*cache.Object, error) {
	if e.evolving == nil || e.isAt(object) {
		return object, nil
	}
	shown, err := object.As(e.objectForm)
	if err != nil {
		return nil, err
	}
	return shown.(*cache.Object), nil
}

// AllAt returns objects as an endpoint shows them. All are looked at before the first is
// returned, so that an answer that has begun can be finished.
func (o *Objects) AllAt(e *Endpoint, all []*cache.Object) (iter.Seq[*cache.Object], error) {
	if e.form == nil {
		return slices.Values(all), nil
	}
	shown := make([]*cache.Object, len(all))
	for i, object := range all {
		var err error
		if shown[i], err = o.At(e, object); err != nil {
			return nil, err
		}
	}
	return slices.Values(shown), nil
}
