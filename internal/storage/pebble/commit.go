package pebble

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/cadastre/cadastre/internal/storage"
)

// pending is a commit that waits for its answer.
type pending struct {
	writes   []storage.Write
	revision storage.Revision
	err      error
	events   []storage.Event
	answered chan struct{}
}

const (
	largestGroup   = 1024 // commits that share a sync
	groupsUnderWay = 4    // groups that wait for the disk
	// largestBatchKept is how large the memory of a group may be to be used again, which
	// saves growing it from nothing for every group.
	largestBatchKept = 8 << 20
)

// Commit does all the writes, or none.
func (s *Store) Commit(ctx context.Context, writes ...storage.Write) (storage.Revision, error) {
	if err := errors.Join(storage.CheckCommit(writes), ctx.Err(), s.openError(), s.failure.reason()); err != nil {
		return 0, err
	}
	p := &pending{writes: writes, answered: make(chan struct{})}
	if !s.queue.put(p) {
		return 0, storage.ErrClosed
	}
	select {
	case <-p.answered:
		return p.revision, p.err
	case <-s.failure.happened:
		return s.unlessAnswered(p)
	case <-ctx.Done():
		return 0, &storage.UnknownError{Err: ctx.Err()}
	}
}

// unlessAnswered says that a commit may have been done, unless it was answered before the
// failure.
func (s *Store) unlessAnswered(p *pending) (storage.Revision, error) {
	select {
	case <-p.answered:
		return p.revision, p.err
	default:
		return 0, &storage.UnknownError{Err: s.failure.reason()}
	}
}

// group is the commits that share a sync.
type group struct {
	commits []*pending
	batch   *pebble.Batch // nil if there is nothing to write
	last    storage.Revision
	when    time.Time
	bytes   int64 // that its commits write
}

// commitGroups is the committer.
func (s *Store) commitGroups(groups chan<- *group) {
	defer s.running.Done()
	defer close(groups)
	for {
		g := &group{commits: s.queue.takeAll(), when: time.Now()}
		if len(g.commits) == 0 {
			return
		}
		if s.failure.reason() != nil {
			continue // their writers know
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

// idleTime is how long there is nothing to do before the acker marks the log.
const idleTime = 20 * time.Millisecond

// ackGroups is the acker.
func (s *Store) ackGroups(groups <-chan *group) {
	defer s.running.Done()
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
				// It says that all before it was on disk; see damage.go.
				if err := errors.Join(s.db.LogData([]byte("idle"), pebble.Sync), s.checkpoint.Sync()); err != nil {
					s.fail(err)
				}
				marked = true
			}
		}
	}
}

// ack waits until the disk has a group, and tells everybody.
func (s *Store) ack(g *group) {
	if g.batch != nil {
		if err := errors.Join(g.batch.SyncWait(), g.batch.Close()); err != nil {
			s.fail(err)
		}
	}
	if s.failure.reason() != nil {
		return // what was before is not sure to be there
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
	s.history.wake()
	s.queue.answered(g)
	for _, p := range g.commits {
		close(p.answered)
	}
}

// prepare decides about the commits of a group, one after the other, and makes a batch of
// those that are done.
func (s *Store) prepare(g *group) error {
	d := decider{s: s, written: map[string]storage.Event{}}
	for _, p := range g.commits {
		if err := d.decide(p, g); err != nil {
			return errors.Join(err, d.close())
		}
	}
	for _, p := range g.commits {
		s.recent.add(p.events)
	}
	g.last = s.committed
	return d.close()
}

// decider compares what is expected with what is there.
type decider struct {
	s    *Store
	iter *pebble.Iterator // nil as long as nothing had to be looked for
	// written is what commits of this group did last to each key.
	written map[string]storage.Event
	scratch []byte
}

// decide does one commit, or finds out which key it loses on. It fails only if the disk does.
func (d *decider) decide(p *pending, g *group) error {
	events := make([]storage.Event, 0, len(p.writes))
	for _, w := range p.writes {
		there, err := d.latest(w)
		if err != nil {
			return err
		}
		if there.Revision != w.Expected {
			p.err = &storage.ConflictError{Key: w.Key, Expected: w.Expected, Found: there.Revision}
			return nil
		}
		if !w.Keep {
			events = append(events, storage.Event{Key: w.Key, Value: w.Value, Previous: there.Value, PreviousRevision: there.Revision})
		} else if there.Value != nil {
			d.s.recent.know(there) // what one commit depends on the next will, too
		}
	}
	d.s.committed++
	p.revision = d.s.committed
	for i := range events {
		events[i].Revision = p.revision
		d.written[events[i].Key] = events[i]
	}
	p.events = events
	if g.batch == nil {
		g.batch = d.s.db.NewBatch(pebble.WithMaxRetainedSizeBytes(largestBatchKept))
	}
	return d.record(p, g)
}

// latest returns the item as it will be when all commits so far are done; its revision is 0
// if there is none. An item that is kept may come without its value.
func (d *decider) latest(w storage.Write) (storage.Item, error) {
	if e, ok := d.written[w.Key]; ok {
		if e.IsDelete() {
			return storage.Item{}, nil
		}
		return storage.Item{Key: w.Key, Value: e.Value, Revision: e.Revision}, nil
	}
	if item, known := d.s.recent.find(w.Key); known {
		return item, nil
	}
	if (w.Expected == 0 || w.Keep) && w.Seen > 0 && w.Seen >= d.s.recent.since {
		return storage.Item{Key: w.Key, Revision: w.Expected}, nil // it was so, and nobody has written it since
	}
	return d.lookUp(w.Key)
}

// lookUp finds an item on disk.
func (d *decider) lookUp(key string) (_ storage.Item, err error) {
	if d.iter == nil {
		if d.iter, err = d.s.db.NewIter(&pebble.IterOptions{LowerBound: []byte{versionSpace}, UpperBound: []byte{versionSpace + 1}}); err != nil {
			return storage.Item{}, err
		}
	}
	d.scratch = appendItemStart(d.scratch[:0], key)
	if !d.iter.SeekGE(d.scratch) {
		return storage.Item{}, d.iter.Error()
	}
	found, revision := splitVersion(d.iter.Key())
	if string(found) != key {
		return storage.Item{}, nil
	}
	value, err := d.iter.ValueAndErr()
	if err != nil || value[0] == wasDeleted {
		return storage.Item{}, err
	}
	return storage.Item{Key: key, Value: append([]byte{}, value[1:]...), Revision: revision}, nil
}

func (d *decider) close() error {
	if d.iter == nil {
		return nil
	}
	return d.iter.Close()
}

// record adds a commit to the batch of its group.
func (d *decider) record(p *pending, g *group) error {
	entry := logEntry{revision: p.revision, when: g.when}
	for _, e := range p.events {
		d.scratch = appendVersion(d.scratch[:0], e.Key, e.Revision)
		if err := setVersion(g.batch, d.scratch, e); err != nil {
			return err
		}
		entry.changes = append(entry.changes, change{key: strings.Clone(e.Key), previous: e.PreviousRevision, size: len(e.Value), deleted: e.IsDelete()})
	}
	g.bytes += entry.size()
	return g.batch.Set(appendLogKey(nil, p.revision), appendLogEntry(nil, entry), nil)
}

// setVersion writes a version straight into the batch's memory.
func setVersion(batch *pebble.Batch, key []byte, e storage.Event) error {
	flag := byte(wasWritten)
	if e.IsDelete() {
		flag = wasDeleted
	}
	set := batch.SetDeferred(len(key), 1+len(e.Value))
	copy(set.Key, key)
	set.Value[0] = flag
	copy(set.Value[1:], e.Value)
	return set.Finish()
}
