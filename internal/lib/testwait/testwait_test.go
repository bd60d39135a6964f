package testwait

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestWithin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		holds := func() bool { return time.Since(start) >= time.Second }
		if !Within(Timeout, holds) || time.Since(start) > time.Second+maxPause {
			t.Errorf("Within() of a condition that becomes true after 1s returned after %v, want true after about 1s", time.Since(start))
		}
		start = time.Now()
		if Within(time.Second, func() bool { return false }) || time.Since(start) > time.Second+2*maxPause {
			t.Errorf("Within(1s) with a condition that is never true returned after %v, want false after about a second", time.Since(start))
		}
		if !Within(0, func() bool { return true }) {
			t.Error("Within(0) with a condition that is true = false, want true")
		}
	})
}
