package pebble

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/cadastre/cadastre/internal/storage"
)

// Compact forgets the history up to a revision.
func (s *Store) Compact(ctx context.Context, revision storage.Revision) error {
	if err := errors.Join(ctx.Err(), s.openError(), s.failure.reason()); err != nil {
		return err
	}
	if revision > storage.Revision(s.acked.Load()) {
		return storage.ErrFuture
	}
	s.trimming.Lock()
	defer s.trimming.Unlock()
	for storage.Revision(s.compacted.Load()) < revision {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.forget(pebble.Sync, func(e logEntry) bool { return e.revision <= revision }); err != nil {
			return err
		}
	}
	return nil
}

// trimNowAndThen forgets history that is too old or too much.
func (s *Store) trimNowAndThen() {
	defer s.running.Done()
	interval := 10 * time.Second
	if s.options.HistoryAge > 0 {
		interval = min(interval, max(s.options.HistoryAge/10, 10*time.Millisecond))
	}
	if err := s.measure(); err != nil {
		s.options.Log.Warn("the size of the history is not known; it may become larger than it should", "error", err)
	}
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-s.done:
			return
		case <-ticker.C:
		}
		if err := s.trim(); err != nil && s.openError() == nil && s.failure.reason() == nil {
			s.options.Log.Warn("history could not be forgotten; it will be tried again", "error", err)
		}
	}
}

// measure finds out how large the history is that was there when the store was opened, and
// whether it is whole.
func (s *Store) measure() error {
	s.trimming.Lock()
	defer s.trimming.Unlock()
	last := storage.Revision(0)
	err := eachLogEntry(s.db, 0, s.openedAt, func(entry logEntry) (more bool, err error) {
		if last > 0 && entry.revision != last+1 {
			s.fail(fmt.Errorf("%s: history goes from revision %d to %d; what was between is lost, restore the folder from a backup",
				s.manifest, last, entry.revision))
		}
		last = entry.revision
		s.historyBytes.Add(entry.size())
		return s.openError() == nil, nil
	})
	s.measured = err == nil
	return err
}

// trim forgets what is over the limits, bit by bit.
func (s *Store) trim() error {
	s.trimming.Lock()
	defer s.trimming.Unlock()
	for s.openError() == nil && s.failure.reason() == nil {
		before := s.compacted.Load()
		excess := s.historyBytes.Load() - s.options.HistoryBytes
		oldest := time.Now().Add(-s.options.HistoryAge)
		tooMuch := func(e logEntry) bool {
			isOld := s.options.HistoryAge > 0 && e.when.Before(oldest)
			isMuch := s.options.HistoryBytes > 0 && excess > 0
			excess -= e.size()
			return isOld || isMuch
		}
		if err := s.forget(pebble.NoSync, tooMuch); err != nil {
			return err
		}
		if s.compacted.Load() == before {
			return nil
		}
	}
	return nil
}

// mostForgotten is how many commits are forgotten in one step, so that no writer waits long
// for it.
const mostForgotten = 256

// forget forgets the oldest commits as long as they are meant, a number of them at most. What
// they replaced goes, and the marks of what they deleted. Without a sync they may be back
// after a crash.
func (s *Store) forget(sync *pebble.WriteOptions, meant func(logEntry) bool) error {
	batch := s.db.NewBatch()
	defer batch.Close()
	var last storage.Revision
	count, bytes := 0, int64(0)
	err := eachLogEntry(s.db, 0, storage.Revision(s.acked.Load()), func(entry logEntry) (more bool, err error) {
		if !meant(entry) {
			return false, nil
		}
		last = entry.revision
		if s.measured || entry.revision > s.openedAt {
			bytes += entry.size()
		}
		count++
		return count < mostForgotten, forgetEntry(batch, entry)
	})
	if err != nil || last == 0 {
		return err
	}
	// From now on nobody looks at what is about to go.
	s.compacted.Store(int64(last))
	err = errors.Join(
		batch.DeleteRange([]byte{logSpace}, appendLogKey(nil, last+1), nil),
		batch.Set(compactedRecord, strconv.AppendInt(nil, int64(last), 10), nil),
	)
	if err != nil {
		return err
	}
	s.historyBytes.Add(-bytes)
	return s.db.Apply(batch, sync)
}

// forgetEntry removes what one commit made superfluous.
func forgetEntry(batch *pebble.Batch, entry logEntry) error {
	for _, c := range entry.changes {
		if c.previous > 0 {
			if err := batch.Delete(appendVersion(nil, c.key, c.previous), nil); err != nil {
				return err
			}
		}
		if c.deleted {
			if err := batch.Delete(appendVersion(nil, c.key, entry.revision), nil); err != nil {
				return err
			}
		}
	}
	return nil
}
