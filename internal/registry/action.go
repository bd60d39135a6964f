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
	// pending are the writes and conditions of admission plugins. The first commit of the action includes them.
	pending *admission.Record
}

// errAdmissionStale is the error of a commit that lost a race for an object that an admission plugin has read: the request is
// repeated, admission included.
var errAdmissionStale = errors.New("an object that admission has read has changed")

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
	w := r.newWrite(request, verb{create: &creation{}})
	body, err := w.decodeAction(target.subresource.AlsoAccepts)
	if err != nil {
		return metav1.Status{}, err
	}
	if target != e {
		request.Name = body.document.Lookup("metadata", "name").Text()
	}
	if body.document, err = w.withNamespace(body.document); err != nil {
		return metav1.Status{}, err
	}
	for {
		status, err := w.attemptAction(ctx, target, body)
		switch {
		case !errors.Is(err, errAdmissionStale):
			return status, err
		case ctx.Err() != nil:
			return metav1.Status{}, StoreError(ctx.Err())
		}
	}
}

// attemptAction runs mutating admission and the action once. It returns errAdmissionStale if the request must be repeated.
func (w *write) attemptAction(ctx context.Context, target *Endpoint, body decoded) (metav1.Status, error) {
	e := w.Endpoint
	a := &Action{write: w, target: target, ResourceVersion: body.resourceVersion, plan: e.admission.Plan(admission.Create)}
	a.Body = e.body.Default(body.document)
	if a.plan.Mutates() {
		live := &loaded{}
		attributes := w.attributes(live, &actionSource{source{w, live}, body.resourceVersion}, a.Body, document.Value{})
		if err := a.plan.Admit(ctx, attributes); err != nil {
			return metav1.Status{}, StoreError(err)
		}
		a.Body, a.pending = attributes.Object, attributes
	}
	status, err := target.subresource.Create(ctx, a)
	if err == nil && status.Status != metav1.StatusFailure && !w.DryRun {
		err = w.commitAdmission(ctx, a.pending) // unless the action has committed
	}
	return status, err
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
	d.document, err = w.decodeAs(w.Endpoint.body, d.document)
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
	a.pending = joinCommits(a.pending, attributes)
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
		written, err := a.commitFirst(ctx, storage.Write{Key: live.Key(), Expected: live.Revision(), Value: value})
		var conflict *storage.ConflictError
		switch {
		case err == nil:
			return written, nil
		case errors.Is(err, errAdmissionStale):
			return nil, err
		case !errors.As(err, &conflict) || ctx.Err() != nil:
			return nil, StoreError(err)
		}
	}
}

// commitFirst commits a write of the action; the first one in one transaction with the writes and conditions of admission
// plugins. It returns errAdmissionStale if one of these conditions does not hold, and a *storage.ConflictError if the object
// has changed.
func (a *Action) commitFirst(ctx context.Context, own storage.Write) (*watchcache.Object, error) {
	writes := []storage.Write{own}
	for _, w := range a.pending.Commits() {
		switch {
		case w.Key != own.Key:
			writes = append(writes, w)
		case w.Keep && w.Expected != own.Expected:
			return nil, errAdmissionStale
		}
	}
	written, _, err := a.Registry.commit(ctx, writes...)
	var conflict *storage.ConflictError
	switch {
	case errors.As(err, &conflict) && conflict.Key != own.Key:
		return nil, errAdmissionStale
	case err != nil:
		return nil, err
	}
	a.pending = nil
	return written[0], nil
}

// commitAdmission commits the writes of admission plugins for a request that stores no object, and checks their conditions. It
// returns errAdmissionStale if one does not hold.
func (r *Registry) commitAdmission(ctx context.Context, a *admission.Record) error {
	commits := a.Commits()
	if slices.ContainsFunc(commits, func(w storage.Write) bool { return !w.Keep }) {
		_, _, err := r.commit(ctx, commits...)
		if conflict := (*storage.ConflictError)(nil); errors.As(err, &conflict) {
			return errAdmissionStale
		}
		if err != nil {
			return StoreError(err)
		}
		return nil
	}
	for _, w := range commits {
		key, err := watchcache.ParseKey(w.Key)
		if err != nil {
			return StoreError(err)
		}
		found := storage.Revision(0)
		live, err := r.Cache.Get(ctx, key, watchcache.Latest)
		switch {
		case err == nil:
			found = live.Revision()
		case !errors.Is(err, storage.ErrNotFound):
			return StoreError(err)
		}
		if found != w.Expected {
			return errAdmissionStale
		}
	}
	return nil
}

// joinCommits adds the writes and conditions of the validating half of the admission chain to those of the mutating half,
// which is nil if it did not run.
func joinCommits(mutating, validating *admission.Record) *admission.Record {
	if mutating == nil {
		return validating
	}
	for _, w := range validating.Commits() {
		mutating.CommitWith(w)
	}
	return mutating
}
