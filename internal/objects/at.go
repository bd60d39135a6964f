package objects

import (
	"iter"
	"slices"

	"github.com/cadastre/cadastre/internal/cache"
)

// At returns an object as an endpoint shows it: at its version, or as a scale.
func (o *Objects) At(e *Endpoint, object *cache.Object) (*cache.Object, error) {
	if e.form == nil {
		return object, nil
	}
	shown, err := object.As(e.form)
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
