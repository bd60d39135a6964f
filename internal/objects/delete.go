package objects

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/cache"
	"github.com/cadastre/cadastre/internal/identity"
	"github.com/cadastre/cadastre/internal/store"
)

// Deletion says which object is to be deleted, and how.
type Deletion struct {
	Endpoint        *Endpoint
	Namespace, Name string
	DryRun          bool
	// UID and ResourceVersion are those that the object must have; "" is any.
	UID, ResourceVersion string
	// Provided is asked whether the object, as it is when it goes, is still the one that is meant;
	// nil means yes. If it is not, ErrNotProvided is returned.
	Provided func(doc document.Value) bool
	// Grace is how many seconds the object is given, if HasGrace; else its kind says.
	Grace    int64
	HasGrace bool
	// Dependants says what becomes of those that have the object as an owner.
	Dependants Propagation
	// User is who deletes, Options are what the client sent, and Warn tells it something. Those who are asked
	// about the deletion see them; nil is the server itself, and nobody.
	User    *identity.User
	Options metav1.DeleteOptions
	Warn    func(text string)
	// isOfMany says that the request does not name the object.
	isOfMany bool
}

// ErrNotProvided is returned for objects that have become others than those that were to be deleted.
var ErrNotProvided = errors.New("the object has changed since it was decided that it goes")

// Deleted is the outcome of a deletion.
type Deleted struct {
	// Object is the last version, or the one that waits for its end.
	Object *cache.Object
	// Waits says that it has not been deleted yet: it has finalizers, or time.
	Waits bool
	UID   string
	// Revision is that of the last change to it.
	Revision store.Revision
}

// Delete deletes an object, or marks it as deleted if there is something to wait for.
func (o *Objects) Delete(ctx context.Context, d *Deletion) (Deleted, error) {
	e := d.Endpoint
	if mayDelete := e.extra.MayDelete; mayDelete != nil {
		if err := mayDelete(d.Name); err != nil {
			return Deleted{}, err
		}
	}
	for {
		live, err := o.Cache.Get(ctx, cache.Key{Kind: e.Kind.StoreName(), Namespace: d.Namespace, Name: d.Name}, cache.Latest)
		if errors.Is(err, store.ErrNotFound) {
			return Deleted{}, apierrors.NewNotFound(e.resource(), d.Name)
		}
		if err != nil {
			return Deleted{}, StoreError(err)
		}
		deleted, err := o.deleteLive(ctx, d, live)
		var conflict *store.ConflictError
		if !errors.As(err, &conflict) {
			return deleted, err
		}
		// Somebody was faster; look again, as long as the client waits.
		if err := ctx.Err(); err != nil {
			return Deleted{}, StoreError(err)
		}
	}
}

// deleteLive deletes the object that is there.
func (o *Objects) deleteLive(ctx context.Context, d *Deletion, live *cache.Object) (Deleted, error) {
	parsed, err := o.parsed(live)
	if err != nil {
		return Deleted{}, StoreError(err)
	}
	if err := d.checkPreconditions(live, parsed.Document); err != nil {
		return Deleted{}, err
	}
	if d.Provided != nil && !d.Provided(parsed.Document) {
		return Deleted{}, ErrNotProvided
	}
	if mark := d.Endpoint.extra.Mark; mark != nil {
		if doc, ok := mark(parsed.Document); ok {
			if err := o.admitDeletion(ctx, d, live); err != nil {
				return Deleted{}, err
			}
			return o.writeMark(ctx, d, live, apply.Object{Document: doc, Entries: parsed.Entries})
		}
	}
	marked, waits := d.mark(parsed.Document, o.Now())
	if waits && document.Equal(marked, parsed.Document) {
		return Deleted{Object: live, Waits: true}, nil
	}
	if err := o.admitDeletion(ctx, d, live); err != nil {
		return Deleted{}, err
	}
	if waits {
		parsed.Document = marked
		return o.writeMark(ctx, d, live, parsed)
	}
	return o.deleteNow(ctx, d, live, parsed, marked)
}

// deleteNow deletes an object that has nothing to wait for. Those that could have been given time are
// shown as they were marked.
func (o *Objects) deleteNow(ctx context.Context, d *Deletion, live *cache.Object, parsed apply.Object, marked document.Value) (Deleted, error) {
	deleted := Deleted{Object: live, UID: parsed.Document.Lookup("metadata", "uid").Text()}
	if d.Endpoint.Kind.Graceful {
		parsed.Document = marked
		var err error
		if deleted.Object, err = o.draft(live, parsed); err != nil {
			return Deleted{}, err
		}
	}
	if d.DryRun {
		return deleted, nil
	}
	writes, err := d.released(ctx, parsed.Document)
	if err != nil {
		return Deleted{}, err
	}
	_, deleted.Revision, err = o.commit(ctx, append(writes, store.Write{Key: live.Key(), Expected: live.Revision()})...)
	deleted.Object = deleted.Object.At(deleted.Revision)
	return deleted, err
}

// draft returns an object as it would be.
func (o *Objects) draft(live *cache.Object, changed apply.Object) (*cache.Object, error) {
	key := cache.Key{Kind: live.Kind(), Namespace: live.Namespace(), Name: live.Name()}
	return o.Cache.Draft(key, jsonOf(changed), live.Revision())
}

// writeMark notes that an object is to be deleted when it has nothing left to wait for.
func (o *Objects) writeMark(ctx context.Context, d *Deletion, live *cache.Object, marked apply.Object) (Deleted, error) {
	if d.DryRun {
		draft, err := o.draft(live, marked)
		return Deleted{Object: draft, Waits: true}, err
	}
	written, revision, err := o.commit(ctx, store.Write{Key: live.Key(), Expected: live.Revision(), Value: jsonOf(marked)})
	if err != nil {
		return Deleted{}, err
	}
	return Deleted{Object: written[0], Waits: true, Revision: revision}, nil
}

// checkPreconditions refuses to delete another object than the client means. The errors are those of
// Kubernetes, which name the kind where others name the resource, and have their own words for what
// contains others.
func (d *Deletion) checkPreconditions(live *cache.Object, doc document.Value) error {
	kind := d.Endpoint.Kind
	differs := func(field, meant, there, happened string) error {
		if kind.Contains || d.Endpoint.extra.Mark != nil {
			//lint:ignore ST1005 as Kubernetes writes it
			return apierrors.NewConflict(d.Endpoint.resource(), d.Name, fmt.Errorf(
				"Precondition failed: %[1]s in precondition: %[2]s, %[1]s in object meta: %[3]s", field, meant, there))
		}
		return apierrors.NewConflict(schema.GroupResource{Group: kind.Group, Resource: kind.Name}, d.Name, fmt.Errorf(
			"the %[1]s in the precondition (%[2]s) does not match the %[1]s in record (%[3]s). The object might have been %[4]s", field, meant, there, happened))
	}
	if uid := doc.Lookup("metadata", "uid").Text(); d.UID != "" && d.UID != uid {
		return differs("UID", d.UID, uid, "deleted and then recreated")
	}
	if there := fmt.Sprint(live.Revision()); d.ResourceVersion != "" && d.ResourceVersion != there {
		return differs("ResourceVersion", d.ResourceVersion, there, "modified")
	}
	return nil
}

// deletedAtOnce is how many objects are deleted side by side, so that they share the wait for the
// disk.
const deletedAtOnce = 32

// DeleteAll deletes objects and returns the revision of the last change. Those that somebody else deletes meanwhile are
// nobody's mistake.
func (o *Objects) DeleteAll(ctx context.Context, d Deletion, all []*cache.Object) (last store.Revision, err error) {
	var newest atomic.Int64
	d.isOfMany, d.Warn = true, oneByOne(d.Warn)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(deletedAtOnce)
	for _, object := range all {
		one := d
		one.Namespace, one.Name = object.Namespace(), object.Name()
		group.Go(func() error {
			deleted, err := o.Delete(ctx, &one)
			if err != nil && !apierrors.IsNotFound(err) {
				return err
			}
			for {
				now := newest.Load()
				if int64(deleted.Revision) <= now || newest.CompareAndSwap(now, int64(deleted.Revision)) {
					return nil
				}
			}
		})
	}
	err = group.Wait()
	return store.Revision(newest.Load()), err
}

// oneByOne lets many warn at once.
func oneByOne(warn func(string)) func(string) {
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
