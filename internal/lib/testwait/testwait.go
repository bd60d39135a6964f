// Package testwait lets tests wait for a condition instead of for a duration.
package testwait

import (
	"testing"
	"time"
)

// Timeout is the maximum time that [For] waits: far longer than any condition takes on a busy machine.
const Timeout = 60 * time.Second

// maxPause is the maximum pause between two evaluations of a condition. Pauses double from 100 µs on.
const maxPause = 20 * time.Millisecond

// For returns as soon as the condition holds. It fails the test if the condition does not hold within [Timeout]; what
// describes the condition. It must be called from the goroutine of the test, since it calls t.Fatal.
func For(t testing.TB, what string, condition func() bool) {
	t.Helper()
	if !Within(Timeout, condition) {
		t.Fatalf("waited %v for %s", Timeout, what)
	}
}

// Within evaluates the condition until it holds, for at most the given time. It reports whether the condition held.
func Within(limit time.Duration, condition func() bool) bool {
	deadline := time.Now().Add(limit)
	for pause := 100 * time.Microsecond; ; pause = min(2*pause, maxPause) {
		if condition() {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
		time.Sleep(pause)
	}
}
