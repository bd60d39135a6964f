package storebench

import (
	"context"
	"fmt"
	"time"
)

// keysPerWriter is the number of keys of each writer. Writers do not share keys, so that no commit conflicts.
const keysPerWriter = 16

// writtenApp is the value of the label app of all written objects. Watchers with label selectors select other values.
const writtenApp = "written"

type writer struct {
	namespace string
	names     [keysPerWriter]string
	revisions [keysPerWriter]int64
	commits   int
	objects   objectSource
	// latencies are the latencies of commits that ended within the window.
	latencies []time.Duration
}

func newWriter(number int) *writer {
	w := &writer{namespace: fmt.Sprintf("writer-%d", number), objects: newObjectSource(uint64(number), ValueSize)}
	for i := range w.names {
		w.names[i] = fmt.Sprintf("item-%d", i)
	}
	return w
}

// work creates the keys of the writer, and updates them until the end of the window.
func (w *writer) work(ctx context.Context, r *run) error {
	if err := w.create(ctx, r); err != nil {
		return err
	}
	<-r.begin
	start := time.Now()
	for start.Before(r.to) && ctx.Err() == nil {
		if err := w.commit(ctx, r.target); err != nil {
			return err
		}
		end := time.Now()
		if !end.Before(r.from) && end.Before(r.to) {
			w.latencies = append(w.latencies, end.Sub(start))
		}
		start = end
	}
	return nil
}

func (w *writer) create(ctx context.Context, r *run) error {
	defer r.created.Done()
	for range w.names {
		if err := w.commit(ctx, r.target); err != nil {
			return err
		}
	}
	return nil
}

// commit writes the next key of the writer. The expected revision of a new key is 0.
func (w *writer) commit(ctx context.Context, target Target) error {
	i := w.commits % keysPerWriter
	key := kind + "/" + w.namespace + "/" + w.names[i]
	revision, err := target.Commit(ctx, key, w.revisions[i], w.objects.next(w.namespace, w.names[i], writtenApp))
	if err != nil {
		return fmt.Errorf("commit %d of %s: %w", w.commits, key, err)
	}
	w.revisions[i] = revision
	w.commits++
	return nil
}
