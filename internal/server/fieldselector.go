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

// selectCustomFields parses a field selector of a custom resource. The selectable fields are those of the requested version, and
// their values those of the object at that version: the watch cache, which has objects at their storage version, evaluates only
// the requirements on name and namespace.
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
				return // the request fails anyway
			}
			if _, err := q.h.Objects.AllAt(endpoint, all); err != nil {
				q.selectorFailure.CompareAndSwap(nil, &err)
			}
		}
	}
	return nil
}

// requirement returns a selector with one requirement.
func requirement(r fields.Requirement) fields.Selector {
	if r.Operator == selection.NotEquals {
		return fields.OneTermNotEqualSelector(r.Field, r.Value)
	}
	return fields.OneTermEqualSelector(r.Field, r.Value)
}

// matchCustomFields returns a function that reports whether an object at the version of the endpoint matches a selector. If an
// object cannot be converted, the function records the error, and the request fails instead of omitting the object.
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

// selectorError returns the first error of the conversion of an object for a field selector; nil if there is none.
func (q *request) selectorError() error {
	if err := q.selectorFailure.Load(); err != nil {
		return *err
	}
	return nil
}

// listSelected lists the objects of a query.
func (q *request) listSelected(ctx context.Context, query watchcache.Query) (watchcache.List, error) {
	list, err := q.h.Cache.List(ctx, query)
	if err == nil {
		err = q.selectorError()
	}
	return list, err
}

// fieldsOf implements fields.Fields for a document, by path. An absent field is "".
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
