package storebench

import (
	"context"
	"fmt"
	"time"
)

// keysPerWriter is how many keys a writer has. Nobody else writes them: no commit loses.
const keysPerWriter = 16

type writer struct {
	keys      [keysPerWriter]string
	revisions [keysPerWriter]int64
	commits   int
	values    valueSource
	// latencies are those of the commits that ended within the window.
	latencies []time.Duration
}

func newWriter(number int) *writer {
	w := &writer{values: newValueSource(uint64(number))}
	for i := range w.keys {
		w.keys[i] = fmt.Sprintf("apps/deployments/writer-%d/item-%d", number, i)
	}
	return w
}

// work creates the keys, and updates them until the window is over.
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
	for range w.keys {
		if err := w.commit(ctx, r.target); err != nil {
			return err
		}
	}
	return nil
}

// commit writes the key whose turn it is. Revisions start at 0, which creates.
func (w *writer) commit(ctx context.Context, target Target) error {
	i := w.commits % keysPerWriter
	revision, err := target.Commit(ctx, w.keys[i], w.revisions[i], w.values.next())
	if err != nil {
		return fmt.Errorf("commit %d of %s: %w", w.commits, w.keys[i], err)
	}
	w.revisions[i] = revision
	w.commits++
	return nil
}
