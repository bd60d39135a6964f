package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cadastre/cadastre/internal/cache"
	"github.com/cadastre/cadastre/internal/catalog"
	"github.com/cadastre/cadastre/internal/codec"
	"github.com/cadastre/cadastre/internal/follow"
	"github.com/cadastre/cadastre/internal/identity"
	"github.com/cadastre/cadastre/internal/kinds"
	"github.com/cadastre/cadastre/internal/metrics"
	"github.com/cadastre/cadastre/internal/objects"
	"github.com/cadastre/cadastre/internal/rbac"
	"github.com/cadastre/cadastre/internal/store"
)

// Options are what a handler works with. All but the limits, Admission and Failure are required.
type Options struct {
	Kinds         *kinds.Register
	Cache         *cache.Cache
	Objects       *objects.Objects
	Catalog       *catalog.Catalog
	Authenticator *identity.Authenticator
	Authorizer    *rbac.Authorizer
	Reviewer      *rbac.Reviewer
	// Admission follows what says who has a say in writes; nil if nobody has.
	Admission *follow.Follower
	Metrics   *metrics.Metrics
	Log       *slog.Logger
	Limits    Limits
	// Drop has answers leave out managedFields for those who ask.
	Drop bool
	// Failure tells why nothing can be written any more, nil as long as it can be, and whether a
	// restart would help.
	Failure func() (isCured bool, err error)
}

// Handler answers requests.
type Handler struct {
	Options
	// draining is done when the server is being stopped: watches end, and it is not ready.
	draining context.Context
	drain    context.CancelFunc
	underWay atomic.Int64 // requests
	writes   deadlines
}

// NewHandler returns a handler.
func NewHandler(options Options) *Handler {
	options.Limits = options.Limits.withDefaults()
	h := &Handler{Options: options}
	h.draining, h.drain = context.WithCancel(context.Background())
	return h
}

// Drain has watches end, and tells that the server is not ready for more.
func (h *Handler) Drain() { h.drain() }

// ServeHTTP answers a request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	growStack()
	h.underWay.Add(1)
	defer h.underWay.Add(-1)
	q := &request{h: h, r: r, w: answer{ResponseWriter: w}, start: time.Now()}
	defer q.finish()
	q.limitUnread()
	q.fail(q.serve())
}

// limitUnread bounds how long the server waits for a body that nobody reads: HTTP/1 wants it sent before it
// sends the answer, also to who may not come in. The answer, which may take twice as long as a request,
// still has time then.
func (q *request) limitUnread() {
	if q.r.ProtoMajor == 1 && q.r.ContentLength != 0 {
		_ = http.NewResponseController(q.w.ResponseWriter).SetReadDeadline(q.start.Add(q.h.Limits.RequestTime * 3 / 2))
	}
}

// growStack makes room for what is to come. A request has a goroutine of its own, whose stack would be
// copied again and again on the way down.
//
//go:noinline
func growStack() {
	var room [10 << 10]byte
	runtime.KeepAlive(&room)
}

// serve is the life of a request.
func (q *request) serve() error {
	// 1 what do you want?
	q.readTarget()
	// 2 who are you?
	if err := q.authenticate(); err != nil {
		return err
	}
	// 3 is there room?
	leave, err := q.enter()
	if err != nil {
		return err
	}
	defer leave()
	// 4 may you?
	if err := q.authorize(); err != nil {
		return err
	}
	// 5 do it, and answer
	if !q.target.isResource() {
		return q.serveOther()
	}
	if err := q.findKind(); err != nil {
		return err
	}
	return q.serveResource()
}

// request is a request that is being answered.
type request struct {
	h      *Handler
	r      *http.Request
	w      answer
	start  time.Time
	target target
	kind   *kinds.Kind
	user   *identity.User
	// patchType is what a patch is by its Content-Type; "" for what is no patch.
	patchType  types.PatchType
	parameters url.Values // as the query has them, read when they are first asked for
	metrics    *metrics.Endpoint
	warnings   warnings
	unselected atomic.Pointer[error] // see selectError
}

// serveResource does what a request wants with objects.
func (q *request) serveResource() error {
	if q.r.Method == http.MethodHead {
		return q.noSuchMethod() // as in Kubernetes
	}
	if q.kind.OnlyCreate {
		return q.review()
	}
	switch q.target.verb {
	case "get":
		return q.get()
	case "list":
		return q.list()
	case "watch":
		return q.watch()
	case "create":
		return q.create()
	case "update":
		return q.update()
	case "patch":
		return q.patch()
	case "delete":
		return q.delete()
	case "deletecollection":
		return q.deleteCollection()
	default:
		return q.noSuchMethod()
	}
}

func (q *request) noSuchMethod() error {
	err := apierrors.NewMethodNotSupported(schema.GroupResource{Group: q.target.group, Resource: q.target.resource}, q.target.verb)
	err.ErrStatus.Message = "the server does not allow this method on the requested resource"
	return err
}

// finish counts a request when it has been answered. A panic is the fault of this request alone.
func (q *request) finish() {
	reason := recover()
	isHalf := reason != nil && q.w.code != 0
	if err, ok := reason.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		isHalf = true // the handler means it
	} else if reason != nil {
		q.h.Log.Error("a request panicked", "method", q.r.Method, "path", q.r.URL.Path, "panic", fmt.Sprint(reason), "stack", string(debug.Stack()))
		if !isHalf {
			q.answerFailure(codec.StatusOf(apierrors.NewInternalError(errors.New("this request made the server panic; its log has more"))))
		}
	}
	q.count(time.Since(q.start))
	if isHalf {
		panic(http.ErrAbortHandler) // half an answer must not look whole
	}
}

// timeLimited returns the context of a request that must not take long.
func (q *request) timeLimited() (context.Context, context.CancelFunc) {
	return context.WithTimeout(q.r.Context(), q.h.Limits.RequestTime)
}

// sync waits until what was written counts for the requests that come after it: who may do what, and who has a say.
func (q *request) sync(ctx context.Context, revision store.Revision) error {
	kind := q.kind.StoreName()
	if err := q.h.Authorizer.Sync(ctx, kind, revision); err != nil {
		return err
	}
	return q.h.Admission.Sync(ctx, kind, revision)
}
