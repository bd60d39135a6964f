package server

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestWriteDeadlines checks that writes that start at about the same time share a context, and that the context of a write does
// not end before the timeout of that write.
func TestWriteDeadlines(t *testing.T) {
	const timeout = 64 * time.Millisecond // writes within a step of timeout/deadlineSteps = 1ms share a context
	var d writeDeadlines
	now := time.Now()
	first := d.context(timeout, now)
	if again := d.context(timeout, now.Add(timeout/deadlineSteps-1)); again != first {
		t.Error("context() returned different contexts for two writes in one step, want one context")
	}
	later := now.Add(timeout / deadlineSteps)
	second := d.context(timeout, later)
	if second == first {
		t.Error("context() returned one context for writes in two steps, want two contexts")
	}
	if end, _ := second.Deadline(); end.Before(later.Add(timeout)) {
		t.Errorf("deadline of the second context: %v after its start, want at least %v", end.Sub(later), timeout)
	}
	<-first.Done()
	if !errors.Is(first.Err(), context.DeadlineExceeded) {
		t.Errorf("Err() of the first context = %v, want %v", first.Err(), context.DeadlineExceeded)
	}
	if took := time.Since(now); took < timeout {
		t.Errorf("the first context ended after %v, want at least %v", took, timeout)
	}
}
