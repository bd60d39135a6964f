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

// maxObjectBytes is the maximum size of a stored object in bytes. An object that is larger already can be written if the
// write does not enlarge it.
const maxObjectBytes = document.DefaultMaxBytes

// anySize disables the size limit of the parser, for objects that are stored already.
var anySize = document.Limits{MaxBytes: -1}

// commit stores a prepared object by compare-and-swap with the loaded revision, in one transaction with the allocations and
// the writes of admission plugins. A dry run stores nothing. If the write completes the deletion of the object, for instance
// by removing the last finalizer, the object is deleted. An error of the store is returned as a *commitError.
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
		unstored, err := w.Cache.Draft(w.key(), own.Value, own.Expected)
		return Result{Object: unstored, Created: created}, err
	}
	if isDeletionComplete(w.Endpoint.Kind, p.object.Document) {
		last, err := w.Cache.Draft(w.key(), own.Value, own.Expected)
		if err != nil {
			return Result{}, err
		}
		own.Value = nil
		_, revision, err := w.Registry.commit(ctx, a.transaction(p, own)...)
		if err != nil {
			return Result{}, &commitError{err, created}
		}
		return Result{Object: last, Revision: revision}, nil
	}
	written, revision, err := w.Registry.commit(ctx, a.transaction(p, own)...)
	if err != nil {
		return Result{}, &commitError{err, created}
	}
	return Result{Object: written[len(written)-1], Created: created, Revision: revision}, nil
}

// checkSize returns a 413 if an encoded object exceeds maxObjectBytes and is larger than the live object. live is nil for a new
// object.
func checkSize(live *watchcache.Object, value []byte) error {
	if size := len(value); size > maxObjectBytes && (live == nil || size > len(live.Text())) {
		return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("the object would have %d bytes with its defaults and managedFields, limit is %d", size, maxObjectBytes))
	}
	return nil
}

// minDefaultedBody is the minimum size of a body that defaults can enlarge beyond maxObjectBytes.
const minDefaultedBody = 64 << 10

// checkDefaulted returns a 413 if an object with its defaults is too large to be stored. It is called before the stages that take
// time and memory in proportion to the size: a small body can have large defaults in each item of a list.
func (w *write) checkDefaulted(live *loaded, doc document.Value) error {
	if len(w.Body.Text) < minDefaultedBody {
		return nil
	}
	return checkSize(live.object, doc.AppendJSON(nil))
}

// objectWrite returns the write of the prepared object: its key, its JSON at the storage version, and the loaded revision as the
// expected revision.
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

// transaction returns the writes of a commit: allocations, the writes and conditions of admission plugins, and last the write of
// the object.
func (a *admitted) transaction(p *prepared, object storage.Write) []storage.Write {
	commits := a.attributes.Commits()
	all := make([]storage.Write, 0, len(p.allocations)+len(commits)+1)
	all = append(all, p.allocations...)
	for _, w := range commits {
		if w.Key != object.Key { // the write of the object checks the revision of its own key
			all = append(all, w)
		}
	}
	return append(all, object)
}

// retries reports whether a write that failed with err is attempted again. It returns true for a conflict about the object,
// unless conflictIsFinal is set, and for a conflict about another key of the transaction. It returns false for any other error,
// and if the context has ended.
func (w *write) retries(ctx context.Context, err error) bool {
	var conflict *storage.ConflictError
	if !errors.As(err, &conflict) || ctx.Err() != nil {
		return false
	}
	return conflict.Key != w.key().String() || !w.verb.conflictIsFinal
}

// commitError wraps an error of the store at commit. All other errors of the pipeline are API statuses.
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
		return StoreError(context.DeadlineExceeded) // a conflict about another key is retried until the context ends
	case errors.As(err, &conflict) && commit.creating:
		return apierrors.NewAlreadyExists(w.Endpoint.resource(), w.Name)
	case errors.As(err, &conflict):
		return w.staleError()
	default:
		return StoreError(commit.error)
	}
}

// commit commits writes in one transaction, and records the outcome and the duration in metrics.
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

// maxPooledBuffer is the maximum size, in bytes, of a buffer that is returned to the pool.
const maxPooledBuffer = 256 << 10

// buffers pools the buffers of encodeJSON.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// encodeJSON returns the JSON of an object, with managedFields, in a slice of exactly that size. It encodes into a pooled
// buffer and copies the result.
func encodeJSON(o apply.Object) []byte {
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	text := o.AppendJSON((*buffer)[:0])
	if cap(text) <= maxPooledBuffer {
		*buffer = text
	}
	return bytes.Clone(text)
}

// PrepareCreation runs the stages of a create request before the commit, except admission and allocation. The caller commits
// the returned write in one transaction with other writes.
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
