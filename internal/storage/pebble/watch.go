package pebble

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/cadastre/cadastre/internal/storage"
)

// watcher implements storage.Watcher. It is a position in the history of the store.
type watcher struct {
	s      *Store
	prefix string
	// after is the revision up to which the watcher has read the history; reported is the revision of the last batch that it
	// returned.
	//
	//	reported <= after <= acked, unless the watch starts in the future
	after, reported storage.Revision
	lastReport      time.Time
	// caughtUp is set when the watcher has reached the end of the history for the first time.
	caughtUp bool
	wakeup   chan struct{}
}

// maxBatchCommits is the maximum number of commits whose events are in one batch.
const maxBatchCommits = 512

// Watch implements storage.Store.
func (s *Store) Watch(ctx context.Context, prefix string, after storage.Revision) (storage.Watcher, error) {
	if err := errors.Join(ctx.Err(), s.closedError()); err != nil {
		return nil, err
	}
	if after < storage.Revision(s.compacted.Load()) {
		return nil, storage.ErrCompacted
	}
	return &watcher{s: s, prefix: prefix, after: after, reported: after, lastReport: time.Now(), wakeup: s.history.subscribe()}, nil
}

// Close implements storage.Watcher.
func (w *watcher) Close() { w.s.history.unsubscribe(w.wakeup) }

// Next implements storage.Watcher.
func (w *watcher) Next(ctx context.Context) (storage.Batch, error) {
	for {
		if err := errors.Join(ctx.Err(), w.s.closedError()); err != nil {
			return storage.Batch{}, err
		}
		commits, err := w.read()
		if err != nil {
			return storage.Batch{}, err
		}
		var events []storage.Event
		for _, c := range commits {
			events = w.appendMatching(events, c.events)
			w.after = c.revision
		}
		// When a watcher first reaches the end of the history, it reports progress without waiting for the progress interval.
		first := len(commits) == 0 && !w.caughtUp
		w.caughtUp = w.caughtUp || first
		if len(events) > 0 || w.progressIsDue() || first && w.after > w.reported {
			w.reported, w.lastReport = w.after, time.Now()
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

// read returns the next commits after w.after, from memory or from disk; it returns none if w.after is the last revision.
func (w *watcher) read() ([]pastCommit, error) {
	commits, inMemory := w.s.history.after(w.after, maxBatchCommits)
	if inMemory {
		return commits, nil
	}
	return w.s.readAfter(w.after, maxBatchCommits, w.prefix)
}

func (w *watcher) appendMatching(dst, events []storage.Event) []storage.Event {
	for _, e := range events {
		if strings.HasPrefix(e.Key, w.prefix) {
			dst = append(dst, e)
		}
	}
	return dst
}

// progressIsDue reports whether ProgressInterval has passed since the last batch and there is progress to report.
func (w *watcher) progressIsDue() bool {
	return w.after > w.reported && time.Since(w.lastReport) >= w.s.options.ProgressInterval
}

// wait blocks until there is a new commit or progress is due. It returns an error if the context ends or the store is closed.
func (w *watcher) wait(ctx context.Context) error {
	var due <-chan time.Time
	if w.after > w.reported {
		timer := time.NewTimer(w.s.options.ProgressInterval - time.Since(w.lastReport))
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-w.s.done:
		return storage.ErrClosed
	case <-w.wakeup:
	case <-due:
	}
	return nil
}
