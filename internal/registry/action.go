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

// Action is a create request to a subresource, such as pods/binding: it acts on the object that the URL path names, and its
// body is not stored. A create request to a resource whose api.Kind sets ActsOn, such as bindings, is an Action too; the body
// of such a request names the object.
type Action struct {
	*write
	// target is the endpoint of the subresource.
	target *Endpoint
	// Body is the body after mutating admission, with defaults.
	Body document.Value
	// ResourceVersion is the resourceVersion in the body, a precondition on the object; "" if there is none.
	ResourceVersion string

	// plan lists the admission plugins that handle the request; nil if there are none.
	plan *admission.Plan
	// pending holds the writes and conditions of admission plugins until the first commit of the action includes them.
	pending *admission.Record
}

// errAdmissionStale is returned by a commit if an object that an admission plugin has read has changed. The request is then
// repeated, including admission.
var errAdmissionStale = errors.New("an object that admission has read has changed")

// CreateSubresource runs a create request to a subresource, such as pods/binding or pods/eviction, and returns the Status of
// the response.
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

// attemptAction runs mutating admission and the subresource's Create function once. It returns errAdmissionStale if the request
// must be repeated.
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
		err = w.commitAdmission(ctx, a.pending) // nil if an earlier commit of the action has included these writes
	}
	return status, err
}

// actionTarget returns the endpoint of the subresource that serves create requests to e. If e is a subresource, that is e
// itself. If e is a resource whose api.Kind sets ActsOn, such as bindings, it is the endpoint of the subresource that ActsOn
// names.
func (r *Registry) actionTarget(e *Endpoint) (*Endpoint, error) {
	if e.Kind.ActsOn == "" {
		return e, nil
	}
	resource, subresource, _ := strings.Cut(e.Kind.ActsOn, "/")
	kind, _ := r.Kinds.Resource(e.Kind.Group, e.Version, resource)
	return r.Endpoint(kind, e.Version, subresource)
}

// key returns the key of the object that the action changes.
func (a *Action) key() watchcache.Key {
	return watchcache.Key{Kind: a.target.Kind.StoreName(), Namespace: a.Namespace, Name: a.Name}
}

// actionSource is the admission.Source of an action. Unlike the body of an ordinary create request, the body of an action may
// contain a uid and a resourceVersion, which are preconditions on the object.
type actionSource struct {
	source
	resourceVersion string
}

// Whole implements admission.Source.
func (s *actionSource) Whole(obj document.Value) (document.Value, error) {
	return whole(apply.Object{Document: obj}, s.resourceVersion)
}

// decodeAction decodes the body of an action. The body must have the group version of the endpoint, or one of accepted.
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
	if w.Unset && mayContainMarker(w.Body.Text) {
		if err := w.Endpoint.checkNoMarkers(document.Value{}, doc); err != nil {
			return d, err
		}
	}
	if d, err = split(doc); err != nil {
		return d, err
	}
	d.document, err = w.decodeAs(w.Endpoint.body, d.document)
	return d, err
}

// ValidateAdmission runs the validating half of the admission chain on the body, and adds the writes and conditions of the
// plugins to the first commit of the action.
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

// Get returns the object that the action changes. It returns a 404 if the object does not exist.
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

// Modify calls change on the object of the action and commits the result by compare-and-swap, without changing managed fields.
// If another write changes the object before the commit, Modify repeats both steps with the new object. In a dry run it does
// not commit.
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
		written, err := a.commitWithAdmission(ctx, storage.Write{Key: live.Key(), Expected: live.Revision(), Value: value})
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

// commitWithAdmission commits a write of the action. The first successful call includes the pending writes and conditions of
// admission plugins in the transaction. It returns errAdmissionStale if one of these conditions does not hold, and a
// *storage.ConflictError if the object of the write has changed.
func (a *Action) commitWithAdmission(ctx context.Context, write storage.Write) (*watchcache.Object, error) {
	writes := []storage.Write{write}
	for _, w := range a.pending.Commits() {
		switch {
		case w.Key != write.Key:
			writes = append(writes, w)
		case w.Keep && w.Expected != write.Expected:
			return nil, errAdmissionStale
		}
	}
	written, _, err := a.Registry.commit(ctx, writes...)
	var conflict *storage.ConflictError
	switch {
	case errors.As(err, &conflict) && conflict.Key != write.Key:
		return nil, errAdmissionStale
	case err != nil:
		return nil, err
	}
	a.pending = nil
	return written[0], nil
}

// commitAdmission commits the writes of admission plugins for a request that stores no object, and checks their conditions. It
// returns errAdmissionStale if a condition does not hold. record may be nil.
func (r *Registry) commitAdmission(ctx context.Context, record *admission.Record) error {
	commits := record.Commits()
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

// joinCommits adds the writes and conditions of the validating half of the admission chain to the writes and conditions of the
// mutating half. mutating is nil if the mutating half did not run.
func joinCommits(mutating, validating *admission.Record) *admission.Record {
	if mutating == nil {
		return validating
	}
	for _, w := range validating.Commits() {
		mutating.CommitWith(w)
	}
	return mutating
}
