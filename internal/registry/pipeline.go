package registry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// write is one request in the pipeline. It does not change between attempts: every stage returns a value that holds the state
// for the stages after it.
//
//	decoded → loaded → merged → admitted → prepared → Result
type write struct {
	*Registry
	*Request
	Endpoint *Endpoint
	verb     verb
}

func (r *Registry) newWrite(request *Request, v verb) *write {
	return &write{Registry: r, Request: request, Endpoint: request.Endpoint, verb: v}
}

// verb is the part of the pipeline in which create, update, patch and apply differ.
type verb struct {
	// merge applies the request to the live object.
	merge func(ctx context.Context, w *write, live *loaded) (merged, error)
	// create holds the properties of a create request; nil for other verbs.
	create *creation
	// conflictIsFinal reports whether the request fails with a 409 if another write changes the object before the commit,
	// because the body contains a resourceVersion or must create the object. Otherwise the request is retried.
	conflictIsFinal bool
}

// creation holds the properties of a create request.
type creation struct {
	// generateName is the prefix of a generated name; "" if the body contains the name.
	generateName string
	// hasRevision reports whether the body contains a resourceVersion, which the body of a create request must not contain.
	hasRevision bool
}

// loaded is the live object that a write starts from. It is the zero value if the object does not exist.
type loaded struct {
	// object is the stored object; nil if it does not exist.
	object *watchcache.Object
	// stored is the object at the storage version; for custom resources, at the request's version.
	stored document.Value
	// current is the object at the request's version.
	current apply.Object
	// outdated reports whether the object would now be stored differently, because its CustomResourceDefinition has changed
	// since it was written. Then even a no-op stores the object again.
	outdated bool
}

// merged is the result of the verb, at the request's version, with its managed fields entries. Fields that later stages set
// belong to no field manager.
type merged struct {
	object apply.Object
	// wasSentWhole reports whether the client sent the whole object at another version than the storage version. The
	// converted object is then stored even if it equals the live object at the request's version.
	wasSentWhole bool
	// resourceVersion is the resourceVersion of the object in mutating admission; "" if the object has none.
	resourceVersion string
	// projected is the body of a subresource with a body type of its own, such as Scale, before and after the write; nil for
	// other endpoints.
	projected *projected
}

// admitted is the object after mutating admission: decoded, with defaults, at the request's version.
type admitted struct {
	object apply.Object
	// unpruned is the custom resource including fields that webhooks set and its schema does not define, as validating admission
	// receives it; absent if there are no such fields.
	unpruned document.Value
	// mutated reports whether in-tree plugins have changed the object.
	mutated bool
	// plan lists the admission plugins that handle the write, and attributes describes the write to them. Both are nil if no
	// plugin handles the write.
	plan       *admission.Plan
	attributes *admission.Record
}

// prepared is the object to be stored, at the storage version.
type prepared struct {
	object apply.Object
	// validated is object plus the fields that are dropped when it is stored, because the storage version does not define them.
	validated document.Value
	// undefaulted is the object in the field validated, without the defaults that follow from reset fields. A status write is
	// validated without these defaults, so a status field that the client omitted is missing even if it has a default that
	// depends on the spec.
	undefaulted document.Value
	// unprepared is the object before the kind's Prepare function, which replaces some annotations with fields. Warnings about a
	// new object are computed from unprepared.
	unprepared document.Value
	// allocations are the writes that reserve allocated values. They are committed in one transaction with the object.
	allocations []storage.Write
}

// ErrReplaced is returned by a write whose resource was replaced in the register, for instance because its
// CustomResourceDefinition changed. The caller looks up the resource again and repeats the request.
var ErrReplaced = api.ErrReplaced

// run takes a request through the pipeline. It repeats the attempt after each conflict that may be retried.
func (w *write) run(ctx context.Context) (Result, error) {
	if err := w.Endpoint.Kind.WriteGate.Enter(ctx, w.ClientGone); err != nil {
		return Result{}, w.enterError(err)
	}
	defer w.Endpoint.Kind.WriteGate.Leave()
	leave := w.enterQueue(ctx, false)
	defer func() {
		if leave != nil {
			leave()
		}
	}()
	for {
		result, err := w.attempt(ctx)
		if !w.retries(ctx, err) {
			return result, w.finalError(err)
		}
		if leave == nil {
			leave = w.enterQueue(ctx, true)
		}
	}
}

// enterQueue enters the queue of the object's writers; see keyQueues. It returns nil without waiting if there is no queue and create
// is not set, and for writes that are not retried.
func (w *write) enterQueue(ctx context.Context, create bool) (leave func()) {
	if w.verb.conflictIsFinal || w.DryRun {
		return nil
	}
	return w.queues.enter(ctx, w.key().String(), create, maxQueueTime)
}

// attempt runs every stage once. It returns a *commitError if the commit failed, for instance because of a conflict.
func (w *write) attempt(ctx context.Context) (Result, error) {
	w.Trace.Stage("load")
	live, err := w.load(ctx)
	if err != nil {
		return Result{}, err
	}
	if err := w.checkPrecondition(live); err != nil {
		return Result{}, err
	}
	existing := live
	if w.verb.create != nil {
		live = &loaded{}
	}
	w.Trace.Stage("merge")
	m, err := w.verb.merge(ctx, w, live)
	if err != nil {
		return Result{}, err
	}
	if ctx.Err() != nil {
		return Result{}, StoreError(ctx.Err())
	}
	plan := w.Endpoint.admission.Plan(live.operation())
	if !m.wasSentWhole && !plan.HandlesNoOps() && w.isNoOp(ctx, live, live.current.Document, m.object) {
		w.warn(live, live.stored)
		return Result{Object: live.object}, nil
	}
	w.Trace.Stage("mutate")
	a, err := w.mutate(ctx, live, m, plan)
	if err != nil {
		return Result{}, err
	}
	if ctx.Err() != nil { // the stages themselves do not check the deadline
		return Result{}, StoreError(ctx.Err())
	}
	w.Trace.Stage("prepare")
	p, err := w.prepare(live, m, a)
	if err != nil {
		return Result{}, err
	}
	if w.isNoOp(ctx, live, live.stored, p.object) {
		w.warn(live, live.stored)
		return Result{Object: live.object}, w.validateAdmission(ctx, live, a, p, true)
	}
	if p, err = w.allocate(ctx, live, p); err != nil {
		return Result{}, err
	}
	w.Trace.Stage("validate")
	if err := w.validate(live, a, p); err != nil {
		return Result{}, err
	}
	if ctx.Err() != nil {
		return Result{}, StoreError(ctx.Err())
	}
	w.Trace.Stage("validating admission")
	if err := w.validateAdmission(ctx, live, a, p, false); err != nil {
		return Result{}, err
	}
	if err := w.checkCreatable(existing); err != nil {
		return Result{}, err
	}
	w.Trace.Stage("commit")
	return w.commit(ctx, live, a, p)
}

// load reads the live object. The result is the zero value of loaded if the object does not exist or the request has no name.
func (w *write) load(ctx context.Context) (*loaded, error) {
	if w.Name == "" {
		return &loaded{}, nil
	}
	object, err := w.Cache.Get(ctx, w.key(), watchcache.Latest)
	if errors.Is(err, storage.ErrNotFound) {
		return &loaded{}, nil
	}
	if err != nil {
		return nil, StoreError(err)
	}
	live := &loaded{object: object}
	if w.Endpoint.evolving != nil {
		return live, w.convertLive(live)
	}
	if live.current, err = w.parsed(object); err != nil {
		return nil, StoreError(err)
	}
	live.stored = live.current.Document
	live.current.Document, err = w.Endpoint.fromStored(live.stored)
	return live, err
}

// enterError returns the API error for a write that did not pass the write gate, which blocks writes while managedFields are
// migrated: ErrReplaced, or the 504 for a wait that took too long.
func (w *write) enterError(err error) error {
	if errors.Is(err, ErrReplaced) {
		return err
	}
	return apierrors.NewTimeoutError(fmt.Sprintf("writes to %s wait until the managedFields of its objects are migrated to the changed CustomResourceDefinition, "+
		"which takes longer than the request may; retry", w.Endpoint.resource()), 1)
}

// operation returns the admission operation of a write: Create if there is no live object, otherwise Update.
func (l *loaded) operation() admission.Operation {
	if l.object == nil {
		return admission.Create
	}
	return admission.Update
}

// revision returns the resourceVersion of the live object; "" if there is none.
func (l *loaded) revision() string {
	if l.object == nil {
		return ""
	}
	return strconv.FormatInt(int64(l.object.Revision()), 10)
}

// isNoOp reports whether the write of object changes nothing in the store. doc is the live object at the version of object. As in
// Kubernetes, an unchanged object is written if the store would now encrypt it with another key.
func (w *write) isNoOp(ctx context.Context, live *loaded, doc document.Value, object apply.Object) bool {
	return live.equals(doc, object) && (w.DryRun || !w.Cache.IsStale(ctx, live.object))
}

// equals reports whether object is equal to the live object. doc is the live object at the version of object. The times of managed
// fields entries are ignored: a field manager that writes the same values again changes nothing. equals returns false if there
// is no live object or if it is outdated.
func (l *loaded) equals(doc document.Value, object apply.Object) bool {
	return l.object != nil && !l.outdated && sameEntries(l.current.Entries, object.Entries) && document.Equal(doc, object.Document)
}

// sameEntries reports whether two lists of managed fields entries are equal, ignoring times and order. Clients may send the
// same entry several times, so it counts entries.
func sameEntries(a, b []apply.Entry) bool {
	if len(a) != len(b) {
		return false
	}
	if slices.EqualFunc(a, b, func(x, y apply.Entry) bool { return withoutTime(x) == withoutTime(y) }) {
		return true
	}
	left := make(map[apply.Entry]int, len(a))
	for _, entry := range a {
		left[withoutTime(entry)]++
	}
	for _, entry := range b {
		if left[withoutTime(entry)]--; left[withoutTime(entry)] < 0 {
			return false
		}
	}
	return true
}

func withoutTime(e apply.Entry) apply.Entry {
	e.Time = time.Time{}
	return e
}
