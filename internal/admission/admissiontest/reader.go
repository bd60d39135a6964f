package admissiontest

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// Reader is an admission.Reader that serves objects from memory.
type Reader struct {
	objects []stored
	// Err is returned by every read; nil if reads succeed.
	Err error
}

type stored struct {
	resource        schema.GroupResource
	namespace, name string
	object          admission.Object
}

// NewReader returns a Reader that serves the given objects. Each is YAML with at least a kind; a missing name or namespace
// is set to DefaultName or DefaultNamespace. NewReader panics if a kind is unknown.
func NewReader(objects ...string) *Reader {
	r := &Reader{}
	for _, text := range objects {
		if err := r.add(Parse(text)); err != nil {
			panic(err)
		}
	}
	return r
}

func (r *Reader) add(doc document.Value) error {
	kind, err := kindOf(doc)
	if err != nil {
		return err
	}
	doc = complete(doc, kind)
	s := stored{
		resource:  schema.GroupResource{Group: kind.Group, Resource: kind.Resource},
		namespace: doc.Lookup("metadata", "namespace").Text(), name: doc.Lookup("metadata", "name").Text(),
	}
	key := watchcache.Key{Kind: kind.StoreName(), Namespace: s.namespace, Name: s.name}.String()
	s.object = admission.Object{Document: doc, Key: key, Revision: int64(len(r.objects) + 1)}
	r.objects = append(r.objects, s)
	slices.SortStableFunc(r.objects, func(a, b stored) int { return cmp.Compare(a.name, b.name) })
	return nil
}

// kindOf returns the built-in kind whose name is the kind field of an object. It ignores the apiVersion. An unknown kind is
// an error.
func kindOf(doc document.Value) (*api.Kind, error) {
	for _, kind := range kinds().All() {
		if kind.Name == doc.Get("kind").Text() {
			return kind, nil
		}
	}
	return nil, fmt.Errorf("kind: expected a built-in kind, received %q", doc.Get("kind").Text())
}

// Get implements admission.Reader.
func (r *Reader) Get(_ context.Context, resource schema.GroupResource, namespace, name string) (admission.Object, error) {
	for _, s := range r.objects {
		if r.Err == nil && s.resource == resource && s.namespace == namespace && s.name == name {
			return s.object, nil
		}
	}
	return admission.Object{}, r.Err
}

// List implements admission.Reader.
func (r *Reader) List(_ context.Context, resource schema.GroupResource, namespace string) (found []admission.Object, err error) {
	if r.Err != nil {
		return nil, r.Err
	}
	for _, s := range r.objects {
		if s.resource == resource && (namespace == "" || s.namespace == namespace) {
			found = append(found, s.object)
		}
	}
	return found, nil
}
