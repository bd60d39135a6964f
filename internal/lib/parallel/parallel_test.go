package parallel

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestEach(t *testing.T) {
	for _, test := range []struct{ n, limit int }{{0, 3}, {1, 3}, {3, 3}, {100, 3}} {
		synctest.Test(t, func(t *testing.T) {
			var active, peak atomic.Int64
			calls := make([]atomic.Int64, test.n)
			Each(test.n, test.limit, func(i int) {
				peak.Store(max(peak.Load(), active.Add(1)))
				defer active.Add(-1)
				time.Sleep(time.Second) // synctest's fake clock advances only when all workers are in a call
				calls[i].Add(1)
			})
			for i := range calls {
				if got := calls[i].Load(); got != 1 {
					t.Errorf("Each(%d, %d): call(%d) was called %d times, want once", test.n, test.limit, i, got)
				}
			}
			if got, want := int(peak.Load()), min(test.n, test.limit); got != want {
				t.Errorf("Each(%d, %d) made %d calls at a time, want %d", test.n, test.limit, got, want)
			}
		})
	}
}

// TestEachPanics: a panic of a call is raised in the goroutine that called Each, with the stack of the call, after the
// active calls have returned.
func TestEachPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failure := errors.New("out of range")
		var returned atomic.Int64
		defer func() {
			p, ok := recover().(*Panic)
			if !ok || !errors.Is(p, failure) || p.Error() != failure.Error() || !strings.Contains(string(p.Stack), "panickingCall") {
				t.Errorf("Each() panicked with %v, want %v and the stack of the call", p, failure)
			}
			if got := returned.Load(); got != 2 {
				t.Errorf("%d calls returned before Each panicked, want the 2 active ones", got)
			}
		}()
		Each(1000, 3, func(i int) {
			if i == 1 {
				time.Sleep(time.Millisecond) // synctest's fake clock advances only when all workers are in a call
				panickingCall(failure)
			}
			time.Sleep(time.Second) // longer than the call that panics
			returned.Add(1)
		})
		t.Error("Each() returned, want a panic")
	})
}

func panickingCall(err error) { panic(err) }
