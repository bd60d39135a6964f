package eventttl

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cadastre/cadastre/internal/registry"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// Kind is the name of the resource events in the watch cache, in the form GROUP/RESOURCE.
const Kind = "core/events"

const (
	// parallelDeletes is the maximum number of events that are deleted concurrently. Concurrent deletions share the
	// store's group commits.
	parallelDeletes = 32
	// maxBatch is the maximum number of due events that are removed from the heap at a time.
	maxBatch = 1024
	// retryDelay is the delay before a failed deletion is retried.
	retryDelay = 10 * time.Second
)

// Expirer is the controller that deletes expired events.
type Expirer struct {
	Objects *registry.Registry
	// TTL is the lifetime of an event after its last write.
	TTL time.Duration
	Log *slog.Logger

	mu   sync.Mutex
	next deadlines // guarded by mu
	// wake receives a signal when a new deadline is earlier than all other deadlines. Run creates the channel if it is nil;
	// tests set it.
	wake chan struct{}
}

// Run deletes expired events until the context ends.
func (x *Expirer) Run(ctx context.Context) {
	if x.wake == nil {
		x.wake = make(chan struct{}, 1)
	}
	defer x.Objects.Cache.Observe(x)()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-x.wake:
		case <-timer.C:
		}
		for keys := x.takeDue(); len(keys) > 0 && ctx.Err() == nil; keys = x.takeDue() {
			x.expireAll(ctx, keys)
		}
		timer.Reset(x.wait())
	}
}

// Reset implements watchcache.Observer: it discards all deadlines. The watch cache then reports all objects as new.
func (x *Expirer) Reset() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.next = nil
}

// Changed implements watchcache.Observer: it adds a deadline for each created event. Updates are ignored: expire computes the
// new deadline when the old deadline is due.
func (x *Expirer) Changed(before, after *watchcache.Object) {
	if before == nil && after.Kind() == Kind {
		x.add(after.Key(), x.deadline(after))
	}
}

// deadline returns the time at which an event expires. If the time of the event's last write is unknown or in the future,
// the TTL starts now.
func (x *Expirer) deadline(event *watchcache.Object) time.Time {
	written := writtenAt(event)
	if now := x.Objects.Now(); written.IsZero() || written.After(now) {
		written = now
	}
	return written.Add(x.TTL)
}

// add adds a deadline for the event with the key, one second after expiry, and wakes Run if no deadline is earlier.
func (x *Expirer) add(key string, expiry time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	d := deadline{at: expiry.Unix() + 1, key: key} // + 1 because the timestamps of an event are truncated to seconds
	if len(x.next) == 0 || d.at < x.next[0].at {
		select {
		case x.wake <- struct{}{}:
		default:
		}
	}
	heap.Push(&x.next, d)
}

// takeDue removes at most maxBatch due deadlines from the heap and returns the keys of their events.
func (x *Expirer) takeDue() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.next.takeDue(x.Objects.Now().Unix(), maxBatch)
}

// wait returns the duration until the next deadline, at least 1 ms; if there is no deadline, the TTL plus one second.
func (x *Expirer) wait() time.Duration {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.next) == 0 {
		return x.TTL + time.Second
	}
	return max(time.Unix(x.next[0].at, 0).Sub(x.Objects.Now()), time.Millisecond)
}

// expireAll deletes the expired events among keys concurrently. It logs failures and adds a deadline for their retry.
func (x *Expirer) expireAll(ctx context.Context, keys []string) {
	var group errgroup.Group
	group.SetLimit(parallelDeletes)
	for _, key := range keys {
		group.Go(func() error {
			if err := x.expire(ctx, key); err != nil && ctx.Err() == nil && !errors.Is(err, watchcache.ErrClosed) {
				x.Log.Warn("cannot delete an expired event; retrying", "key", key, "error", err)
				x.add(key, x.Objects.Now().Add(retryDelay))
			}
			return nil
		})
	}
	_ = group.Wait() // failures are logged and retried
}

// expire deletes an event whose deadline is due. If the event was updated after the deadline was set, it adds the new deadline
// instead. The deletion is conditional on the event's resourceVersion. If the event no longer exists, expire returns nil.
func (x *Expirer) expire(ctx context.Context, eventKey string) error {
	key, err := watchcache.ParseKey(eventKey)
	if err != nil {
		return err
	}
	event, err := x.Objects.Cache.Get(ctx, key, watchcache.Any)
	if errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if at := x.deadline(event); at.Unix()+1 > x.Objects.Now().Unix() {
		x.add(eventKey, at)
		return nil
	}
	kind, _ := x.Objects.Kinds.Resource("", "v1", "events")
	endpoint, err := x.Objects.Endpoint(kind, "v1", "")
	if err != nil {
		return err
	}
	_, err = x.Objects.Delete(ctx, &registry.Deletion{
		Endpoint: endpoint, Namespace: key.Namespace, Name: key.Name, ResourceVersion: new(fmt.Sprint(event.Revision())),
	})
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case apierrors.IsConflict(err):
		x.add(eventKey, x.Objects.Now()) // the event was updated concurrently: expire is called again in one second and computes the new deadline
		return nil
	}
	return err
}
