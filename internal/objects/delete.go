package objects

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/cache"
	"github.com/cadastre/cadastre/internal/kinds"
	"github.com/cadastre/cadastre/internal/store"
)

// Deletion says which object is to be deleted, and how.
type Deletion struct {
	Endpoint        *Endpoint
	Namespace, Name string
	DryRun          bool
	// UID and ResourceVersion are those that the object must have; "" is any.
	UID, ResourceVersion string
	// Grace is how many seconds the object is given, if HasGrace; else its kind says.
	Grace    int64
	HasGrace bool
}

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
	if mark := d.Endpoint.extra.Mark; mark != nil {
		if doc, ok := mark(parsed.Document); ok {
			return o.commitMarked(ctx, d, live, apply.Object{Document: doc, Entries: parsed.Entries})
		}
	}
	kind, isMarked := d.Endpoint.Kind, !parsed.Document.Lookup("metadata", "deletionTimestamp").IsAbsent()
	grace := kind.GracePeriod(parsed.Document, d.Grace, d.HasGrace)
	if grace == 0 && !hasFinalizers(kind, parsed.Document) && (isMarked || !kind.Contains) {
		return o.deleteNow(ctx, d, live, parsed)
	}
	return o.markDeleted(ctx, d, live, parsed, grace)
}

// deleteNow deletes an object that has nothing to wait for.
func (o *Objects) deleteNow(ctx context.Context, d *Deletion, live *cache.Object, parsed apply.Object) (Deleted, error) {
	deleted := Deleted{Object: live, UID: parsed.Document.Lookup("metadata", "uid").Text()}
	if d.Endpoint.Kind.Graceful {
		parsed.Document = o.marked(d.Endpoint.Kind, parsed.Document, 0)
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

// marked returns an object that is to be deleted in so many seconds.
func (o *Objects) marked(kind *kinds.Kind, doc document.Value, grace int64) document.Value {
	if kind.Contains {
		return o.terminating(doc)
	}
	metadata := doc.Get("metadata")
	if generation, _ := metadata.Get("generation").Int64(); generation > 0 && metadata.Get("deletionTimestamp").IsAbsent() {
		metadata = metadata.With("generation", document.NewInt(generation+1))
	}
	when := o.Now().UTC().Add(time.Duration(grace) * time.Second)
	return doc.With("metadata", metadata.
		With("deletionTimestamp", document.NewString(when.Format(time.RFC3339))).
		With("deletionGracePeriodSeconds", document.NewInt(grace)))
}

// terminating returns something that is to be deleted when it is empty.
func (o *Objects) terminating(doc document.Value) document.Value {
	metadata := doc.Get("metadata").With("deletionTimestamp", document.NewString(o.Now().UTC().Format(time.RFC3339)))
	return doc.With("metadata", metadata).With("status", doc.Get("status").With("phase", document.NewString("Terminating")))
}

// markDeleted notes that an object is to be deleted when it has nothing left to wait for.
func (o *Objects) markDeleted(ctx context.Context, d *Deletion, live *cache.Object, parsed apply.Object, grace int64) (Deleted, error) {
	metadata := parsed.Document.Get("metadata")
	before, hasGrace := metadata.Get("deletionGracePeriodSeconds").Int64()
	if marked := !metadata.Get("deletionTimestamp").IsAbsent(); marked && (d.Endpoint.Kind.Contains || hasGrace && before <= grace) {
		return Deleted{Object: live, Waits: true}, nil // it can only be made shorter
	}
	parsed.Document = o.marked(d.Endpoint.Kind, parsed.Document, grace)
	return o.commitMarked(ctx, d, live, parsed)
}

// commitMarked stores an object that is marked as deleted.
func (o *Objects) commitMarked(ctx context.Context, d *Deletion, live *cache.Object, marked apply.Object) (Deleted, error) {
	if d.DryRun {
		draft, err := o.draft(live, marked)
		return Deleted{Object: draft, Waits: true}, err
	}
	value := jsonOf(marked)
	written, revision, err := o.commit(ctx, store.Write{Key: live.Key(), Expected: live.Revision(), Value: value})
	if err != nil {
		return Deleted{}, err
	}
	return Deleted{Object: written[0], Waits: true, Revision: revision}, nil
}

// checkPreconditions refuses to delete another object than the client means. The errors are those of
// Kubernetes, which name the kind where others name the resource.
func (d *Deletion) checkPreconditions(live *cache.Object, doc document.Value) error {
	differs := func(field, meant, there, happened string) error {
		kind := schema.GroupResource{Group: d.Endpoint.Kind.Group, Resource: d.Endpoint.Kind.Name}
		return apierrors.NewConflict(kind, d.Name, fmt.Errorf(
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

// DeleteAll deletes the objects of a selection and returns them as they were, and the revision of
// the last change. Those that somebody else deletes meanwhile are nobody's mistake.
func (o *Objects) DeleteAll(ctx context.Context, d Deletion, query cache.Query) (list cache.List, last store.Revision, err error) {
	if list, err = o.Cache.List(ctx, query); err != nil {
		return list, 0, err
	}
	var newest atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(deletedAtOnce)
	for _, object := range list.Objects {
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
	return list, store.Revision(newest.Load()), err
}
