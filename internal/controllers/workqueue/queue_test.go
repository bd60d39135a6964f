package workqueue

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cadastre/cadastre/internal/lib/testwait"
)

// TestQueueAgain: what is not done is done again, after waits that grow up to the last.
func TestQueueAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		q := NewQueue[string](10*time.Millisecond, 40*time.Millisecond)
		start := time.Now()
		var at []time.Duration
		q.Add("a")
		q.Run(ctx, 1, func(context.Context, string) bool {
			at = append(at, time.Since(start).Round(time.Millisecond))
			if len(at) == 5 {
				cancel()
			}
			return len(at) == 5
		})
		want := []time.Duration{0, 10, 30, 70, 110}
		for i := range want {
			if at[i] != want[i]*time.Millisecond {
				t.Errorf("received %v, want %v ms", at, want)
				break
			}
		}
	})
}

// TestQueueOneAtATime: a task is never done twice at once, and what is added while it is being done is not
// lost.
func TestQueueOneAtATime(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	q := NewQueue[int](time.Millisecond, time.Millisecond)
	var busy [4]atomic.Int64
	var wanted, seen [4]atomic.Int64
	var adders sync.WaitGroup
	for range 4 {
		adders.Go(func() {
			for i := range 400 {
				wanted[i%4].Add(1)
				q.Add(i % 4)
			}
		})
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		q.Run(ctx, 8, func(_ context.Context, task int) bool {
			if busy[task].Add(1) > 1 {
				t.Error("a task is done by two")
			}
			seen[task].Store(wanted[task].Load())
			busy[task].Add(-1)
			return true
		})
	}()
	adders.Wait()
	testwait.For(t, "all tasks to be done", func() bool {
		isAll := true
		for i := range wanted {
			isAll = isAll && seen[i].Load() == 400
		}
		return isAll
	})
	cancel()
	<-ended
}

// TestQueueReset: after Reset, a retry waits for the first delay again.
func TestQueueReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		q := NewQueue[string](10*time.Millisecond, 40*time.Millisecond)
		start := time.Now()
		var at []time.Duration
		q.Add("a")
		q.Run(ctx, 1, func(context.Context, string) bool {
			at = append(at, time.Since(start).Round(time.Millisecond)/time.Millisecond)
			if len(at) == 3 {
				q.Reset("a")
			}
			if len(at) == 5 {
				cancel()
			}
			return len(at) == 5
		})
		if want := []time.Duration{0, 10, 30, 40, 60}; !slices.Equal(at, want) {
			t.Errorf("received %v, want %v ms", at, want)
		}
	})
}
