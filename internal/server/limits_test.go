package server

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestDeadlines: writes of one moment share a context, which lasts as long as any of them may take.
func TestDeadlines(t *testing.T) {
	const limit = 64 * time.Millisecond // a moment is a millisecond
	var d deadlines
	now := time.Now()
	first := d.within(limit, now)
	if again := d.within(limit, now.Add(limit/moments-1)); again != first {
		t.Error("a write of the same moment has a context of its own")
	}
	later := now.Add(limit / moments)
	second := d.within(limit, later)
	if second == first {
		t.Error("a write of the next moment has no context of its own")
	}
	if until, _ := second.Deadline(); until.Before(later.Add(limit)) {
		t.Errorf("the context ends %v after the write began, which may take %v", until.Sub(later), limit)
	}
	<-first.Done()
	if !errors.Is(first.Err(), context.DeadlineExceeded) {
		t.Errorf("received %v", first.Err())
	}
	if took := time.Since(now); took < limit {
		t.Errorf("the context ended after %v, expected at least %v", took, limit)
	}
}
