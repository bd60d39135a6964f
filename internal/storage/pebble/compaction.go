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

// Compact implements storage.Store.
func (s *Store) Compact(ctx context.Context, revision storage.Revision) error {
	if err := errors.Join(ctx.Err(), s.closedError(), s.failure.reason()); err != nil {
		return err
	}
	if revision > storage.Revision(s.acked.Load()) {
		return storage.ErrFuture
	}
	s.compacting.Lock()
	defer s.compacting.Unlock()
	for storage.Revision(s.compacted.Load()) < revision {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.compactWhile(pebble.Sync, func(e logEntry) bool { return e.revision <= revision }); err != nil {
			return err
		}
	}
	return nil
}

// trimPeriodically is the goroutine that compacts the history when it exceeds HistoryAge or HistoryBytes.
func (s *Store) trimPeriodically() {
	defer s.goroutines.Done()
	interval := 10 * time.Second
	if s.options.HistoryAge > 0 {
		interval = min(interval, max(s.options.HistoryAge/10, 10*time.Millisecond))
	}
	if err := s.measureHistory(); err != nil {
		s.options.Log.Warn("cannot measure the stored history; it may exceed its size limit", "error", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { // ends a compaction when the store is closed
		select {
		case <-s.done:
			cancel()
		case <-ctx.Done():
		}
	}()
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-s.done:
			return
		case <-ticker.C:
		}
		if err := errors.Join(s.trimTo(s.options.HistoryAge), s.reclaim(ctx)); err != nil && s.closedError() == nil && s.failure.reason() == nil {
			s.options.Log.Warn("compacting the history failed; retrying", "error", err)
		}
	}
}

// measureHistory adds the size of the history that existed when the store was opened to historyBytes. A gap in that history
// makes the store fail.
func (s *Store) measureHistory() error {
	s.compacting.Lock()
	defer s.compacting.Unlock()
	last := storage.Revision(0)
	err := eachLogEntry(s.db, 0, s.openedAt, func(entry logEntry) (more bool, err error) {
		if last > 0 && entry.revision != last+1 {
			s.fail(fmt.Errorf("%s: the commits between revisions %d and %d are missing in the history; restore the folder from a backup",
				s.manifest, last, entry.revision))
		}
		last = entry.revision
		s.historyBytes.Add(entry.size())
		return s.closedError() == nil, nil
	})
	s.measured = err == nil
	return err
}

// trimTo compacts the oldest commits in steps of maxCompactedCommits until the history is within age and HistoryBytes.
func (s *Store) trimTo(age time.Duration) error {
	s.compacting.Lock()
	defer s.compacting.Unlock()
	for s.closedError() == nil && s.failure.reason() == nil {
		before := s.compacted.Load()
		excess := s.historyBytes.Load() - s.options.HistoryBytes
		oldest := time.Now().Add(-age)
		exceedsLimit := func(e logEntry) bool {
			isOld := age > 0 && e.when.Before(oldest)
			isMuch := s.options.HistoryBytes > 0 && excess > 0
			excess -= e.size()
			return isOld || isMuch
		}
		if err := s.compactWhile(pebble.NoSync, exceedsLimit); err != nil {
			return err
		}
		if s.compacted.Load() == before {
			return nil
		}
	}
	return nil
}

// maxCompactedCommits is the maximum number of commits that are compacted in one step. It limits the time that writers wait
// for a step.
const maxCompactedCommits = 256

// compactWhile compacts the oldest commits up to the first for which obsolete returns false, and at most
// maxCompactedCommits. It deletes the item versions that these commits replaced, and the tombstones of the items that they
// deleted. If sync is pebble.NoSync, the compacted commits may reappear after a crash.
func (s *Store) compactWhile(sync *pebble.WriteOptions, obsolete func(logEntry) bool) error {
	batch := s.db.NewBatch()
	defer batch.Close()
	var last storage.Revision
	count, bytes := 0, int64(0)
	err := eachLogEntry(s.db, 0, storage.Revision(s.acked.Load()), func(entry logEntry) (more bool, err error) {
		if !obsolete(entry) {
			return false, nil
		}
		last = entry.revision
		if s.measured || entry.revision > s.openedAt {
			bytes += entry.size()
		}
		count++
		return count < maxCompactedCommits, deleteObsolete(batch, entry)
	})
	if err != nil || last == 0 {
		return err
	}
	// After this line, reads at the compacted revisions return ErrCompacted; only then are their records deleted.
	s.compacted.Store(int64(last))
	err = errors.Join(
		batch.DeleteRange([]byte{logPrefix}, appendLogKey(nil, last+1), nil),
		batch.Set(compactedRecord, strconv.AppendInt(nil, int64(last), 10), nil),
	)
	if err != nil {
		return err
	}
	s.historyBytes.Add(-bytes)
	return s.db.Apply(batch, sync)
}

// deleteObsolete deletes, in batch, the item versions that the commit of entry made obsolete: the versions that the commit
// replaced, and its own tombstones.
func deleteObsolete(batch *pebble.Batch, entry logEntry) error {
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
