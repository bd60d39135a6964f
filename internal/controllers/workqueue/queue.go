package workqueue

import (
	"context"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// Queue is a workqueue. A task that is added several times before it is processed is processed once; a task that is
// added while it is being processed is processed again afterwards.
type Queue[Task comparable] struct {
	queue workqueue.TypedRateLimitingInterface[Task]
}

// NewQueue returns an empty queue. A failed task is retried after minBackoff; the backoff doubles with each further failure
// of the task, up to maxBackoff.
func NewQueue[Task comparable](minBackoff, maxBackoff time.Duration) *Queue[Task] {
	return &Queue[Task]{workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[Task](minBackoff, maxBackoff))}
}

// Add enqueues a task, unless it is in the queue already.
func (q *Queue[Task]) Add(task Task) { q.queue.Add(task) }

// Reset resets the backoff of a task to its minimum.
func (q *Queue[Task]) Reset(task Task) { q.queue.Forget(task) }

// Run processes tasks with the number of workers until the context ends; the queue cannot be used afterwards. The function
// process reports whether a task is done; a task that is not done is retried with backoff.
func (q *Queue[Task]) Run(ctx context.Context, workers int, process func(context.Context, Task) (isDone bool)) {
	defer context.AfterFunc(ctx, q.queue.ShutDown)()
	var running sync.WaitGroup
	defer running.Wait()
	for range workers {
		running.Go(func() {
			for q.processNext(ctx, process) {
			}
		})
	}
}

// processNext waits for the next task and processes it. It returns false when the queue is shut down or the context has
// ended.
func (q *Queue[Task]) processNext(ctx context.Context, process func(context.Context, Task) bool) bool {
	task, isOver := q.queue.Get()
	if isOver || ctx.Err() != nil {
		return false
	}
	defer q.queue.Done(task)
	if process(ctx, task) {
		q.queue.Forget(task)
	} else {
		q.queue.AddRateLimited(task)
	}
	return true
}
