package server

import (
	"net/http"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cadastre/cadastre/internal/auth/authn"
)

// Limits bound what clients can take.
type Limits struct {
	// Reading and Changing are how many requests of either kind there may be at once, watches
	// apart.
	Reading, Changing int
	// RequestTime is how long a request may take, watches apart; it is also how long a client
	// may take to send or to receive one.
	RequestTime time.Duration
	// BodyBytes is how large a body may be.
	BodyBytes int64
}

func (l Limits) withDefaults() Limits {
	if l.Reading == 0 {
		l.Reading = 400
	}
	if l.Changing == 0 {
		l.Changing = 200
	}
	if l.RequestTime == 0 {
		l.RequestTime = time.Minute
	}
	if l.BodyBytes == 0 {
		l.BodyBytes = 3 << 20
	}
	return l
}

// enter lets a request in, if there is room. Watches and what tells about the server are always
// let in; nobody keeps administrators out.
func (q *request) enter() (leave func(), err error) {
	if q.target.verb == "watch" || !q.target.isResource() && q.extra == nil || authn.InGroup(q.user, authn.MastersGroup) {
		return func() {}, nil
	}
	at, limit := q.h.Metrics.Mutating, q.h.Limits.Changing
	if q.r.Method == http.MethodGet || q.r.Method == http.MethodHead {
		at, limit = q.h.Metrics.ReadOnly, q.h.Limits.Reading
	}
	if at.Enter() > limit {
		at.Leave()
		return nil, apierrors.NewTooManyRequests("too many requests at once; try again in a second", 1)
	}
	return at.Leave, nil
}

// patience ends reads from a client that does not send, or writes to one that does not take what it is
// sent, and only those: a deadline that is set beforehand ends requests in HTTP/2 also while nothing is
// being read or written, and to set it each time costs more than a timer does.
type patience struct {
	long        time.Duration
	setDeadline func(time.Time) error
	timer       *time.Timer

	mu  sync.Mutex
	end time.Time // of the read or write that is being waited for; zero if there is none
}

func newPatience(long time.Duration, setDeadline func(time.Time) error) *patience {
	return &patience{long: long, setDeadline: setDeadline}
}

// begin is called before a read or write, and done after it.
func (p *patience) begin() {
	p.mu.Lock()
	p.end = time.Now().Add(p.long)
	p.mu.Unlock()
	if p.timer == nil {
		p.timer = time.AfterFunc(p.long, p.lose)
		return
	}
	p.timer.Reset(p.long)
}

func (p *patience) done() {
	p.timer.Stop()
	p.mu.Lock()
	p.end = time.Time{}
	p.mu.Unlock()
}

// lose has a read or write fail that is not done in time. When there is none the request may be over, and
// its connection another's; and the one that it is called for may be done, and the next begun.
func (p *patience) lose() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.end.IsZero() && !time.Now().Before(p.end) {
		_ = p.setDeadline(time.Unix(0, 0))
	}
}
