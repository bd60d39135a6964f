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

// write is one request in the pipeline. It does not change between attempts: every stage returns a value with the state that is
// valid from then on.
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
	// merge applies the verb to the live object.
	merge func(ctx context.Context, w *write, live *loaded) (merged, error)
	// create has the properties of a create request; nil for other verbs.
	create *creation
	// conflictIsFinal reports whether the client named the version that it replaces, so that a lost race is an error and
	// not retried.
	conflictIsFinal bool
}

// creation has the properties of a create request.
type creation struct {
	// generateName is the prefix of a generated name; "" if the client named the object.
	generateName string
	// hasRevision reports whether the body has a resourceVersion, which a new object must not have.
	hasRevision bool
}

// loaded is the live object that a write starts from.
type loaded struct {
	// object is nil if there is none.
	object *watchcache.Object
	// stored is the object at the storage version, current at the version of the request.
	stored  document.Value
	current apply.Object
	// outdated reports whether the stored form of the object has changed since it was written, so that even a no-op
	// rewrites it.
	outdated bool
}

// merged is the result of the verb, at the version of the request. Managed fields are computed: fields that
// later stages set have no owner.
type merged struct {
	object apply.Object
	// wasSentWhole reports whether the client sent the whole object at another version than the storage version. The
	// converted object is then stored even if it equals the live one at the version of the request.
	wasSentWhole bool
	// resourceVersion is that of the object in mutating admission.
	resourceVersion string
	// projected is the body of a subresource that is not the object itself; nil for others.
	projected *projected
}

// admitted is the object after mutating admission: decoded, with defaults, at the version of the request.
type admitted struct {
	object apply.Object
	// unpruned is a custom resource with the fields that webhooks set and its schema does not have; absent if there are
	// none. Validating admission sees them.
	unpruned document.Value
	// mutated reports whether in-tree plugins have changed the object.
	mutated bool
	// plan and attributes are those of admission; nil if no plugin handles the write.
	plan       *admission.Plan
	attributes *admission.Record
}

// prepared is the object as it is stored, at the storage version.
type prepared struct {
	object apply.Object
	// validated is the object with fields that the storage version does not have and drops.
	validated document.Value
	// undefaulted is validated without the defaults that follow from reset fields. A status is validated as such: fields
	// that its writer left out are missing, though the spec of the object would give them a default.
	undefaulted document.Value
	// unprepared is the object before the resource's strategy. Warnings about a new object are about these fields:
	// the strategy replaces some annotations by fields.
	unprepared document.Value
	// allocations are committed together with the object.
	allocations []storage.Write
}

// ErrReplaced is the error of a write whose resource was replaced, for instance because its CustomResourceDefinition
// changed: the caller looks up the resource again and retries.
var ErrReplaced = api.ErrReplaced

// run takes a request through the pipeline, again and again while it loses races.
func (w *write) run(ctx context.Context) (Result, error) {
	if err := w.Endpoint.Kind.WriteGate.Enter(ctx, w.ClientGone); err != nil {
		return Result{}, w.enterError(err)
	}
	defer w.Endpoint.Kind.WriteGate.Leave()
	for {
		result, err := w.attempt(ctx)
		if !w.retries(ctx, err) {
			return result, w.finalError(err)
		}
	}
}

// attempt runs every stage once. It returns a *commitError if the commit failed, for instance because it lost a race.
func (w *write) attempt(ctx context.Context) (Result, error) {
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
	m, err := w.verb.merge(ctx, w, live)
	if err != nil {
		return Result{}, err
	}
	plan := w.Endpoint.admission.Plan(live.operation())
	if !m.wasSentWhole && !plan.HandlesNoOps() && live.equals(live.current.Document, m.object) {
		w.warn(live, live.stored)
		return Result{Object: live.object}, nil
	}
	a, err := w.mutate(ctx, live, m, plan)
	if err != nil {
		return Result{}, err
	}
	p, err := w.prepare(live, m, a)
	if err != nil {
		return Result{}, err
	}
	if live.equals(live.stored, p.object) {
		w.warn(live, live.stored)
		return Result{Object: live.object}, w.validateAdmission(ctx, live, a, p, true)
	}
	if p, err = w.allocate(ctx, live, p); err != nil {
		return Result{}, err
	}
	if err := w.validate(live, a, p); err != nil {
		return Result{}, err
	}
	if err := w.validateAdmission(ctx, live, a, p, false); err != nil {
		return Result{}, err
	}
	if err := w.checkCreatable(existing); err != nil {
		return Result{}, err
	}
	return w.commit(ctx, live, a, p)
}

// enterError returns the error for a write that could not start.
func (w *write) enterError(err error) error {
	if errors.Is(err, ErrReplaced) {
		return err
	}
	return apierrors.NewTimeoutError(fmt.Sprintf("writes to %s wait until the managedFields of its objects are migrated to the changed CustomResourceDefinition, "+
		"which takes longer than the request may; retry", w.Endpoint.resource()), 1)
}

// operation returns the admission operation of a write to the live object.
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

// equals reports whether an object equals the live one, whose document is passed at the same version. The times of
// managed fields entries do not count: a manager that writes the same again changes nothing.
func (l *loaded) equals(doc document.Value, object apply.Object) bool {
	return l.object != nil && !l.outdated && sameEntries(l.current.Entries, object.Entries) && document.Equal(doc, object.Document)
}

// sameEntries reports whether entries are the same apart from their times, and from their order, which follows from the
// times. Clients may send the same entry several times.
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
