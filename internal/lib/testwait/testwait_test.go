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
		if !Within(Timeout, holds) || time.Since(start) > time.Second+longestPause {
			t.Errorf("expected to return about a second after the start, returned after %v", time.Since(start))
		}
		start = time.Now()
		if Within(time.Second, func() bool { return false }) || time.Since(start) > time.Second+2*longestPause {
			t.Errorf("expected to give up after about a second, did after %v", time.Since(start))
		}
		if !Within(0, func() bool { return true }) {
			t.Error("a condition that holds was not evaluated")
		}
	})
}
