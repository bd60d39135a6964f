package flowcontrol

import (
	"sync"
	"time"

	"k8s.io/apiserver/pkg/util/shufflesharding"

	"github.com/cadastre/cadastre/internal/metrics"
)

// level is a priority level. Its methods are safe for concurrent use, except those whose comment requires the lock.
type level struct {
	name    string
	now     func() time.Time
	metrics *metrics.FlowControl

	mu     sync.Mutex
	config levelConfig
	// isQuiescing reports whether the PriorityLevelConfiguration was deleted. The level is removed when it is idle.
	isQuiescing bool
	// Concurrency limits, in seats. nominal follows from the shares of all levels; limit is the current limit, which the
	// controller adjusts to the demand, between lower and upper.
	nominal, lower, upper, limit int
	maxSeats                     int // the maximum number of seats of a request

	dealer *shufflesharding.Dealer // nil if the level has no queues
	dealt  int                     // the number of queues that the dealer uses; no requests are added to the others
	queues []*queue
	direct queue // the executing requests of a level without queues

	waiting, executing       int
	waitingSeats, seatsInUse int
	active                   int // the number of queues with waiting or executing requests
	robin, enqueued          int

	virtual    float64 // the virtual time: seat-seconds that each active queue was entitled to
	updated    time.Time
	dispatched float64 // the virtual time of the last dispatch from a queue
	lastStart  float64 // the virtual start of that request
	bounds     bounds

	demand demand
	counts levelCounts
	usage  levelUsage
	flows  map[string]*flow // by FlowSchema
	stats  demandStats
}

// levelConfig is the configuration of a level.
type levelConfig struct {
	exempt                    bool
	shares                    int
	lendable                  int
	borrowing                 int // in percent; -1 for no limit
	queues, hand, queueLength int // queues is 0 if requests are rejected instead of queued
	uid                       []string
}

// levelCounts counts the requests of a level since its start.
type levelCounts struct{ dispatched, rejected, timedOut, cancelled int }

// flow holds the current numbers of the requests of a FlowSchema in a level. They are guarded by the mutex of the level.
type flow struct {
	schema                                           string
	waiting, waitingSeats, executing, executingSeats int
	metrics                                          *metrics.Flow
}

func newLevel(name string, now func() time.Time, m *metrics.FlowControl) *level {
	l := &level{name: name, now: now, metrics: m, updated: now(), flows: map[string]*flow{}}
	l.usage.init()
	return l
}

// flow returns the flow of a FlowSchema. The caller holds the lock.
func (l *level) flow(schema string) *flow {
	f := l.flows[schema]
	if f == nil {
		f = &flow{schema: schema, metrics: l.metrics.Flow(l.name, schema)}
		l.flows[schema] = f
	}
	return f
}

// lock acquires the lock and advances the virtual time and the usage statistics to now.
func (l *level) lock() (now time.Time) {
	l.mu.Lock()
	now = l.now()
	elapsed := now.Sub(l.updated).Seconds()
	if elapsed <= 0 {
		return l.updated
	}
	l.updated = now
	if l.active > 0 {
		l.virtual += elapsed * float64(min(l.seatsInUse+l.waitingSeats, max(1, l.limit))) / float64(l.active)
	}
	l.demand.advance(elapsed, float64(l.seatsInUse+l.waitingSeats))
	l.usage.advance(elapsed, l)
	return now
}

// enter dispatches a ticket, or puts it into a queue. It returns a reason if the ticket is rejected. A ticket that resumes is
// never rejected. hash identifies the flow.
func (l *level) enter(t *Ticket, hash uint64, resumes bool) (dispatched bool, reason string) {
	now := l.lock()
	defer l.mu.Unlock()
	t.arrived, t.arrival = now, l.virtual
	if l.dealer == nil {
		t.queue = &l.direct
		if !l.fits(t.work.seats()) && !resumes {
			return false, l.reject("concurrency-limit")
		}
		l.start(t, now)
		return true, ""
	}
	t.queue = l.choose(hash)
	if l.waiting == 0 && l.fits(t.work.seats()) { // the usual case: the ticket would be the next one
		l.activate(t.queue)
		t.flow.metrics.QueueLength(1)
		l.start(t, now)
		return true, ""
	}
	if l.seatsInUse >= l.limit && t.queue.waiting.length >= l.config.queueLength && !resumes {
		return false, l.reject("queue-full")
	}
	t.ready = make(chan struct{})
	l.enqueue(t)
	t.flow.metrics.QueueLength(t.queue.waiting.length)
	l.dispatch(now)
	return t.state == executing, ""
}

func (l *level) reject(reason string) string {
	l.counts.rejected++
	return reason
}

// fits reports whether a request with the given number of seats can start. A request with more seats than the limit starts alone.
func (l *level) fits(seats int) bool {
	return l.config.exempt || l.seatsInUse+seats <= l.limit || seats > l.limit && l.executing == 0
}

// activate prepares an idle queue for its next request. The caller holds the lock.
func (l *level) activate(q *queue) {
	if !q.isActive() {
		q.nextStart = l.virtual
		l.active++
	}
}

// deactivate is called after a ticket has left a queue. The caller holds the lock.
func (l *level) deactivate(q *queue) {
	if q != &l.direct && !q.isActive() {
		l.active--
	}
}

// enqueue adds a ticket to its queue. The caller holds the lock.
func (l *level) enqueue(t *Ticket) {
	q, seats := t.queue, t.work.seats()
	l.activate(q)
	q.waiting.add(t)
	q.waitingWork += t.work.total()
	q.waitingSeats += seats
	q.bound()
	l.waiting++
	l.waitingSeats += seats
	t.flow.waiting++
	t.flow.waitingSeats += seats
	t.state = waiting
}

// dequeue removes a waiting ticket from its queue. The caller holds the lock.
func (l *level) dequeue(t *Ticket) {
	q, seats := t.queue, t.work.seats()
	q.waiting.remove(t)
	q.waitingWork -= t.work.total()
	if q.waiting.length == 0 {
		q.waitingWork = 0 // discards rounding errors
	}
	q.waitingSeats -= seats
	l.waiting--
	l.waitingSeats -= seats
	t.flow.waiting--
	t.flow.waitingSeats -= seats
}

// dispatch starts waiting requests while there are seats for the next one. The caller holds the lock.
func (l *level) dispatch(now time.Time) {
	for l.waiting > 0 && l.seatsInUse < l.limit {
		robin := l.robin
		q := l.next()
		t := q.waiting.first
		if !l.fits(t.work.seats()) {
			l.robin = robin
			t.flow.metrics.NoAccommodation()
			return
		}
		l.dequeue(t)
		l.dispatched, l.lastStart = l.virtual, q.nextStart
		l.start(t, now)
		close(t.ready)
		q.bound()
	}
}

// start starts the execution of a request. The caller holds the lock.
func (l *level) start(t *Ticket, now time.Time) {
	q, seats := t.queue, t.work.seats()
	t.state, t.started = executing, now
	q.executing.add(t)
	q.seatsInUse += seats
	q.nextStart += t.work.total()
	l.executing++
	l.seatsInUse += seats
	t.flow.executing++
	t.flow.executingSeats += seats
	l.demand.note(l.seatsInUse + l.waitingSeats)
	l.counts.dispatched++
}

// stop ends the execution of a ticket. If final is true, its seats remain occupied for the additional latency of its work. The caller
// holds the lock.
func (l *level) stop(t *Ticket, now time.Time, final bool) {
	q := t.queue
	q.executing.remove(t)
	// start has advanced nextStart by the estimated duration of the request; the actual duration replaces the estimate.
	q.nextStart -= float64(t.work.initial) * (serviceEstimate - now.Sub(t.started).Seconds())
	q.bound()
	l.executing--
	t.flow.executing--
	if final && t.work.latency > 0 {
		time.AfterFunc(t.work.latency, func() {
			now := l.lock()
			defer l.mu.Unlock()
			l.free(t)
			l.dispatch(now)
		})
	} else {
		l.free(t)
	}
	l.deactivate(q)
	l.dispatch(now)
}

// free frees the seats of a ticket. The caller holds the lock.
func (l *level) free(t *Ticket) {
	seats := t.work.seats()
	t.queue.seatsInUse -= seats
	l.seatsInUse -= seats
	t.flow.executingSeats -= seats
	if len(l.queues) > l.dealt {
		l.trim()
	}
}

// isIdle reports whether no request waits, executes, or occupies seats. The caller holds the lock.
func (l *level) isIdle() bool { return l.waiting == 0 && l.executing == 0 && l.seatsInUse == 0 }

// setLimit changes the limit in effect, and dispatches waiting requests. A limit is at least 1, so that every waiting request is
// dispatched eventually.
func (l *level) setLimit(limit int) {
	now := l.lock()
	defer l.mu.Unlock()
	l.limit = max(1, limit)
	l.dispatch(now)
}
