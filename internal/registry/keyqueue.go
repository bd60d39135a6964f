package registry

import (
	"context"
	"slices"
	"sync"
	"time"
)

// keyQueues lets writers of one object commit one after another once they conflict. Without a queue, of n writers that read the
// same revision one commits, and the others repeat all stages, so that the throughput of an object falls with the number of its
// writers. Objects without conflicts have no queue. Conflicts are still detected by the revision: a queue only makes them
// rarer. It is safe for concurrent use.
//
//	a key is in queues exactly while a writer is in its queue
type keyQueues struct {
	mu     sync.Mutex
	queues map[string]*keyQueue
}

// keyQueue is the queue of one key. The writer at the head is writing; a channel in waiting is closed when its writer becomes
// the head.
type keyQueue struct {
	waiting []chan struct{}
}

// maxQueueTime is the maximum time that a writer waits in a queue. It resolves deadlocks: the writer at the head may wait for
// a webhook that itself waits for the response to a queued write.
const maxQueueTime = 2 * time.Second

// enter waits until the writer is at the head of the queue of key, and returns the function that the writer calls when it has
// finished. If there is no queue, enter creates it if create is set, and otherwise returns nil. It also returns nil if the wait
// takes longer than limit or the context ends; the writer can then write without the queue.
func (k *keyQueues) enter(ctx context.Context, key string, create bool, limit time.Duration) (leave func()) {
	k.mu.Lock()
	q := k.queues[key]
	if q == nil {
		defer k.mu.Unlock()
		if !create {
			return nil
		}
		if k.queues == nil {
			k.queues = map[string]*keyQueue{}
		}
		k.queues[key] = &keyQueue{}
		return func() { k.leave(key) }
	}
	turn := make(chan struct{})
	q.waiting = append(q.waiting, turn)
	k.mu.Unlock()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-turn:
		return func() { k.leave(key) }
	case <-timer.C:
	case <-ctx.Done():
	}
	return k.abandon(key, q, turn)
}

// abandon removes a waiting writer from its queue. If the writer has become the head meanwhile, abandon returns the function
// leave.
func (k *keyQueues) abandon(key string, q *keyQueue, turn chan struct{}) (leave func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	i := slices.Index(q.waiting, turn)
	if i < 0 {
		return func() { k.leave(key) }
	}
	q.waiting = slices.Delete(q.waiting, i, i+1)
	return nil
}

// leave makes the next writer of a key the head, or removes the queue if no writer is waiting.
func (k *keyQueues) leave(key string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	q := k.queues[key]
	if len(q.waiting) == 0 {
		delete(k.queues, key)
		return
	}
	close(q.waiting[0])
	q.waiting = slices.Delete(q.waiting, 0, 1)
}
