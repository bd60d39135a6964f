package registry

import (
	"context"
	"errors"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// Action is a create request to a subresource, such as a Binding: it acts on the object that the path names. Its own body is
// not stored. The endpoint of the request may be a resource that stands for the subresource: then the body names the object.
type Action struct {
	*write
	// target is the endpoint of the subresource.
	target *Endpoint
	// Body is the body after mutating admission, with defaults. ResourceVersion is the one that was sent, a precondition.
	Body            document.Value
	ResourceVersion string

	plan *admission.Plan
}

// CreateSubresource runs the action of a subresource that serves the verb create.
func (r *Registry) CreateSubresource(ctx context.Context, request *Request) (metav1.Status, error) {
	e := request.Endpoint
	if err := e.Kind.WriteGate.Enter(ctx, request.ClientGone); err != nil {
		return metav1.Status{}, err
	}
	defer e.Kind.WriteGate.Leave()
	target, err := r.actionTarget(e)
	if err != nil {
		return metav1.Status{}, err
	}
	w, live := r.newWrite(request, verb{create: &creation{}}), &loaded{}
	body, err := w.decodeAction(target.subresource.AlsoAccepts)
	if err != nil {
		return metav1.Status{}, err
	}
	if target != e {
		request.Name = body.document.Lookup("metadata", "name").Text()
	}
	doc, err := w.withNamespace(body.document)
	if err != nil {
		return metav1.Status{}, err
	}
	a := &Action{write: w, target: target, ResourceVersion: body.resourceVersion, plan: e.admission.Plan(admission.Create)}
	a.Body = e.body.Default(doc)
	if a.plan.Mutates() {
		source := &actionSource{source{w, live}, body.resourceVersion}
		attributes := w.attributes(live, source, a.Body, document.Value{})
		if err := a.plan.Admit(ctx, attributes); err != nil {
			return metav1.Status{}, StoreError(err)
		}
		a.Body = attributes.Object
	}
	return target.subresource.Create(ctx, a)
}

// actionTarget returns the endpoint of the subresource that an endpoint is, or stands for.
func (r *Registry) actionTarget(e *Endpoint) (*Endpoint, error) {
	if e.Kind.ActsOn == "" {
		return e, nil
	}
	resource, subresource, _ := strings.Cut(e.Kind.ActsOn, "/")
	kind, _ := r.Kinds.Resource(e.Kind.Group, e.Version, resource)
	return r.Endpoint(kind, e.Version, subresource)
}

// key returns the key of the object that the action is about.
func (a *Action) key() watchcache.Key {
	return watchcache.Key{Kind: a.target.Kind.StoreName(), Namespace: a.Namespace, Name: a.Name}
}

// actionSource is the admission source of an action. Unlike a new object, its body may have a uid and a resourceVersion, which
// are preconditions.
type actionSource struct {
	source
	resourceVersion string
}

// Whole implements admission.Source.
func (s *actionSource) Whole(obj document.Value) (document.Value, error) {
	return whole(apply.Object{Document: obj}, s.resourceVersion)
}

// decodeAction decodes the body of an action, which may be at another version that the subresource accepts.
func (w *write) decodeAction(accepted []schema.GroupVersion) (d decoded, err error) {
	doc, err := w.Body.Parse()
	if err != nil {
		return d, err
	}
	if version, err := schema.ParseGroupVersion(doc.Get("apiVersion").Text()); err == nil && slices.Contains(accepted, version) {
		doc = doc.With("apiVersion", document.NewString(w.Endpoint.BodyVersion))
	}
	if doc, err = w.withKind(doc); err != nil {
		return d, err
	}
	if d, err = split(doc); err != nil {
		return d, err
	}
	d.document, err = w.typed(w.Endpoint.body, d.document)
	return d, err
}

// ValidateAdmission runs the validating half of the admission chain on the body.
func (a *Action) ValidateAdmission(ctx context.Context) error {
	if !a.plan.Validates(false) {
		return nil
	}
	live := &loaded{}
	attributes := a.attributes(live, &validateSource{source{a.write, live}, nil}, a.Body, document.Value{})
	if err := a.plan.Validate(ctx, attributes, false); err != nil {
		return StoreError(err)
	}
	return nil
}

// Get returns the object that the path names.
func (a *Action) Get(ctx context.Context) (*watchcache.Object, apply.Object, error) {
	if a.Name == "" {
		return nil, apply.Object{}, apierrors.NewBadRequest("Name parameter required.")
	}
	live, err := a.Cache.Get(ctx, a.key(), watchcache.Latest)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, apply.Object{}, apierrors.NewNotFound(a.target.resource(), a.Name)
	}
	if err != nil {
		return nil, apply.Object{}, StoreError(err)
	}
	object, err := a.parsed(live)
	if err != nil {
		return nil, apply.Object{}, StoreError(err)
	}
	return live, object, nil
}

// Modify changes the object that the path names, without changing its managed fields, and commits it with compare-and-swap.
// It repeats the change if the object was modified meanwhile. A dry run changes nothing.
func (a *Action) Modify(ctx context.Context, change func(live *watchcache.Object, doc document.Value) (document.Value, error)) (*watchcache.Object, error) {
	for {
		live, object, err := a.Get(ctx)
		if err != nil {
			return nil, err
		}
		if object.Document, err = change(live, object.Document); err != nil || a.DryRun {
			return live, err
		}
		value := encodeJSON(object)
		if err := checkSize(live, value); err != nil {
			return nil, err
		}
		written, _, err := a.Registry.commit(ctx, storage.Write{Key: live.Key(), Expected: live.Revision(), Value: value})
		var conflict *storage.ConflictError
		switch {
		case err == nil:
			return written[0], nil
		case !errors.As(err, &conflict) || ctx.Err() != nil:
			return nil, StoreError(err)
		}
	}
}
