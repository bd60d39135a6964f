package objects

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/cache"
	"github.com/cadastre/cadastre/internal/kinds"
	"github.com/cadastre/cadastre/internal/metrics"
	"github.com/cadastre/cadastre/internal/store"
)

// writing is a write under way.
type writing struct {
	all *Objects
	*Request
	// live is the object as it is; nil if there is none. stored is the same as a document, and
	// before as an object at the version of the request.
	live   *cache.Object
	stored document.Value
	before apply.Object
	// after is the object as it shall be: at the version of the request until it is finished, then
	// at the one that is stored.
	after apply.Object
	// prepared is after without the defaults that follow from what the endpoint put back. A status is checked as
	// such: what its writer left out is missing, though the spec that the object has would give it a default.
	prepared document.Value
	// checked is after, with what the stored version does not have and loses.
	checked document.Value
	// unpruned is a custom resource with what others gave it and its kind does not have, at the version of the request;
	// absent if there is nothing of that.
	unpruned document.Value
	// unprepared is the object as its writer wants it, with defaults. Of a new one the writer is told what is in
	// there: fields take the place of some annotations afterwards.
	unprepared document.Value
	// change is what the verb does: it makes after of before. It is called again after a lost
	// race.
	change func(*writing) error
	// scaleBefore is the scale that was there, and scaleAfter the one that was written, with as much as its writer
	// sent, and entries with times that the object does not get.
	scaleBefore, scaleAfter apply.Object
	// isCreated says that the verb is to create.
	isCreated bool
	// sentRevision is the resourceVersion that the object has as the verb makes it. Those who mutate see it.
	sentRevision string
	// isTaken says that there is an object already that has the name of the one to be created, and isTakenYet that it
	// is being deleted.
	isTaken, isTakenYet bool
	// isRevision says that the object to be created is said to have been written already.
	isRevision bool
	// prefix is the generateName that the name was made of, if the client did not name the object.
	prefix string
	// validates says that there is somebody who may want to refuse the object as it shall be.
	validates bool
	// converted says that the object was sent whole at another version than the stored one. Then it is
	// stored as it is converted, which may say more than what was stored, though nothing differs here.
	converted bool
	// isOutdated says that the live object is not stored as it would be today.
	isOutdated bool
	// reserved are the writes that go with the object's own. home keeps the namespace of a new object
	// as it was when it was looked at.
	reserved []store.Write
	home     store.Write
	// once says that a lost race is the client's to know: it said which version it means, or that
	// there is none.
	once bool
}

// ErrReplaced says that another kind has been put in the place of the one that was meant: it must be looked
// up again.
var ErrReplaced = kinds.ErrReplaced

// write does what all verbs that write have in common.
func (w *writing) write(ctx context.Context) (Result, error) {
	if err := w.Endpoint.Kind.Uses.Enter(ctx, w.Gone); err != nil {
		return Result{}, w.enterError(err)
	}
	defer w.Endpoint.Kind.Uses.Leave()
	for {
		// 1 the object as it is
		if err := w.readLive(ctx); err != nil {
			return Result{}, err
		}
		if err := w.checkOnly(); err != nil {
			return Result{}, err
		}
		// 2 what the verb makes of it, with its owners
		if err := w.change(w); err != nil {
			return Result{}, err
		}
		// 3 what others make of that
		if err := w.mutate(ctx); err != nil {
			return Result{}, err
		}
		if !w.converted && !w.validates && w.isNoOp(w.before.Document) {
			w.warnOfFields(w.stored)
			return Result{Object: w.live}, nil
		}
		// 4 what the system makes of that: wiped fields, metadata, defaults
		if err := w.finish(ctx); err != nil {
			return Result{}, err
		}
		if w.isNoOp(w.stored) {
			w.warnOfFields(w.stored)
			return Result{Object: w.live}, w.admit(ctx)
		}
		// 5 what no other may have
		if err := w.reserve(ctx); err != nil {
			return Result{}, err
		}
		// 6 is it right, and allowed?
		if err := w.check(ctx); err != nil {
			return Result{}, err
		}
		if err := w.cannotBeMade(); err != nil {
			return Result{}, err
		}
		// 7 on disk, or back to 1
		result, err := w.commit(ctx)
		if w.lostRace(ctx, err) {
			continue
		}
		return result, w.commitError(err)
	}
}

// enterError says to a client why nobody could write.
func (w *writing) enterError(err error) error {
	if errors.Is(err, ErrReplaced) {
		return err
	}
	return apierrors.NewTimeoutError(fmt.Sprintf("the definition of %s has changed, and nobody can write until the owners in its objects are as it has them, "+
		"which takes longer than the request may; try again", w.Endpoint.resource()), 1)
}

// readLive reads the object that is there.
func (w *writing) readLive(ctx context.Context) error {
	w.live, w.stored, w.before = nil, document.Value{}, apply.Object{}
	if w.Name == "" {
		return nil
	}
	live, err := w.all.Cache.Get(ctx, w.key(), cache.Latest)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return StoreError(err)
	}
	w.live, w.isOutdated = live, false
	if w.Endpoint.evolving != nil {
		return w.readEvolving()
	}
	if w.before, err = w.all.parsed(live); err != nil {
		return StoreError(err)
	}
	w.stored = w.before.Document
	w.before.Document, err = w.Endpoint.fromStored(w.stored)
	return err
}

// readEvolving reads the live object of a kind whose definition may have changed since it was written.
func (w *writing) readEvolving() error {
	shown, err := w.all.objectAt(w.Endpoint, w.live)
	if err != nil {
		return err
	}
	if w.before, err = w.all.parsed(shown); err != nil {
		return StoreError(err)
	}
	w.stored = w.before.Document
	if shown != w.live {
		w.isOutdated, err = w.isStoredOtherwise()
	}
	return err
}

// isStoredOtherwise reports whether the live object would be stored in another way today. Then even a write
// that changes nothing is done, as in Kubernetes: it brings objects to another version.
func (w *writing) isStoredOtherwise() (bool, error) {
	there, err := w.all.parsed(w.live)
	if err != nil {
		return false, StoreError(err)
	}
	stored, err := w.Endpoint.evolving.Stored(w.stored)
	return !document.Equal(there.Document, stored), err
}

// parsed returns an object as the engine takes it. Entries that can't be used are dropped, as in
// Kubernetes.
func (o *Objects) parsed(live *cache.Object) (apply.Object, error) {
	parsed, err := live.Parsed()
	if entry := (*apply.EntryError)(nil); !errors.As(err, &entry) {
		return parsed, err
	}
	o.Metrics.ManagedFields(metrics.Dropped, 1)
	o.Log.Warn("managedFields can't be used, so that nobody owns a field of the object", "key", live.Key(), "error", err)
	doc, err := document.ParseJSONLimited(live.Text(), anySize)
	if err != nil {
		return apply.Object{}, err
	}
	return apply.Object{Document: doc.With("metadata", doc.Get("metadata").Without("managedFields"))}, nil
}

// isNoOp reports whether the object stays as it is. That a manager wrote again what it had
// written is no change, so that times don't count.
func (w *writing) isNoOp(before document.Value) bool {
	return w.live != nil && !w.isOutdated && sameOwners(w.before.Entries, w.after.Entries) && document.Equal(before, w.after.Document)
}

// sameOwners reports whether the same own the same, whenever they wrote. Their order is that of these times. Entries
// may say the same twice: clients send whatever they like.
func sameOwners(a, b []apply.Entry) bool {
	if len(a) != len(b) {
		return false
	}
	if slices.EqualFunc(a, b, func(x, y apply.Entry) bool { return timeless(x) == timeless(y) }) {
		return true
	}
	left := make(map[apply.Entry]int, len(a))
	for _, entry := range a {
		left[timeless(entry)]++
	}
	for _, entry := range b {
		if left[timeless(entry)]--; left[timeless(entry)] < 0 {
			return false
		}
	}
	return true
}

func timeless(e apply.Entry) apply.Entry {
	e.Time = time.Time{}
	return e
}

// largestObject is how many bytes an object may have. One that has more already may become smaller. Whoever
// reads what is there takes any size.
const largestObject = document.DefaultMaxBytes

var anySize = document.Limits{MaxBytes: -1}

// commit writes the object, unless it is a dry run, or the last finalizer of a deleted object is
// gone.
func (w *writing) commit(ctx context.Context) (Result, error) {
	key := w.key()
	change, err := w.ownWrite()
	if err != nil {
		return Result{}, err
	}
	created := w.live == nil
	if size := len(change.Value); size > largestObject && (created || size > len(w.live.Text())) {
		return Result{}, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("the object would have %d bytes with its defaults and managedFields, limit is %d", size, largestObject))
	}
	if w.DryRun {
		draft, err := w.all.Cache.Draft(key, change.Value, change.Expected)
		return Result{Object: draft, Created: created}, err
	}
	if isOver(w.Endpoint.Kind, w.after.Document) {
		draft, err := w.all.Cache.Draft(key, change.Value, change.Expected)
		if err != nil {
			return Result{}, err
		}
		change.Value = nil
		_, revision, err := w.all.commit(ctx, w.withOthers(change)...)
		return Result{Object: draft, Revision: revision}, err
	}
	written, revision, err := w.all.commit(ctx, w.withOthers(change)...)
	if err != nil {
		return Result{}, err
	}
	return Result{Object: written[len(written)-1], Created: created, Revision: revision}, nil
}

// withOthers returns all that is committed: the object's own write is the last.
func (w *writing) withOthers(own store.Write) []store.Write {
	all := append(make([]store.Write, 0, len(w.reserved)+2), w.reserved...)
	if w.live == nil && w.home.Keep {
		all = append(all, w.home)
	}
	return append(all, own)
}

// commitError says to a client why its write was not done.
func (w *writing) commitError(err error) error {
	var conflict *store.ConflictError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &conflict) && conflict.Key != w.key().String():
		return StoreError(context.DeadlineExceeded) // else it would have been tried again
	case errors.As(err, &conflict) && w.live == nil:
		return apierrors.NewAlreadyExists(w.Endpoint.resource(), w.Name)
	case errors.As(err, &conflict):
		return w.staleError()
	default:
		return StoreError(err)
	}
}

// staleError is for clients that mean another version of an object than the one that is there.
func (w *writing) staleError() error {
	return apierrors.NewConflict(w.Endpoint.resource(), w.Name,
		errors.New("the object has been modified; please apply your changes to the latest version and try again"))
}
