package encoding

import (
	"fmt"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// form is an encoding of objects. The watch cache caches its result with each revision of an object, so that all responses and
// watch events share that result. Values of type T must not be modified.
type form[T any] struct {
	encode func(document.Value) (T, error)
	cached *watchcache.Form
}

// newForm returns a form. encode converts a document; memory returns the approximate size of its result in bytes.
func newForm[T any](encode func(document.Value) (T, error), memory func(T) int) *form[T] {
	return &form[T]{encode, watchcache.NewForm(func(o *watchcache.Object) (any, int, error) {
		v, err := parse(o)
		if err != nil {
			return nil, 0, fmt.Errorf("cache: %s: %w", o.Key(), err)
		}
		encoded, err := encode(v)
		if err != nil {
			return nil, 0, fmt.Errorf("cache: %s: %w", o.Key(), err)
		}
		return encoded, memory(encoded), nil
	})}
}

// caching is an Object that caches its forms, as the objects of the watch cache do.
type caching interface {
	As(*watchcache.Form) (any, error)
}

// encoding returns the encoded form of o, which it takes from the cache of o if o caches its forms.
func (f *form[T]) encoding(o Object) (T, error) {
	var none T
	if c, ok := o.(caching); ok {
		encoded, err := c.As(f.cached)
		if err != nil {
			return none, err
		}
		return encoded.(T), nil
	}
	v, err := parse(o)
	if err != nil {
		return none, err
	}
	return f.encode(v)
}

// noLimit disables the size limit, for JSON that the server has produced itself.
var noLimit = document.Limits{MaxBytes: -1}

func parse(o Object) (document.Value, error) {
	return document.ParseJSONLimited(o.AppendJSON(nil), noLimit)
}
