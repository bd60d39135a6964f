package server

import (
	"testing"
	"time"
)

// TestProgress checks that a timer that fires sets the deadline only if the operation in progress has reached its timeout: not
// without an operation, and not during a later operation that has time left.
func TestProgress(t *testing.T) {
	deadlines := 0
	p := &progress{limit: time.Hour, setDeadline: func(time.Time) error { deadlines++; return nil }}
	p.start()
	p.expire() // simulates a late timer of an earlier operation
	_ = p.stop(nil)
	p.expire()
	if deadlines != 0 {
		t.Errorf("expire() set %d deadlines although no operation has reached its timeout, want none", deadlines)
	}
	p.start()
	p.end = time.Now()
	p.expire()
	if deadlines != 1 {
		t.Errorf("expire() set %d deadlines for an operation that has reached its timeout, want one", deadlines)
	}
	_ = p.stop(nil)
}

// TestStalls checks that stalled operations that occupy too much memory abort one of the user with the most of them.
func TestStalls(t *testing.T) {
	s := &stalls{limit: 3 * minStallBytes}
	aborted := map[string]int{}
	newStalled := func(user string) *progress {
		return &progress{user: user, isStalled: true, end: time.Now().Add(time.Hour), stalls: s,
			setDeadline: func(time.Time) error { aborted[user]++; return nil }}
	}
	all := []*progress{newStalled("a"), newStalled("b"), newStalled("b")}
	for _, p := range all {
		s.add(p)
	}
	if len(aborted) > 0 {
		t.Errorf("aborted operations = %v, want none below the limit", aborted)
	}
	s.remove(all[0])
	s.remove(all[0])
	s.add(newStalled("a"))
	s.add(newStalled("b"))
	if aborted["a"] != 0 || aborted["b"] != 1 {
		t.Errorf("aborted operations = %v, want one of b", aborted)
	}
	large := newStalled("c")
	large.bytes = 3 * minStallBytes
	s.add(large)
	if aborted["c"] != 1 || s.total != 3*minStallBytes {
		t.Errorf("aborted operations = %v with %d bytes remaining, want the large one", aborted, s.total)
	}
	ended := newStalled("d")
	ended.isStalled = false
	s.add(ended)
	if s.byUser["d"] != nil {
		t.Error("an operation that has ended is counted")
	}
}
