package server

import (
	"context"
	"net/http"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cadastre/cadastre/internal/auth/authn"
)

// Limits bound the resources that requests take. Zero values mean the defaults.
type Limits struct {
	// MaxReadOnlyInFlight and MaxMutatingInFlight are the maximum numbers of concurrent requests, without watches.
	MaxReadOnlyInFlight, MaxMutatingInFlight int
	// RequestTimeout is the maximum duration of a request, except watches, and of sending a body or receiving a response.
	RequestTimeout time.Duration
	// MaxBodyBytes is the maximum size of a body.
	MaxBodyBytes int64
}

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
	return l
}

// enter counts the request as in flight until leave is called, or returns a 429. Watches, paths that are not resources, and
// requests of system:masters are not limited.
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

// ioTimeout ends a read or write of the connection that takes longer than a limit, by setting a deadline in the past. A
// deadline that is set before the operation would end an HTTP/2 request also between operations, and setting one for each
// operation costs more than a timer.
type ioTimeout struct {
	limit       time.Duration
	setDeadline func(time.Time) error
	timer       *time.Timer

	mu  sync.Mutex
	end time.Time // of the operation in progress; zero if there is none
}

func newIOTimeout(limit time.Duration, setDeadline func(time.Time) error) *ioTimeout {
	return &ioTimeout{limit: limit, setDeadline: setDeadline}
}

// start is called before an operation, stop after it.
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

func (t *ioTimeout) stop() {
	t.timer.Stop()
	t.mu.Lock()
	t.end = time.Time{}
	t.mu.Unlock()
}

// expire ends the operation in progress if its time is over. The timer may fire late: without an operation the connection may
// already serve another request, and a later operation has its own time.
func (t *ioTimeout) expire() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.end.IsZero() && !time.Now().Before(t.end) {
		_ = t.setDeadline(time.Unix(0, 0))
	}
}

// writeDeadlines returns the contexts of writes. Writes that start at about the same time share a context: a timer for each
// would cost more than the lookup of the object. The context does not end when the client disconnects, because the client
// could not find out the outcome of the write.
type writeDeadlines struct {
	mu      sync.Mutex
	last    context.Context
	renewAt time.Time // when the next write gets a new context
}

// deadlineSteps is the maximum number of contexts at the same time. A write may exceed its timeout by one part in
// deadlineSteps.
const deadlineSteps = 64

// context returns a context that ends after at least the timeout.
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
