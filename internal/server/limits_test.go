package server

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestIOTimeout: the deadline is set only if the operation in progress has taken too long, not between operations, and not for
// the next one.
func TestIOTimeout(t *testing.T) {
	deadlines := 0
	timeout := newIOTimeout(time.Hour, func(time.Time) error { deadlines++; return nil })
	timeout.start()
	timeout.expire() // too early: the timer was started for the operation before
	timeout.stop()
	timeout.expire()
	if deadlines != 0 {
		t.Errorf("expire() set %d deadlines without an operation that is late, want none", deadlines)
	}
	timeout.start()
	timeout.end = time.Now()
	timeout.expire()
	if deadlines != 1 {
		t.Errorf("expire() set %d deadlines for a late operation, want one", deadlines)
	}
	timeout.stop()
}

// TestWriteDeadlines: writes that start at about the same time share a context, which lasts at least the timeout of each.
func TestWriteDeadlines(t *testing.T) {
	const timeout = 64 * time.Millisecond // a step is a millisecond
	var d writeDeadlines
	now := time.Now()
	first := d.context(timeout, now)
	if again := d.context(timeout, now.Add(timeout/deadlineSteps-1)); again != first {
		t.Error("context() within a step returned another context")
	}
	later := now.Add(timeout / deadlineSteps)
	second := d.context(timeout, later)
	if second == first {
		t.Error("context() in the next step returned the same context")
	}
	if end, _ := second.Deadline(); end.Before(later.Add(timeout)) {
		t.Errorf("the context ends after %v, want at least %v", end.Sub(later), timeout)
	}
	<-first.Done()
	if !errors.Is(first.Err(), context.DeadlineExceeded) {
		t.Errorf("Err() = %v, want %v", first.Err(), context.DeadlineExceeded)
	}
	if took := time.Since(now); took < timeout {
		t.Errorf("the context ended after %v, want at least %v", took, timeout)
	}
}
