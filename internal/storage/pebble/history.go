package pebble

import (
	"errors"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/cadastre/cadastre/internal/storage"
)

// history holds the recent commits in memory, and notifies the watchers that wait for further commits. Older commits are
// read from disk.
type history struct {
	mu sync.Mutex
	// recent contains the last commits in memory; their revisions are consecutive.
	recent []pastCommit
	bytes  int
	last   storage.Revision
	// subscribers are the channels that receive a value after new commits.
	subscribers map[chan struct{}]bool
}

// pastCommit is an acknowledged commit with its events. bytes is its approximate size in memory.
type pastCommit struct {
	revision storage.Revision
	events   []storage.Event
	bytes    int
}

// maxRecentBytes is the maximum size of the recent commits in memory, in bytes.
const maxRecentBytes = 8 << 20

func (h *history) init(last storage.Revision) {
	h.last = last
	h.subscribers = map[chan struct{}]bool{}
}

// add appends the commits of g that have no conflict, and drops the oldest commits until the size of the rest is at most
// maxRecentBytes.
func (h *history) add(g *group) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range g.commits {
		if p.err != nil {
			continue
		}
		c := pastCommit{revision: p.revision, events: p.events}
		for _, e := range p.events {
			c.bytes += len(e.Key) + len(e.Value) + len(e.Previous) + 128
		}
		h.recent = append(h.recent, c)
		h.bytes += c.bytes
		h.last = c.revision
	}
	drop := 0
	for h.bytes > maxRecentBytes && drop < len(h.recent)-1 {
		h.bytes -= h.recent[drop].bytes
		drop++
	}
	if drop > 0 {
		clear(h.recent[:drop])
		h.recent = h.recent[drop:]
	}
}

// after returns the commits with revisions greater than revision, in order and at most limit of them. ok is false if some
// of them are no longer in memory.
func (h *history) after(revision storage.Revision, limit int) (commits []pastCommit, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if revision >= h.last {
		return nil, true
	}
	if len(h.recent) == 0 || h.recent[0].revision > revision+1 {
		return nil, false
	}
	start := int(revision + 1 - h.recent[0].revision)
	end := min(len(h.recent), start+limit)
	return h.recent[start:end:end], true
}

// subscribe returns a new channel that receives a value after new commits, until unsubscribe is called.
func (h *history) subscribe() chan struct{} {
	c := make(chan struct{}, 1)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.subscribers[c] = true
	return c
}

func (h *history) unsubscribe(c chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.subscribers, c)
}

// notify wakes all subscribers; it does not block.
func (h *history) notify() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.subscribers {
		select {
		case c <- struct{}{}:
		default: // a notification is pending already
		}
	}
}

// maxReadBytes is the approximate maximum size, in bytes, of the commits that readAfter returns.
const maxReadBytes = 4 << 20

// readAfter reads the commits with revisions greater than revision from disk, in order and at most limit of them, with
// those of their events whose keys start with prefix. It returns ErrCompacted if revision was compacted.
func (s *Store) readAfter(revision storage.Revision, limit int, prefix string) (commits []pastCommit, err error) {
	snapshot := s.db.NewSnapshot()
	defer func() { err = readError(errors.Join(err, snapshot.Close())) }()
	if revision < storage.Revision(s.compacted.Load()) {
		return nil, storage.ErrCompacted
	}
	bytes := 0
	err = eachLogEntry(snapshot, revision, storage.Revision(s.acked.Load()), func(entry logEntry) (more bool, err error) {
		events, err := readEvents(snapshot, entry, prefix)
		commits = append(commits, pastCommit{revision: entry.revision, events: events})
		for _, e := range events {
			bytes += len(e.Value) + len(e.Previous)
		}
		return len(commits) < limit && bytes < maxReadBytes, err
	})
	return commits, err
}

// eachLogEntry calls visit for the log records in reader with after < revision <= last, in order, until visit returns
// false or an error.
func eachLogEntry(reader pebble.Reader, after, last storage.Revision, visit func(logEntry) (more bool, err error)) (err error) {
	iter, err := reader.NewIter(&pebble.IterOptions{LowerBound: appendLogKey(nil, after+1), UpperBound: appendLogKey(nil, last+1)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, iter.Close()) }()
	for valid := iter.First(); valid; valid = iter.Next() {
		value, err := iter.ValueAndErr()
		if err != nil {
			return err
		}
		entry, err := readLogEntry(iter.Key(), value)
		if err != nil {
			return err
		}
		if more, err := visit(entry); err != nil || !more {
			return err
		}
	}
	return iter.Error()
}

// readEvents returns the events of the commit of entry for the keys that start with prefix. It reads their values from
// snapshot.
func readEvents(snapshot *pebble.Snapshot, entry logEntry, prefix string) ([]storage.Event, error) {
	var events []storage.Event
	for _, c := range entry.changes {
		if !strings.HasPrefix(c.key, prefix) {
			continue
		}
		e := storage.Event{Key: c.key, Revision: entry.revision, PreviousRevision: c.previous}
		var err error
		if !c.deleted {
			if e.Value, err = readVersion(snapshot, c.key, entry.revision); err != nil {
				return nil, err
			}
		}
		if c.previous > 0 {
			if e.Previous, err = readVersion(snapshot, c.key, c.previous); err != nil {
				return nil, err
			}
		}
		events = append(events, e)
	}
	return events, nil
}

func readVersion(snapshot *pebble.Snapshot, key string, revision storage.Revision) ([]byte, error) {
	value, closer, err := snapshot.Get(appendVersion(nil, key, revision))
	if err != nil {
		return nil, err
	}
	return append([]byte{}, value[1:]...), closer.Close()
}
