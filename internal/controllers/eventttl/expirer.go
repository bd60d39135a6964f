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

// Kind is what the kind of events is called in keys.
const Kind = "core/events"

const (
	// atOnce is how many events are deleted at once, so that they share the wait for the disk; most is how
	// many are taken at a time.
	atOnce = 32
	most   = 1024
	// retryWait is how long an event waits that could not be deleted.
	retryWait = 10 * time.Second
)

// Expirer deletes events.
type Expirer struct {
	Objects *registry.Registry
	// Life is how long an event lives after it was written.
	Life time.Duration
	Log  *slog.Logger

	mu   sync.Mutex
	next deadlines
	// earlier receives a signal when an event is due before all others. Run makes it, unless it is set.
	earlier chan struct{}
}

// Run deletes events until the context ends.
func (x *Expirer) Run(ctx context.Context) {
	if x.earlier == nil {
		x.earlier = make(chan struct{}, 1)
	}
	defer x.Objects.Cache.Observe(x)()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-x.earlier:
		case <-timer.C:
		}
		for keys := x.due(); len(keys) > 0 && ctx.Err() == nil; keys = x.due() {
			x.expireAll(ctx, keys)
		}
		timer.Reset(x.wait())
	}
}

// Reset forgets all: what there is is told anew.
func (x *Expirer) Reset() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.next = nil
}

// Changed notes events that are new.
func (x *Expirer) Changed(before, after *watchcache.Object) {
	if before == nil && after.Kind() == Kind {
		x.add(after.Key(), x.deadline(after))
	}
}

// deadline is when an event is to be deleted. One that does not say when it was written has all its life before it.
func (x *Expirer) deadline(event *watchcache.Object) time.Time {
	written := writtenAt(event)
	if now := x.Objects.Now(); written.IsZero() || written.After(now) {
		written = now
	}
	return written.Add(x.Life)
}

func (x *Expirer) add(key string, at time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	d := deadline{at: at.Unix() + 1, key: key} // times are without the part of a second
	if len(x.next) == 0 || d.at < x.next[0].at {
		select {
		case x.earlier <- struct{}{}:
		default:
		}
	}
	heap.Push(&x.next, d)
}

func (x *Expirer) due() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.next.due(x.Objects.Now().Unix(), most)
}

// wait is how long nothing is due.
func (x *Expirer) wait() time.Duration {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.next) == 0 {
		return x.Life + time.Second
	}
	return max(time.Unix(x.next[0].at, 0).Sub(x.Objects.Now()), time.Millisecond)
}

func (x *Expirer) expireAll(ctx context.Context, keys []string) {
	var group errgroup.Group
	group.SetLimit(atOnce)
	for _, key := range keys {
		group.Go(func() error {
			if err := x.expire(ctx, key); err != nil && ctx.Err() == nil && !errors.Is(err, watchcache.ErrClosed) {
				x.Log.Warn("cannot delete an event that is over", "key", key, "error", err)
				x.add(key, x.Objects.Now().Add(retryWait))
			}
			return nil
		})
	}
	_ = group.Wait() // each has told what went wrong
}

// expire deletes an event, unless it has been written since.
func (x *Expirer) expire(ctx context.Context, text string) error {
	key, err := watchcache.ParseKey(text)
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
		x.add(text, at)
		return nil
	}
	kind, _ := x.Objects.Kinds.Resource("", "v1", "events")
	endpoint, err := x.Objects.Endpoint(kind, "v1", "")
	if err != nil {
		return err
	}
	_, err = x.Objects.Delete(ctx, &registry.Deletion{
		Endpoint: endpoint, Namespace: key.Namespace, Name: key.Name, ResourceVersion: fmt.Sprint(event.Revision()),
	})
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case apierrors.IsConflict(err):
		x.add(text, x.Objects.Now()) // it was written just now
		return nil
	}
	return err
}
