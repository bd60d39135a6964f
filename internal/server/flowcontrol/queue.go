package flowcontrol

import "math"

// tickets is a list of tickets in the order in which they were added. A ticket is in at most one list.
type tickets struct {
	first, last *Ticket
	length      int
}

func (l *tickets) add(t *Ticket) {
	t.previous, t.next = l.last, nil
	if l.last == nil {
		l.first = t
	} else {
		l.last.next = t
	}
	l.last = t
	l.length++
}

func (l *tickets) remove(t *Ticket) {
	if t.previous == nil {
		l.first = t.next
	} else {
		t.previous.next = t.next
	}
	if t.next == nil {
		l.last = t.previous
	} else {
		t.next.previous = t.previous
	}
	t.previous, t.next = nil, nil
	l.length--
}

// queue is a queue of a level. Its fields are guarded by the mutex of the level.
type queue struct {
	waiting, executing tickets
	waitingWork        float64 // the estimated work of the waiting requests, in seat-seconds
	waitingSeats       int
	seatsInUse         int // the seats of executing requests, and of those that have ended but still occupy their final seats
	// nextStart is the virtual time at which the queue's next request starts, in seat-seconds.
	nextStart float64
}

func (q *queue) isActive() bool { return q.waiting.length > 0 || q.executing.length > 0 }

// bound ensures that no request starts, in virtual time, before it has arrived. Otherwise a queue that does not use its share
// would accumulate credit.
func (q *queue) bound() {
	if first := q.waiting.first; first != nil {
		q.nextStart = max(q.nextStart, first.arrival)
	}
}

// resize sets the number of queues. Queues that are no longer used are removed when they are empty.
func (l *level) resize(n int) {
	l.dealt = n
	for len(l.queues) < n {
		l.queues = append(l.queues, &queue{})
	}
	l.trim()
}

// trim removes the queues that are no longer used and are empty, from the end.
func (l *level) trim() {
	for n := len(l.queues); n > l.dealt; n-- {
		if last := l.queues[n-1]; last.isActive() || last.seatsInUse > 0 {
			return
		}
		l.queues = l.queues[:n-1]
	}
}

// choose returns the queue of a flow that has the least waiting work, among the hand that shuffle sharding deals for the hash of
// the flow.
func (l *level) choose(hash uint64) *queue {
	var cards [8]int
	hand := l.dealer.DealIntoHand(hash, cards[:])
	offset := l.enqueued % len(hand)
	l.enqueued++
	var best *queue
	for i := range hand {
		q := l.queues[hand[(offset+i)%len(hand)]]
		if best == nil || q.waitingWork < best.waitingWork {
			best = q
		}
	}
	return best
}

// next returns the queue whose first request finishes earliest in virtual time. The level has a waiting request.
func (l *level) next() *queue {
	var best *queue
	index := 0
	finish := math.Inf(1)
	l.bounds = bounds{math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)}
	for i := range l.queues {
		at := (l.robin + 1 + i) % len(l.queues)
		q := l.queues[at]
		if q.waiting.first == nil {
			continue
		}
		l.bounds.note(q)
		if f := q.nextStart + q.waiting.first.work.total(); f < finish {
			best, index, finish = q, at, f
		}
	}
	l.robin = index // the chosen queue is considered last in the next round, so that equal queues alternate
	return best
}

// bounds are the minimum and maximum nextStart of the queues with waiting requests; the discounted bounds subtract the estimated work of
// executing requests.
type bounds struct{ least, greatest, leastDiscounted, greatestDiscounted float64 }

func (b *bounds) note(q *queue) {
	discounted := q.nextStart - float64(q.seatsInUse)*serviceEstimate
	b.least, b.greatest = min(b.least, q.nextStart), max(b.greatest, q.nextStart)
	b.leastDiscounted, b.greatestDiscounted = min(b.leastDiscounted, discounted), max(b.greatestDiscounted, discounted)
}
