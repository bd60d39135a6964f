package server

import (
	"context"
	"net/http"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cadastre/cadastre/internal/auth/authn"
)

// Limits bounds the resources that requests can use. A field with the value 0 means the default.
type Limits struct {
	// MaxReadOnlyInFlight (default 400) and MaxMutatingInFlight (default 200) are the maximum numbers of concurrent requests,
	// not counting watches.
	MaxReadOnlyInFlight, MaxMutatingInFlight int
	// RequestTimeout (default 1m) is the maximum duration of a request that is not a watch. It also limits the time for receiving
	// a request body and the time for sending a response.
	RequestTimeout time.Duration
	// MaxBodyBytes (default 3 MiB) is the maximum size of a request body.
	MaxBodyBytes int64
	// MemoryBudget (default 1 GiB) is the maximum memory in bytes of all request bodies together, and of the documents that are
	// decoded from them. It is estimated. Requests beyond it are rejected with a 429.
	MemoryBudget int64
}

// withDefaults returns the limits with the defaults for fields that are 0.
func (l Limits) withDefaults() Limits {
	if l.MaxReadOnlyInFlight == 0 {
		l.MaxReadOnlyInFlight = 400
	}
	if l.MaxMutatingInFlight == 0 {
		l.MaxMutatingInFlight = 200
	}
	if l.RequestTimeout == 0 {
		l.RequestTimeout = time.Minute
	}
	if l.MaxBodyBytes == 0 {
		l.MaxBodyBytes = 3 << 20
	}
	if l.MemoryBudget == 0 {
		l.MemoryBudget = 1 << 30
	}
	return l
}

// enter counts the request as in flight until the caller calls leave, or returns a 429 if the limit is reached. Watches,
// requests to paths that the server itself serves and that are not resources, and requests of the group system:masters are
// neither counted nor limited.
func (q *request) enter() (leave func(), err error) {
	if q.target.verb == "watch" || !q.target.isResource() && q.extra == nil || authn.InGroup(q.user, authn.MastersGroup) {
		return func() {}, nil
	}
	at, limit := q.h.Metrics.Mutating, q.h.Limits.MaxMutatingInFlight
	if q.r.Method == http.MethodGet || q.r.Method == http.MethodHead {
		at, limit = q.h.Metrics.ReadOnly, q.h.Limits.MaxReadOnlyInFlight
	}
	if at.Enter() > limit {
		at.Leave()
		return nil, apierrors.NewTooManyRequests("too many requests at once; try again in a second", 1)
	}
	return at.Leave, nil
}

// ioTimeout ends a read from or write to the connection that takes longer than a limit, by setting the deadline of the
// connection to a time in the past. It does not set a deadline before the operation, because over HTTP/2 such a deadline would
// end the request even between operations, and setting a deadline for each operation costs more than a timer.
type ioTimeout struct {
	limit       time.Duration
	setDeadline func(time.Time) error
	timer       *time.Timer

	mu  sync.Mutex
	end time.Time // the time at which the operation in progress times out, zero if there is no operation
}

// newIOTimeout returns a timeout for operations that may take at most limit. setDeadline sets the read or write deadline of
// the connection.
func newIOTimeout(limit time.Duration, setDeadline func(time.Time) error) *ioTimeout {
	return &ioTimeout{limit: limit, setDeadline: setDeadline}
}

// start starts the timeout of an operation. The caller calls it before the operation, and stop after it.
func (t *ioTimeout) start() {
	t.mu.Lock()
	t.end = time.Now().Add(t.limit)
	t.mu.Unlock()
	if t.timer == nil {
		t.timer = time.AfterFunc(t.limit, t.expire)
		return
	}
	t.timer.Reset(t.limit)
}

// stop ends the timeout of an operation that has ended.
func (t *ioTimeout) stop() {
	t.timer.Stop()
	t.mu.Lock()
	t.end = time.Time{}
	t.mu.Unlock()
}

// expire is called by the timer. It ends the operation in progress if that has reached its timeout. The timer may fire late,
// when its operation has ended, and the connection may already serve another request. Therefore expire checks that there is an
// operation and that the timeout is not that of an earlier operation.
func (t *ioTimeout) expire() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.end.IsZero() && !time.Now().Before(t.end) {
		_ = t.setDeadline(time.Unix(0, 0))
	}
}

// writeDeadlines creates the contexts of writes. Writes that start at about the same time share a context, because a timer for
// each write would cost more than the lookup of its object. The context does not end when the client disconnects, because the
// client could not know whether an interrupted write was committed.
type writeDeadlines struct {
	mu      sync.Mutex
	last    context.Context
	renewAt time.Time // the time from which writes get a new context
}

// deadlineSteps is the maximum number of contexts that exist at the same time. The context of a write may end later than its
// timeout by at most timeout/deadlineSteps.
const deadlineSteps = 64

// context returns a context that ends between timeout and timeout+timeout/deadlineSteps after now.
func (d *writeDeadlines) context(timeout time.Duration, now time.Time) context.Context {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.last == nil || !now.Before(d.renewAt) {
		d.renewAt = now.Add(timeout / deadlineSteps)
		ctx, cancel := context.WithDeadline(context.Background(), d.renewAt.Add(timeout))
		context.AfterFunc(ctx, cancel)
		d.last = ctx
	}
	return d.last
}
