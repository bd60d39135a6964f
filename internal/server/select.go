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

// selectCustom reads a field selector for custom resources. Which fields there are depends on the version, and they
// are those of objects at that version: the cache, which knows objects as they are stored, only looks for names.
func (q *request) selectCustom(s *watchcache.Selection, selector fields.Selector) error {
	endpoint, err := q.endpoint()
	if err != nil {
		return err
	}
	var own, others []fields.Selector
	known := q.kind.Definition.(defined).SelectableFields(q.target.version)
	for _, r := range selector.Requirements() {
		switch {
		case r.Field == "metadata.name", r.Field == "metadata.namespace" && q.kind.Namespaced:
			others = append(others, requirement(r))
		case slices.Contains(known, r.Field):
			own = append(own, requirement(r))
		default:
			return apierrors.NewBadRequest("field label not supported: " + r.Field)
		}
	}
	s.Fields = fields.AndSelectors(others...)
	if len(own) > 0 {
		s.Match = q.matchCustom(endpoint, fields.AndSelectors(own...))
		s.Prefetch = func(all []*watchcache.Object) {
			if q.selectError() != nil {
				return // the request fails: nobody has to wait for the rest
			}
			if _, err := q.h.Objects.AllAt(endpoint, all); err != nil {
				q.unselected.CompareAndSwap(nil, &err)
			}
		}
	}
	return nil
}

func requirement(r fields.Requirement) fields.Selector {
	if r.Operator == selection.NotEquals {
		return fields.OneTermNotEqualSelector(r.Field, r.Value)
	}
	return fields.OneTermEqualSelector(r.Field, r.Value)
}

// matchCustom returns what tells whether the fields of an object are as a selector wants them. Of what can't be shown
// nobody knows: it is noted, and the request fails rather than leave the object out.
func (q *request) matchCustom(endpoint *registry.Endpoint, selector fields.Selector) func(*watchcache.Object) bool {
	return func(object *watchcache.Object) bool {
		if q.selectError() != nil {
			return true
		}
		shown, err := q.h.Objects.At(endpoint, object)
		if err != nil {
			q.unselected.CompareAndSwap(nil, &err)
			return true
		}
		parsed, err := shown.Parsed()
		return err == nil && selector.Matches(fieldsOf{parsed.Document})
	}
}

// selectError is why nobody knows which objects are selected, or nil.
func (q *request) selectError() error {
	if err := q.unselected.Load(); err != nil {
		return *err
	}
	return nil
}

// selected lists the objects of a selection.
func (q *request) selected(ctx context.Context, query watchcache.Query) (watchcache.List, error) {
	list, err := q.h.Cache.List(ctx, query)
	if err == nil {
		err = q.selectError()
	}
	return list, err
}

// fieldsOf shows the fields of an object to selectors, by their paths. What is not there is "".
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
