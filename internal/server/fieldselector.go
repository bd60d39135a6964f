package server

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/registry"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// selectCustomFields adds a field selector of a custom resource to a selection. The selector selects by the selectable
// fields, and by their values, at the requested version. The watch cache holds objects at their storage version, so it
// evaluates only the requirements on name and namespace; s.Match evaluates the other requirements after conversion.
// selectCustomFields returns a 400 for a field that is not selectable.
func (q *request) selectCustomFields(s *watchcache.Selection, selector fields.Selector) error {
	endpoint, err := q.endpoint()
	if err != nil {
		return err
	}
	var custom, metadata []fields.Selector
	selectable := q.kind.Definition.(definition).SelectableFields(q.target.version)
	for _, r := range selector.Requirements() {
		switch {
		case r.Field == "metadata.name", r.Field == "metadata.namespace" && q.kind.Namespaced:
			metadata = append(metadata, requirement(r))
		case slices.Contains(selectable, r.Field):
			custom = append(custom, requirement(r))
		default:
			return apierrors.NewBadRequest("field label not supported: " + r.Field)
		}
	}
	s.Fields = fields.AndSelectors(metadata...)
	if len(custom) > 0 {
		s.Match = q.matchCustomFields(endpoint, fields.AndSelectors(custom...))
		s.Prefetch = func(all []*watchcache.Object) {
			if q.selectorError() != nil {
				return // an earlier conversion has failed, and the request fails with its error
			}
			if _, err := q.h.Objects.AllAt(endpoint, all); err != nil {
				q.selectorFailure.CompareAndSwap(nil, &err)
			}
		}
	}
	return nil
}

// requirement returns a selector that consists of the requirement r.
func requirement(r fields.Requirement) fields.Selector {
	if r.Operator == selection.NotEquals {
		return fields.OneTermNotEqualSelector(r.Field, r.Value)
	}
	return fields.OneTermEqualSelector(r.Field, r.Value)
}

// matchCustomFields returns a function that converts an object to the version of the endpoint and reports whether it matches
// the selector. If an object cannot be converted, the function records the error, and the request fails with that error instead
// of omitting the object.
func (q *request) matchCustomFields(endpoint *registry.Endpoint, selector fields.Selector) func(*watchcache.Object) bool {
	return func(object *watchcache.Object) bool {
		if q.selectorError() != nil {
			return true
		}
		shown, err := q.h.Objects.At(endpoint, object)
		if err != nil {
			q.selectorFailure.CompareAndSwap(nil, &err)
			return true
		}
		parsed, err := shown.Parsed()
		return err == nil && selector.Matches(fieldsOf{parsed.Document})
	}
}

// selectorError returns the error of the first conversion that failed while a field selector was evaluated, nil if no conversion
// has failed.
func (q *request) selectorError() error {
	if err := q.selectorFailure.Load(); err != nil {
		return *err
	}
	return nil
}

// listSelected returns the objects that query selects. It returns an error if an object must be converted to evaluate the field
// selector and the conversion fails.
func (q *request) listSelected(ctx context.Context, query watchcache.Query) (watchcache.List, error) {
	list, err := q.h.Cache.List(ctx, query)
	if err == nil {
		err = q.selectorError()
	}
	return list, err
}

// fieldsOf implements fields.Fields for a document. The names of fields are paths; the value of an absent field is "".
type fieldsOf struct{ doc document.Value }

// Has implements fields.Fields.
func (f fieldsOf) Has(string) bool { return true }

// Get implements fields.Fields.
func (f fieldsOf) Get(path string) string {
	v := f.doc.Lookup(strings.Split(path, ".")...)
	if v.IsAbsent() || v.IsNull() {
		return ""
	}
	return fmt.Sprint(v.ToGo())
}
