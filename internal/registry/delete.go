package registry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/lib/parallel"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// Deletion is a request to delete one object.
type Deletion struct {
	Endpoint        *Endpoint
	Namespace, Name string
	DryRun          bool
	// UID and ResourceVersion are preconditions; nil means no precondition. An empty string matches no object.
	UID, ResourceVersion *string
	// Precondition is called with the object before it is deleted. If it returns false, Delete returns ErrPrecondition. nil
	// means no precondition.
	Precondition func(doc document.Value) bool
	// GracePeriod is the grace period in seconds if HasGracePeriod is true; otherwise the resource's default applies.
	GracePeriod    int64
	HasGracePeriod bool
	// Propagation is the propagation policy for the dependents of the object.
	Propagation Propagation
	// User, Options and Warn are passed to admission plugins. Deletions by the server itself may omit them.
	User    user.Info
	Options metav1.DeleteOptions
	Warn    func(text string)
	// isOfCollection reports whether the object is deleted by a deletecollection request.
	isOfCollection bool
	// isAdmitted reports that the admission chain must not run, for instance because it has run on an Eviction.
	isAdmitted bool
}

// SetOptions sets the fields of a deletion from DeleteOptions: dry run, propagation, grace period and preconditions.
func (d *Deletion) SetOptions(o metav1.DeleteOptions) {
	d.Options, d.DryRun, d.Propagation = o, len(o.DryRun) > 0, propagationOf(d.Endpoint.Kind, &o)
	if o.GracePeriodSeconds != nil {
		d.GracePeriod, d.HasGracePeriod = *o.GracePeriodSeconds, true
	}
	if p := o.Preconditions; p != nil {
		if p.UID != nil {
			d.UID = new(string(*p.UID))
		}
		if p.ResourceVersion != nil {
			d.ResourceVersion = new(*p.ResourceVersion)
		}
	}
}

// propagationOf returns the propagation policy of options. The deprecated orphanDependents takes precedence: true means Orphan,
// and false means Background, or Foreground for namespaces.
func propagationOf(kind *api.Kind, o *metav1.DeleteOptions) Propagation {
	//lint:ignore SA1019 clients still use it
	orphan := o.OrphanDependents
	switch {
	case orphan == nil && o.PropagationPolicy == nil:
		return DefaultPropagation
	case orphan == nil:
		return Propagation(*o.PropagationPolicy)
	case *orphan:
		return Orphan
	case kind.ContainsObjects:
		return Foreground
	}
	return Background
}

// ErrPrecondition is returned by Delete if Deletion.Precondition returns false.
var ErrPrecondition = errors.New("the precondition of the deletion does not hold")

// Deleted is the outcome of a deletion.
type Deleted struct {
	// Object is the last state of the removed object, or the object with a deletionTimestamp if Pending is true.
	Object *watchcache.Object
	// Pending reports whether the object still exists, because it has finalizers or its grace period has not ended.
	Pending bool
	// UID is the uid of the removed object; "" if Pending is true.
	UID string
	// Revision is the revision of the commit; 0 if there was none.
	Revision storage.Revision
}

// Delete deletes an object, or marks it as deleted if it has finalizers or a grace period. It returns a 404 if the object does
// not exist, and a 409 if a precondition does not hold.
func (r *Registry) Delete(ctx context.Context, d *Deletion) (Deleted, error) {
	e := d.Endpoint
	if check := e.strategy.CheckDelete; check != nil {
		if err := check(d.Name); err != nil {
			return Deleted{}, err
		}
	}
	for {
		live, err := r.Cache.Get(ctx, watchcache.Key{Kind: e.Kind.StoreName(), Namespace: d.Namespace, Name: d.Name}, watchcache.Latest)
		if errors.Is(err, storage.ErrNotFound) {
			return Deleted{}, apierrors.NewNotFound(e.resource(), d.Name)
		}
		if err != nil {
			return Deleted{}, StoreError(err)
		}
		deleted, err := r.deleteLive(ctx, d, live)
		var conflict *storage.ConflictError
		if !errors.As(err, &conflict) {
			return deleted, err
		}
		// The object has changed after it was loaded. The deletion is retried until the context ends.
		if err := ctx.Err(); err != nil {
			return Deleted{}, StoreError(err)
		}
	}
}

// deleteLive deletes the loaded object, or marks it as deleted. It returns a *storage.ConflictError if the object has changed
// after it was loaded.
func (r *Registry) deleteLive(ctx context.Context, d *Deletion, live *watchcache.Object) (Deleted, error) {
	parsed, err := r.parsed(live)
	if err != nil {
		return Deleted{}, StoreError(err)
	}
	if err := d.checkPreconditions(live, parsed.Document); err != nil {
		return Deleted{}, err
	}
	if d.Precondition != nil && !d.Precondition(parsed.Document) {
		return Deleted{}, ErrPrecondition
	}
	if mark := d.Endpoint.strategy.MarkDeleted; mark != nil {
		if doc, ok := mark(parsed.Document); ok {
			conditions, err := r.admitDeletion(ctx, d, live)
			if err != nil {
				return Deleted{}, err
			}
			return r.commitMark(ctx, d, live, apply.Object{Document: doc, Entries: parsed.Entries}, conditions)
		}
	}
	marked, pending := d.mark(parsed.Document, r.Now())
	if pending && document.Equal(marked, parsed.Document) {
		return Deleted{Object: live, Pending: true}, nil
	}
	conditions, err := r.admitDeletion(ctx, d, live)
	if err != nil {
		return Deleted{}, err
	}
	if pending {
		parsed.Document = marked
		return r.commitMark(ctx, d, live, parsed, conditions)
	}
	return r.deleteNow(ctx, d, live, parsed, marked, conditions)
}

// deleteNow removes an object without pending finalizers or grace period from the store. Deleted.Object is marked for a
// resource with grace periods, and the unchanged object otherwise.
func (r *Registry) deleteNow(ctx context.Context, d *Deletion, live *watchcache.Object, parsed apply.Object, marked document.Value, conditions []storage.Write) (Deleted, error) {
	deleted := Deleted{Object: live, UID: parsed.Document.Lookup("metadata", "uid").Text()}
	if d.Endpoint.Kind.Graceful {
		parsed.Document = marked
		var err error
		if deleted.Object, err = r.unstoredVersion(live, parsed); err != nil {
			return Deleted{}, err
		}
	}
	if d.DryRun {
		return deleted, nil
	}
	writes, err := r.releases(ctx, d, parsed.Document)
	if err != nil {
		return Deleted{}, err
	}
	writes = append(slices.Concat(writes, conditions), storage.Write{Key: live.Key(), Expected: live.Revision()})
	_, deleted.Revision, err = r.commit(ctx, writes...)
	deleted.Object = deleted.Object.WithRevision(deleted.Revision)
	return deleted, err
}

// unstoredVersion returns changed with the key and revision of live, without storing it.
func (r *Registry) unstoredVersion(live *watchcache.Object, changed apply.Object) (*watchcache.Object, error) {
	key := watchcache.Key{Kind: live.Kind(), Namespace: live.Namespace(), Name: live.Name()}
	return r.Cache.Draft(key, encodeJSON(changed), live.Revision())
}

// commitMark stores an object that is marked as deleted, in one transaction with the conditions of admission plugins. A dry run
// stores nothing.
func (r *Registry) commitMark(ctx context.Context, d *Deletion, live *watchcache.Object, marked apply.Object, conditions []storage.Write) (Deleted, error) {
	if d.DryRun {
		unstored, err := r.unstoredVersion(live, marked)
		return Deleted{Object: unstored, Pending: true}, err
	}
	own := storage.Write{Key: live.Key(), Expected: live.Revision(), Value: encodeJSON(marked)}
	written, revision, err := r.commit(ctx, append(slices.Clone(conditions), own)...)
	if err != nil {
		return Deleted{}, err
	}
	return Deleted{Object: written[len(written)-1], Pending: true, Revision: revision}, nil
}

// checkPreconditions returns a 409 if UID or ResourceVersion is not that of the object. The messages are those of Kubernetes,
// which contain the kind instead of the resource, and which differ for namespaces and CustomResourceDefinitions.
func (d *Deletion) checkPreconditions(live *watchcache.Object, doc document.Value) error {
	kind := d.Endpoint.Kind
	mismatch := func(field, expected, actual, happened string) error {
		// kube-apiserver deletes namespaces and CustomResourceDefinitions with code of their own, which have their own messages.
		if kind.ContainsObjects || d.Endpoint.strategy.MarkDeleted != nil {
			start := "precondition failed"
			if kind.ContainsObjects {
				start = "Precondition failed"
			}
			return apierrors.NewConflict(d.Endpoint.resource(), d.Name, fmt.Errorf(
				"%[4]s: %[1]s in precondition: %[2]s, %[1]s in object meta: %[3]s", field, expected, actual, start))
		}
		return apierrors.NewConflict(schema.GroupResource{Group: kind.Group, Resource: kind.Name}, d.Name, fmt.Errorf(
			"the %[1]s in the precondition (%[2]s) does not match the %[1]s in record (%[3]s). The object might have been %[4]s", field, expected, actual, happened))
	}
	if uid := doc.Lookup("metadata", "uid").Text(); d.UID != nil && *d.UID != uid {
		return mismatch("UID", *d.UID, uid, "deleted and then recreated")
	}
	if actual := fmt.Sprint(live.Revision()); d.ResourceVersion != nil && *d.ResourceVersion != actual {
		return mismatch("ResourceVersion", *d.ResourceVersion, actual, "modified")
	}
	return nil
}

// admitDeletion runs the admission chain on a deletion, and returns the writes and conditions that plugins add to its
// transaction. Plugins cannot change the object.
func (r *Registry) admitDeletion(ctx context.Context, d *Deletion, live *watchcache.Object) ([]storage.Write, error) {
	plan := d.Endpoint.admission.Plan(admission.Delete)
	if plan == nil || d.isAdmitted {
		return nil, nil
	}
	converted, err := r.At(d.Endpoint, live)
	if err != nil {
		return nil, StoreError(err)
	}
	old, err := r.parsed(converted)
	if err != nil {
		return nil, StoreError(err)
	}
	a := admission.NewRecord(admission.Attributes{
		Resource: d.Endpoint.admission.Resource(), Operation: admission.Delete, Verb: "delete",
		Namespace: d.Namespace, Name: d.Name, User: d.User, DryRun: d.DryRun,
		OldObject: old.Document, Reader: r.reader, Warn: d.Warn,
	}, &deletionSource{converter{d.Endpoint}, r, d, live})
	if d.Endpoint.Kind.ContainsObjects {
		a.Namespace = d.Name
	}
	if d.isOfCollection {
		a.Verb, a.Name = "deletecollection", "" // the request names no object
	}
	if a.Warn == nil {
		a.Warn = func(string) {}
	}
	if err = plan.Admit(ctx, a); err == nil {
		err = plan.Validate(ctx, a, false)
	}
	if err != nil && !isStatus(err) {
		err = apierrors.NewInternalError(err) // a wrapped *storage.ConflictError must not cause a retry
	}
	return a.Commits(), err
}

// deletionSource is the admission.Source of a deletion.
type deletionSource struct {
	converter
	registry *Registry
	deletion *Deletion
	live     *watchcache.Object
}

// Options implements admission.Source.
func (s *deletionSource) Options() runtime.Object {
	options := s.deletion.Options
	options.TypeMeta = optionsType("DeleteOptions")
	return &options
}

// Whole implements admission.Source.
func (s *deletionSource) Whole(obj document.Value) (document.Value, error) { return obj, nil }

// OldWhole implements admission.Source.
func (s *deletionSource) OldWhole() (document.Value, error) {
	return s.registry.wholeAt(s.deletion.Endpoint, s.live)
}

// maxConcurrentDeletions is the maximum number of objects that a deletecollection request deletes concurrently. Concurrent
// deletions share the fsync of a group commit.
const maxConcurrentDeletions = 32

// DeleteCollection deletes objects with the options of d and returns the revision of the last commit; 0 if there was none.
// Objects that no longer exist are skipped. The first error stops the deletion of further objects and is returned.
func (r *Registry) DeleteCollection(ctx context.Context, d Deletion, all []*watchcache.Object) (last storage.Revision, err error) {
	var newest atomic.Int64
	d.isOfCollection, d.Warn = true, serialized(d.Warn)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var failure atomic.Pointer[error]
	parallel.Each(len(all), maxConcurrentDeletions, func(i int) {
		one := d
		one.Namespace, one.Name = all[i].Namespace(), all[i].Name()
		deleted, err := r.Delete(ctx, &one)
		if err != nil && !apierrors.IsNotFound(err) {
			failure.CompareAndSwap(nil, &err)
			cancel()
			return
		}
		for {
			now := newest.Load()
			if int64(deleted.Revision) <= now || newest.CompareAndSwap(now, int64(deleted.Revision)) {
				return
			}
		}
	})
	if first := failure.Load(); first != nil {
		err = *first
	}
	return storage.Revision(newest.Load()), err
}

// serialized returns a function that calls warn and, unlike warn, may be called concurrently; nil if warn is nil.
func serialized(warn func(string)) func(string) {
	if warn == nil {
		return nil
	}
	var mu sync.Mutex
	return func(text string) {
		mu.Lock()
		defer mu.Unlock()
		warn(text)
	}
}
