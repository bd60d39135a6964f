// Package testwait lets tests poll for a condition instead of sleeping for a fixed duration.
package testwait

import (
	"testing"
	"time"
)

// Timeout is the maximum time that [For] waits. It is far longer than a condition should take, even on a busy machine.
const Timeout = 60 * time.Second

// maxPause is the maximum pause between two evaluations of a condition. The first pause is 100 µs, and each further
// pause is twice as long as the previous one.
const maxPause = 20 * time.Millisecond

// For returns as soon as the condition is true. It fails the test if the condition is not true within [Timeout]; what
// describes the condition in the failure message. It must be called from the goroutine of the test, because it calls
// t.Fatal.
func For(t testing.TB, what string, condition func() bool) {
	t.Helper()
	if !Within(Timeout, condition) {
		t.Fatalf("timeout after %v: waiting for %s", Timeout, what)
	}
}

// Within evaluates the condition repeatedly until it is true or limit has passed. It reports whether the condition was
// true.
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
