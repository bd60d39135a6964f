package pebble

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/cadastre/cadastre/internal/storage"
)

// watcher follows history.
type watcher struct {
	s      *Store
	prefix string
	// after is the revision up to which all has been looked at; told is the one that was
	// told last.
	//
	//	told <= after <= acked, but for a watch of the future
	after, told storage.Revision
	lastTold    time.Time
	// caughtUp says that there was a moment when the watcher had nothing left to look at.
	caughtUp bool
	news     chan struct{}
}

// largestBatch is how many commits are looked at for one batch.
const largestBatch = 512

// Watch tells of all that is committed after a revision to keys with a prefix.
func (s *Store) Watch(ctx context.Context, prefix string, after storage.Revision) (storage.Watcher, error) {
	if err := errors.Join(ctx.Err(), s.openError()); err != nil {
		return nil, err
	}
	if after < storage.Revision(s.compacted.Load()) {
		return nil, storage.ErrCompacted
	}
	return &watcher{s: s, prefix: prefix, after: after, told: after, lastTold: time.Now(), news: s.history.subscribe()}, nil
}

// Close ends the watch.
func (w *watcher) Close() { w.s.history.unsubscribe(w.news) }

// Next waits for something to tell.
func (w *watcher) Next(ctx context.Context) (storage.Batch, error) {
	for {
		if err := errors.Join(ctx.Err(), w.s.openError()); err != nil {
			return storage.Batch{}, err
		}
		commits, err := w.read()
		if err != nil {
			return storage.Batch{}, err
		}
		var events []storage.Event
		for _, c := range commits {
			events = w.append(events, c.events)
			w.after = c.revision
		}
		first := len(commits) == 0 && !w.caughtUp // who comes from the past wants to know when it is over
		w.caughtUp = w.caughtUp || first
		if len(events) > 0 || w.markIsDue() || first && w.after > w.told {
			w.told, w.lastTold = w.after, time.Now()
			return storage.Batch{Events: events, Revision: w.after}, nil
		}
		if len(commits) > 0 {
			continue
		}
		if err := w.wait(ctx); err != nil {
			return storage.Batch{}, err
		}
	}
}

// read returns commits that the watcher has not looked at.
func (w *watcher) read() ([]committed, error) {
	commits, inMemory := w.s.history.after(w.after, largestBatch)
	if inMemory {
		return commits, nil
	}
	return w.s.readAfter(w.after, largestBatch, w.prefix)
}

func (w *watcher) append(to, events []storage.Event) []storage.Event {
	for _, e := range events {
		if strings.HasPrefix(e.Key, w.prefix) {
			to = append(to, e)
		}
	}
	return to
}

// markIsDue reports whether it is time to tell how far the watcher has come.
func (w *watcher) markIsDue() bool {
	return w.after > w.told && time.Since(w.lastTold) >= w.s.options.ProgressInterval
}

// wait waits for news, or until a mark is due.
func (w *watcher) wait(ctx context.Context) error {
	var due <-chan time.Time
	if w.after > w.told {
		timer := time.NewTimer(w.s.options.ProgressInterval - time.Since(w.lastTold))
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-w.s.done:
		return storage.ErrClosed
	case <-w.news:
	case <-due:
	}
	return nil
}
