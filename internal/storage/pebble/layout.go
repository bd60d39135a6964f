package pebble

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/cadastre/cadastre/internal/storage"
)

// The first byte of the key of a record.
const (
	versionSpace = 'd'
	logSpace     = 'l'
	metaSpace    = 'm'
)

// The first byte of the value of a version.
const (
	wasDeleted = 0
	wasWritten = 1
)

var compactedRecord = []byte{metaSpace, 'c'}

// appendItemStart appends the lower bound of the versions of an item.
func appendItemStart(dst []byte, key string) []byte {
	dst = append(dst, versionSpace)
	dst = append(dst, key...)
	return append(dst, 0)
}

// appendItemEnd appends the upper bound of the versions of an item.
func appendItemEnd(dst []byte, key string) []byte {
	dst = append(dst, versionSpace)
	dst = append(dst, key...)
	return append(dst, 1)
}

// appendVersion appends the key of a version.
func appendVersion(dst []byte, key string, revision storage.Revision) []byte {
	return binary.BigEndian.AppendUint64(appendItemStart(dst, key), ^uint64(revision))
}

// splitVersion decodes the key of a version.
func splitVersion(record []byte) (key []byte, revision storage.Revision) {
	end := len(record) - 8
	return record[1 : end-1], storage.Revision(^binary.BigEndian.Uint64(record[end:]))
}

// prefixBounds returns the bounds of the versions of all items whose key has a prefix.
func prefixBounds(prefix string) (lower, upper []byte) {
	lower = append([]byte{versionSpace}, prefix...)
	return lower, successor(lower)
}

// successor returns the upper bound of all keys with a prefix; nil if there is none. It does not modify the prefix.
func successor(prefix []byte) []byte {
	next := append([]byte(nil), prefix...)
	for i := len(next) - 1; i >= 0; i-- {
		if next[i]++; next[i] != 0 {
			return next[:i+1]
		}
	}
	return nil
}

// appendLogKey appends the key of a log record.
func appendLogKey(dst []byte, revision storage.Revision) []byte {
	return binary.BigEndian.AppendUint64(append(dst, logSpace), uint64(revision))
}

// logRevision decodes the key of a log record.
func logRevision(record []byte) storage.Revision {
	return storage.Revision(binary.BigEndian.Uint64(record[1:]))
}

// logEntry is the log record of a commit.
type logEntry struct {
	revision storage.Revision
	when     time.Time // in seconds
	changes  []change
}

// change is the change of one item by a commit.
type change struct {
	key      string
	previous storage.Revision // 0 if the item did not exist
	size     int              // of the value
	deleted  bool
}

// size returns the number of bytes that the commit wrote.
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

var errLogEntry = errors.New("a log record cannot be decoded")

// readLogEntry decodes a log record.
func readLogEntry(key, value []byte) (logEntry, error) {
	if len(key) != 9 {
		return logEntry{}, errLogEntry
	}
	seconds, n := binary.Varint(value)
	if n <= 0 {
		return logEntry{}, errLogEntry
	}
	e := logEntry{revision: logRevision(key), when: time.Unix(seconds, 0)}
	r := uvarintReader{value[n:], false}
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

// uvarintReader decodes consecutive uvarints.
type uvarintReader struct {
	rest   []byte
	failed bool
}

func (r *uvarintReader) next() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.failed = true
		return 0
	}
	r.rest = r.rest[n:]
	return v
}
