package pebble

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/cadastre/cadastre/internal/storage"
)

// The first byte of a record says what it is.
const (
	versionSpace = 'd'
	logSpace     = 'l'
	metaSpace    = 'm'
)

// What the value of a version begins with.
const (
	wasDeleted = 0
	wasWritten = 1
)

var compactedRecord = []byte{metaSpace, 'c'}

// appendItemStart appends where the versions of an item start.
func appendItemStart(dst []byte, key string) []byte {
	dst = append(dst, versionSpace)
	dst = append(dst, key...)
	return append(dst, 0)
}

// appendItemEnd appends where the versions of an item have ended, whatever comes next.
func appendItemEnd(dst []byte, key string) []byte {
	dst = append(dst, versionSpace)
	dst = append(dst, key...)
	return append(dst, 1)
}

// appendVersion appends where a version of an item is.
func appendVersion(dst []byte, key string, revision storage.Revision) []byte {
	return binary.BigEndian.AppendUint64(appendItemStart(dst, key), ^uint64(revision))
}

// splitVersion takes apart what appendVersion made.
func splitVersion(record []byte) (key []byte, revision storage.Revision) {
	end := len(record) - 8
	return record[1 : end-1], storage.Revision(^binary.BigEndian.Uint64(record[end:]))
}

// prefixBounds returns where the versions of all items are whose key has a prefix.
func prefixBounds(prefix string) (lower, upper []byte) {
	lower = append([]byte{versionSpace}, prefix...)
	return lower, successor(lower)
}

// successor returns what comes after all that begins with some bytes. It changes no byte
// of theirs.
func successor(prefix []byte) []byte {
	next := append([]byte(nil), prefix...)
	for i := len(next) - 1; i >= 0; i-- {
		if next[i]++; next[i] != 0 {
			return next[:i+1]
		}
	}
	return nil
}

func appendLogKey(dst []byte, revision storage.Revision) []byte {
	return binary.BigEndian.AppendUint64(append(dst, logSpace), uint64(revision))
}

func logRevision(record []byte) storage.Revision {
	return storage.Revision(binary.BigEndian.Uint64(record[1:]))
}

// logEntry is a commit in the log.
type logEntry struct {
	revision storage.Revision
	when     time.Time // to the second
	changes  []change
}

// change is what a commit did to one item.
type change struct {
	key      string
	previous storage.Revision // 0 if there was no item
	size     int              // of the value
	deleted  bool
}

// size returns how many bytes a commit has written.
func (e logEntry) size() (size int64) {
	for _, c := range e.changes {
		size += int64(c.size + len(c.key))
	}
	return size
}

// appendLogEntry appends the value of a log record.
func appendLogEntry(dst []byte, e logEntry) []byte {
	dst = binary.AppendVarint(dst, e.when.Unix())
	for _, c := range e.changes {
		flag := byte(wasWritten)
		if c.deleted {
			flag = wasDeleted
		}
		dst = append(dst, flag)
		dst = binary.AppendUvarint(dst, uint64(c.previous))
		dst = binary.AppendUvarint(dst, uint64(c.size))
		dst = binary.AppendUvarint(dst, uint64(len(c.key)))
		dst = append(dst, c.key...)
	}
	return dst
}

var errLogEntry = errors.New("a record of the log can't be read")

// readLogEntry reads a log record.
func readLogEntry(key, value []byte) (logEntry, error) {
	if len(key) != 9 {
		return logEntry{}, errLogEntry
	}
	seconds, n := binary.Varint(value)
	if n <= 0 {
		return logEntry{}, errLogEntry
	}
	e := logEntry{revision: logRevision(key), when: time.Unix(seconds, 0)}
	r := numbers{value[n:], false}
	for len(r.rest) > 0 {
		c := change{deleted: r.rest[0] == wasDeleted}
		r.rest = r.rest[1:]
		c.previous, c.size = storage.Revision(r.next()), int(r.next())
		size := r.next()
		if r.failed || size > uint64(len(r.rest)) {
			return logEntry{}, errLogEntry
		}
		c.key, r.rest = string(r.rest[:size]), r.rest[size:]
		e.changes = append(e.changes, c)
	}
	return e, nil
}

// numbers reads numbers one after the other.
type numbers struct {
	rest   []byte
	failed bool
}

func (r *numbers) next() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.failed = true
		return 0
	}
	r.rest = r.rest[n:]
	return v
}
