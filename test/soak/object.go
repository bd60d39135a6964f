package main

import (
	"fmt"
	"sync"
	"time"
)

// state is the state of an object. The zero value is that of an object that was never created.
type state struct {
	present  bool
	sequence int64 // the number of the write that led to the state
	revision int64 // the resourceVersion; 0 if the object is absent
}

func (s state) String() string {
	if !s.present {
		return fmt.Sprintf("absent (sequence %d)", s.sequence)
	}
	return fmt.Sprintf("sequence %d at resourceVersion %d", s.sequence, s.revision)
}

// attempt is a write that was sent.
type attempt struct {
	verb     string
	sequence int64
	deletes  bool
}

// led reports whether the observed state may be the result of the attempt.
func (a *attempt) led(observed state) bool {
	if a == nil {
		return false
	}
	return a.deletes && !observed.present || !a.deletes && observed.present && observed.sequence == a.sequence
}

// object is the model of one object with a single writer. Safe for concurrent use.
//
//	known.sequence ≤ unknown.sequence ≤ attempts
//	known.revision never decreases while the object exists
type object struct {
	namespace, name string

	mu       sync.Mutex
	attempts int64 // the sequence number of the last write that was sent
	// lastDelete is the sequence number of the last deletion that was sent.
	lastDelete int64
	known      state // the newest confirmed state
	maxSeen    int64 // the greatest resourceVersion of the object so far
	// unknown is the last write after known whose result is unknown. The object must be read before the next write. late is such
	// a write after which the object was read without its effect; it may still take effect, until a conditional write is confirmed.
	unknown, late *attempt
	// lost has the sequence numbers of all writes with an unknown result since the last call of checkEvents.
	lost    map[int64]bool
	history []string
}

// maxHistory is the number of lines of an object's history that are kept.
const maxHistory = 40

// note adds a line to the history. The caller holds o.mu.
func (o *object) note(format string, args ...any) {
	line := time.Now().UTC().Format("15:04:05.000 ") + fmt.Sprintf(format, args...)
	if o.history = append(o.history, line); len(o.history) > maxHistory {
		o.history = o.history[1:]
	}
}

// noted adds a line to the history.
func (o *object) noted(format string, args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.note(format, args...)
}

// lines returns a copy of the history.
func (o *object) lines() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]string{o.namespace + "/" + o.name + ":"}, o.history...)
}

// begin numbers a new write, and returns the state on which it must be conditional.
func (o *object) begin(verb string, deletes bool) (a *attempt, known state) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.attempts++
	a = &attempt{verb, o.attempts, deletes}
	if deletes {
		o.lastDelete = a.sequence
	}
	o.note("%s with sequence %d sent, known: %v", verb, a.sequence, o.known)
	return a, o.known
}

// confirm records that the attempt was confirmed, with the resourceVersion of the response; 0 for a deletion. It returns an error if the
// resourceVersion is not greater than all earlier ones.
func (o *object) confirm(a *attempt, revision int64) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.note("%s with sequence %d confirmed at resourceVersion %d", a.verb, a.sequence, revision)
	if !a.deletes && revision <= o.maxSeen {
		return fmt.Errorf("%s of %s/%s: expected a resourceVersion greater than %d, received %d", a.verb, o.namespace, o.name, o.maxSeen, revision)
	}
	o.known = state{present: !a.deletes, sequence: a.sequence, revision: revision}
	o.maxSeen = max(o.maxSeen, revision)
	o.unknown, o.late = nil, nil
	return nil
}

// lose records that the result of the attempt is unknown.
func (o *object) lose(a *attempt, reason any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.note("%s with sequence %d: unknown result: %.200v", a.verb, a.sequence, reason)
	o.unknown = a
	if o.lost == nil {
		o.lost = map[int64]bool{}
	}
	o.lost[a.sequence] = true
}

// observe compares a state that was read after all confirmed writes with the possible states, and makes it the known state. No write may
// be in progress.
func (o *object) observe(observed state) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.note("read: %v", observed)
	isKnown := observed.present == o.known.present && (!observed.present || observed.sequence == o.known.sequence && observed.revision == o.known.revision)
	switch {
	case isKnown:
		if o.unknown != nil {
			o.late, o.unknown = o.unknown, nil
		}
		return nil
	case o.unknown.led(observed), o.late.led(observed):
		if observed.present && observed.revision <= o.maxSeen {
			return fmt.Errorf("%s/%s: expected a resourceVersion greater than %d for a new state, received %v", o.namespace, o.name, o.maxSeen, observed)
		}
		if !observed.present {
			observed.sequence = o.attempts
		}
		o.known, o.maxSeen, o.unknown, o.late = observed, max(o.maxSeen, observed.revision), nil, nil
		return nil
	}
	return fmt.Errorf("%s/%s: expected %v%s, received %v", o.namespace, o.name, o.known, o.alternative(), observed)
}

// alternative describes the write with an unknown result. The caller holds o.mu.
func (o *object) alternative() string {
	a := o.unknown
	if a == nil {
		a = o.late
	}
	if a == nil {
		return ""
	}
	return fmt.Sprintf(" or the result of the %s with sequence %d", a.verb, a.sequence)
}

// mustRead reports whether the object must be read before the next write.
func (o *object) mustRead() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.unknown != nil
}

// mayConflict reports whether a write that was given up may still take effect.
func (o *object) mayConflict() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.late != nil
}

// snapshot returns the known state, for compareRead.
func (o *object) snapshot() state {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.known
}

// compareRead compares a state that was read beside writes with the state that was known before the read.
func (o *object) compareRead(before, observed state) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case !observed.present && (!before.present || o.lastDelete > before.sequence):
		return nil
	case observed.present && observed.sequence >= before.sequence && observed.sequence <= o.attempts && observed.revision >= before.revision:
		return nil
	}
	o.note("read beside writes: %v, known before: %v", observed, before)
	return fmt.Errorf("%s/%s: a read that began after %v returned %v", o.namespace, o.name, before, observed)
}

// checkEvents returns an error if an event shows a write, given by its sequence number, that was neither confirmed nor had an unknown
// result. No write may be in progress.
func (o *object) checkEvents(sequences []int64) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, sequence := range sequences {
		if !o.lost[sequence] {
			return fmt.Errorf("%s/%s: an event shows the write with sequence %d, which was refused or not sent", o.namespace, o.name, sequence)
		}
	}
	clear(o.lost)
	return nil
}
