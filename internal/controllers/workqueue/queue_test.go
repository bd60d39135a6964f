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

// TestQueueBackoff: a task that is not done is retried with a backoff that doubles up to the maximum.
func TestQueueBackoff(t *testing.T) {
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
				t.Errorf("task was processed at %v, want %v ms", at, want)
				break
			}
		}
	})
}

// TestQueueIsSequentialPerTask: a task is never processed by two workers at the same time, and a task that is added while
// it is being processed is processed again afterwards.
func TestQueueIsSequentialPerTask(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	q := NewQueue[int](time.Millisecond, time.Millisecond)
	var busy [4]atomic.Int64
	var added, seen [4]atomic.Int64
	var adders sync.WaitGroup
	for range 4 {
		adders.Go(func() {
			for i := range 400 {
				added[i%4].Add(1)
				q.Add(i % 4)
			}
		})
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		q.Run(ctx, 8, func(_ context.Context, task int) bool {
			if busy[task].Add(1) > 1 {
				t.Errorf("task %d is processed by more than one worker at the same time, want one", task)
			}
			seen[task].Store(added[task].Load())
			busy[task].Add(-1)
			return true
		})
	}()
	adders.Wait()
	testwait.For(t, "all tasks to be processed", func() bool {
		isAll := true
		for i := range added {
			isAll = isAll && seen[i].Load() == 400
		}
		return isAll
	})
	cancel()
	<-ended
}

// TestQueueReset: after Reset, the next retry has the minimum backoff.
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
			t.Errorf("task was processed at %v, want %v ms", at, want)
		}
	})
}
