package workqueue

import (
	"context"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// Queue has tasks that are to be done. What is added while it waits is done once; what is added while it
// is being done is done again after that.
type Queue[Task comparable] struct {
	waiting workqueue.TypedRateLimitingInterface[Task]
}

// NewQueue returns a queue. A task that could not be done is done again after the first wait, and then
// after one twice as long each time, up to the last.
func NewQueue[Task comparable](first, last time.Duration) *Queue[Task] {
	return &Queue[Task]{workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[Task](first, last))}
}

// Add has a task done as soon as a worker is free.
func (q *Queue[Task]) Add(task Task) { q.waiting.Add(task) }

// Reset makes the next retry of a task wait for the first delay again.
func (q *Queue[Task]) Reset(task Task) { q.waiting.Forget(task) }

// Run has so many workers do tasks until the context ends; then the queue is of no more use. do reports whether a task is done, for now: if
// not, it is asked again.
func (q *Queue[Task]) Run(ctx context.Context, workers int, do func(context.Context, Task) (isDone bool)) {
	defer context.AfterFunc(ctx, q.waiting.ShutDown)()
	var running sync.WaitGroup
	defer running.Wait()
	for range workers {
		running.Go(func() {
			for q.doNext(ctx, do) {
			}
		})
	}
}

// doNext does the next task. It reports whether there may be more.
func (q *Queue[Task]) doNext(ctx context.Context, do func(context.Context, Task) bool) bool {
	task, isOver := q.waiting.Get()
	if isOver || ctx.Err() != nil {
		return false
	}
	defer q.waiting.Done(task)
	if do(ctx, task) {
		q.waiting.Forget(task)
	} else {
		q.waiting.AddRateLimited(task)
	}
	return true
}
