package registry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/metrics"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// maxObjectBytes is the maximum size of a stored object. Writes that make a larger object smaller are accepted.
const maxObjectBytes = document.DefaultMaxBytes

// anySize removes the size limit where stored objects are parsed.
var anySize = document.Limits{MaxBytes: -1}

// commit stores a prepared object with compare-and-swap at the revision that was loaded, in one transaction with the
// allocations and the writes of admission plugins. A dry run stores nothing. An object whose deletion is complete is
// deleted.
func (w *write) commit(ctx context.Context, live *loaded, a *admitted, p *prepared) (Result, error) {
	own, err := w.objectWrite(live, p)
	if err != nil {
		return Result{}, err
	}
	created := live.object == nil
	if err := checkSize(live.object, own.Value); err != nil {
		return Result{}, err
	}
	if w.DryRun {
		draft, err := w.Cache.Draft(w.key(), own.Value, own.Expected)
		return Result{Object: draft, Created: created}, err
	}
	if isDeletionComplete(w.Endpoint.Kind, p.object.Document) {
		draft, err := w.Cache.Draft(w.key(), own.Value, own.Expected)
		if err != nil {
			return Result{}, err
		}
		own.Value = nil
		_, revision, err := w.Registry.commit(ctx, a.transaction(p, own)...)
		if err != nil {
			return Result{}, &commitError{err, created}
		}
		return Result{Object: draft, Revision: revision}, nil
	}
	written, revision, err := w.Registry.commit(ctx, a.transaction(p, own)...)
	if err != nil {
		return Result{}, &commitError{err, created}
	}
	return Result{Object: written[len(written)-1], Created: created, Revision: revision}, nil
}

// checkSize rejects an object that is too large, and larger than the live one, which is nil for a new object.
func checkSize(live *watchcache.Object, value []byte) error {
	if size := len(value); size > maxObjectBytes && (live == nil || size > len(live.Text())) {
		return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("the object would have %d bytes with its defaults and managedFields, limit is %d", size, maxObjectBytes))
	}
	return nil
}

// objectWrite returns the write of the object itself.
func (w *write) objectWrite(live *loaded, p *prepared) (own storage.Write, err error) {
	stored := p.object
	if evolving := w.Endpoint.evolving; evolving != nil {
		if stored.Document, err = evolving.ToStorage(stored.Document); err != nil {
			return own, err
		}
	}
	own = storage.Write{Key: w.key().String(), Value: encodeJSON(stored)}
	if live.object != nil {
		own.Expected = live.object.Revision()
	}
	return own, nil
}

// transaction returns all writes of a commit. The write of the object is the last.
func (a *admitted) transaction(p *prepared, own storage.Write) []storage.Write {
	commits := a.attributes.Commits()
	all := make([]storage.Write, 0, len(p.allocations)+len(commits)+1)
	all = append(all, p.allocations...)
	for _, w := range commits {
		if w.Key != own.Key { // the write of the object is conditional itself
			all = append(all, w)
		}
	}
	return append(all, own)
}

// retries reports whether a write that failed starts again: it lost a race for its object, and the client did not name a
// version, or for another key of the transaction.
func (w *write) retries(ctx context.Context, err error) bool {
	var conflict *storage.ConflictError
	if !errors.As(err, &conflict) || ctx.Err() != nil {
		return false
	}
	return conflict.Key != w.key().String() || !w.verb.conflictIsFinal
}

// commitError is the error of a commit. Other errors of the pipeline are API statuses already.
type commitError struct {
	error
	// creating reports whether the commit would have created the object.
	creating bool
}

// Unwrap returns the error of the store.
func (e *commitError) Unwrap() error { return e.error }

// finalError returns the API status for an attempt that failed and is not retried.
func (w *write) finalError(err error) error {
	var (
		commit   *commitError
		conflict *storage.ConflictError
	)
	switch {
	case !errors.As(err, &commit):
		return err
	case errors.As(err, &conflict) && conflict.Key != w.key().String():
		return StoreError(context.DeadlineExceeded) // else it would have been retried
	case errors.As(err, &conflict) && commit.creating:
		return apierrors.NewAlreadyExists(w.Endpoint.resource(), w.Name)
	case errors.As(err, &conflict):
		return w.staleError()
	default:
		return StoreError(commit.error)
	}
}

// commit commits writes and counts the outcome.
func (r *Registry) commit(ctx context.Context, writes ...storage.Write) ([]*watchcache.Object, storage.Revision, error) {
	begun := time.Now()
	written, revision, err := r.Cache.Commit(ctx, writes...)
	result := metrics.Committed
	if conflict := (*storage.ConflictError)(nil); errors.As(err, &conflict) {
		result = metrics.Conflicted
	} else if err != nil {
		result = metrics.Failed
	}
	r.Metrics.Commit(result, time.Since(begun))
	return written, revision, err
}

// maxPooledBuffer is the maximum size of a buffer that is used again.
const maxPooledBuffer = 256 << 10

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// encodeJSON returns the JSON of an object. It is encoded into a pooled buffer and copied, so that its size need not be
// computed first.
func encodeJSON(o apply.Object) []byte {
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	text := o.AppendJSON((*buffer)[:0])
	if cap(text) <= maxPooledBuffer {
		*buffer = text
	}
	return bytes.Clone(text)
}

// PrepareCreation runs a create request up to its commit, for an object that is written in one transaction with another
// one. Mutating admission is skipped.
func (r *Registry) PrepareCreation(ctx context.Context, request *Request) (storage.Write, error) {
	body, err := request.decodeObject()
	if err != nil {
		return storage.Write{}, err
	}
	w, live := r.newWrite(request, verb{}), &loaded{}
	m, err := w.mergeCreate(live, body)
	if err != nil {
		return storage.Write{}, err
	}
	a, err := w.mutate(ctx, live, m, nil)
	if err != nil {
		return storage.Write{}, err
	}
	p, err := w.prepare(live, m, a)
	if err != nil {
		return storage.Write{}, err
	}
	if err := w.validate(live, a, p); err != nil {
		return storage.Write{}, err
	}
	return w.objectWrite(live, p)
}
