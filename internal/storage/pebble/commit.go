package pebble

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/cadastre/cadastre/internal/storage"
)

// pendingCommit is a commit in the queue or in a group that has not been acknowledged. The acker closes done when revision
// and err are final.
type pendingCommit struct {
	writes   []storage.Write
	revision storage.Revision
	err      error
	events   []storage.Event
	done     chan struct{}
}

const (
	maxGroupCommits  = 1024 // maxGroupCommits is the maximum number of commits that share an fsync
	maxPendingGroups = 4    // maxPendingGroups is the maximum number of groups that wait for their fsync
	// maxPooledBatch is the maximum size, in bytes, of a batch whose memory Pebble reuses for another group.
	maxPooledBatch = 8 << 20
)

// Commit implements storage.Store.
func (s *Store) Commit(ctx context.Context, writes ...storage.Write) (storage.Revision, error) {
	if err := errors.Join(storage.CheckCommit(writes), ctx.Err(), s.closedError(), s.failure.reason()); err != nil {
		return 0, err
	}
	if err := s.checkSpace(writes); err != nil {
		return 0, err
	}
	p := &pendingCommit{writes: writes, done: make(chan struct{})}
	if !s.queue.put(p) {
		return 0, storage.ErrClosed
	}
	select {
	case <-p.done:
		return p.revision, p.err
	case <-s.failure.happened:
		return s.outcomeAfterFailure(p)
	case <-ctx.Done():
		return 0, &storage.UnknownError{Err: ctx.Err()}
	}
}

// outcomeAfterFailure returns the result of p after a disk failure: the revision and error of p if done was closed before the
// failure, and an *UnknownError if not.
func (s *Store) outcomeAfterFailure(p *pendingCommit) (storage.Revision, error) {
	select {
	case <-p.done:
		return p.revision, p.err
	default:
		return 0, &storage.UnknownError{Err: s.failure.reason()}
	}
}

// group is a list of commits that share an fsync.
type group struct {
	commits []*pendingCommit
	batch   *pebble.Batch // batch is nil if all commits of the group conflict
	last    storage.Revision
	when    time.Time
	bytes   int64 // bytes is the number of bytes that the commits of the group write
}

// commitGroups is the committer goroutine: it takes groups of commits from the queue, applies them to Pebble and passes them
// on to the acker.
func (s *Store) commitGroups(groups chan<- *group) {
	defer s.goroutines.Done()
	defer close(groups)
	for {
		g := &group{commits: s.queue.takeAll(), when: time.Now()}
		if len(g.commits) == 0 {
			return
		}
		if s.failure.reason() != nil {
			continue // the Commit calls of this group return because failure.happened is closed
		}
		if err := s.prepare(g); err != nil {
			s.fail(err)
			continue
		}
		if g.batch != nil {
			if err := s.db.ApplyNoSyncWait(g.batch, pebble.Sync); err != nil {
				s.fail(err)
				continue
			}
		}
		groups <- g
	}
}

// idleTime is the time without commits after which the acker appends an idle mark to the write-ahead log.
const idleTime = 20 * time.Millisecond

// ackGroups is the acker goroutine: it acknowledges groups after their fsync, in order, and appends an idle mark to the
// write-ahead log when there are no commits for idleTime.
func (s *Store) ackGroups(groups <-chan *group) {
	defer s.goroutines.Done()
	idle := time.NewTimer(idleTime)
	for marked := true; ; {
		select {
		case g, more := <-groups:
			if !more {
				return
			}
			s.ack(g)
			marked = false
			idle.Reset(idleTime)
		case <-idle.C:
			if !marked && s.failure.reason() == nil {
				// The idle mark proves that the whole log before the mark was synced; see corruption.go.
				if err := errors.Join(s.db.LogData([]byte("idle"), pebble.Sync), s.checkpoint.Sync()); err != nil {
					s.fail(err)
				}
				marked = true
			}
		}
	}
}

// ack waits until g is synced, makes its commits visible to reads and watchers, and unblocks their Commit calls. After a disk
// failure it acknowledges nothing.
func (s *Store) ack(g *group) {
	if g.batch != nil {
		if err := errors.Join(g.batch.SyncWait(), g.batch.Close()); err != nil {
			s.fail(err)
		}
	}
	if s.failure.reason() != nil {
		return // the commits of earlier groups may not be on disk
	}
	if g.batch != nil {
		if err := s.writeCheckpoint(int64(g.last)); err != nil {
			s.fail(err)
			return
		}
	}
	s.history.add(g)
	s.historyBytes.Add(g.bytes)
	s.acked.Store(max(s.acked.Load(), int64(g.last)))
	s.history.notify()
	s.queue.finished(g)
	for _, p := range g.commits {
		close(p.done)
	}
}

// prepare checks the expected revisions of each commit of g in order, and adds the commits without a conflict to the batch of
// g. It returns only disk errors.
func (s *Store) prepare(g *group) error {
	b := groupBuilder{s: s, written: map[string]storage.Event{}}
	for _, p := range g.commits {
		if err := b.add(p, g); err != nil {
			return errors.Join(err, b.close())
		}
	}
	for _, p := range g.commits {
		s.recent.add(p.events)
	}
	g.last = s.committed
	return b.close()
}

// groupBuilder checks the commits of one group and builds their common batch.
type groupBuilder struct {
	s    *Store
	iter *pebble.Iterator // iter is nil until an item has to be read from disk
	// written maps each key that the group has written so far to its last event.
	written map[string]storage.Event
	scratch []byte
}

// add assigns a revision to p and adds p to the batch of the group g. If an expected revision does not match, add sets p.err
// to a ConflictError instead. It returns only disk errors.
func (b *groupBuilder) add(p *pendingCommit, g *group) error {
	events := make([]storage.Event, 0, len(p.writes))
	for _, w := range p.writes {
		item, err := b.latest(w)
		if err != nil {
			return err
		}
		if item.Revision != w.Expected {
			p.err = &storage.ConflictError{Key: w.Key, Expected: w.Expected, Found: item.Revision}
			return nil
		}
		if !w.Keep {
			events = append(events, storage.Event{Key: w.Key, Value: w.Value, Previous: item.Value, PreviousRevision: item.Revision})
		} else if item.Value != nil {
			b.s.recent.addRead(item) // the following commits are likely to have the same condition, for instance on their namespace
		}
	}
	b.s.committed++
	p.revision = b.s.committed
	for i := range events {
		events[i].Revision = p.revision
		b.written[events[i].Key] = events[i]
	}
	p.events = events
	if g.batch == nil {
		g.batch = b.s.db.NewBatch(pebble.WithMaxRetainedSizeBytes(maxPooledBatch))
	}
	return b.append(p, g)
}

// latest returns the current item with the key of w, including changes by earlier commits of the same group; the revision is
// 0 if the item does not exist. If w is a condition (Keep), the returned item may lack its value.
func (b *groupBuilder) latest(w storage.Write) (storage.Item, error) {
	if e, ok := b.written[w.Key]; ok {
		if e.IsDelete() {
			return storage.Item{}, nil
		}
		return storage.Item{Key: w.Key, Value: e.Value, Revision: e.Revision}, nil
	}
	if item, known := b.s.recent.find(w.Key); known {
		return item, nil
	}
	if (w.Expected == 0 || w.Keep) && w.Seen > 0 && w.Seen >= b.s.recent.since {
		return storage.Item{Key: w.Key, Revision: w.Expected}, nil // the item was not written after w.Seen, so it still has the revision w.Expected
	}
	return b.readItem(w.Key)
}

// readItem reads the latest version of the item with the given key from disk; the revision is 0 if the item does not exist.
func (b *groupBuilder) readItem(key string) (_ storage.Item, err error) {
	if b.iter == nil {
		if b.iter, err = b.s.db.NewIter(&pebble.IterOptions{LowerBound: []byte{versionPrefix}, UpperBound: []byte{versionPrefix + 1}}); err != nil {
			return storage.Item{}, err
		}
	}
	b.scratch = appendItemStart(b.scratch[:0], key)
	if !b.iter.SeekGE(b.scratch) {
		return storage.Item{}, b.iter.Error()
	}
	found, revision := splitVersion(b.iter.Key())
	if string(found) != key {
		return storage.Item{}, nil
	}
	value, err := b.iter.ValueAndErr()
	if err != nil || value[0] == flagDeleted {
		return storage.Item{}, err
	}
	return storage.Item{Key: key, Value: append([]byte{}, value[1:]...), Revision: revision}, nil
}

func (b *groupBuilder) close() error {
	if b.iter == nil {
		return nil
	}
	return b.iter.Close()
}

// append adds the records of p to the batch of g: the new version of each item, and one log record.
func (b *groupBuilder) append(p *pendingCommit, g *group) error {
	entry := logEntry{revision: p.revision, when: g.when}
	for _, e := range p.events {
		b.scratch = appendVersion(b.scratch[:0], e.Key, e.Revision)
		if err := setVersion(g.batch, b.scratch, e); err != nil {
			return err
		}
		entry.changes = append(entry.changes, change{key: strings.Clone(e.Key), previous: e.PreviousRevision, size: len(e.Value), deleted: e.IsDelete()})
	}
	g.bytes += entry.size()
	return g.batch.Set(appendLogKey(nil, p.revision), appendLogEntry(nil, entry), nil)
}

// setVersion adds the record of the item version that e describes to batch. It encodes the value directly into the memory of
// the batch, without an intermediate copy.
func setVersion(batch *pebble.Batch, key []byte, e storage.Event) error {
	flag := byte(flagWritten)
	if e.IsDelete() {
		flag = flagDeleted
	}
	set := batch.SetDeferred(len(key), 1+len(e.Value))
	copy(set.Key, key)
	set.Value[0] = flag
	copy(set.Value[1:], e.Value)
	return set.Finish()
}
