package pebble

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/cadastre/cadastre/internal/storage"
)

// The first byte of a record's key is the prefix of its type: item version, log record or metadata.
const (
	versionPrefix = 'd'
	logPrefix     = 'l'
	metaPrefix    = 'm'
)

// The first byte of the value of an item version states whether the commit deleted or wrote the item.
const (
	flagDeleted = 0
	flagWritten = 1
)

var compactedRecord = []byte{metaPrefix, 'c'}

// appendItemStart appends to dst the inclusive lower bound of the record keys of the versions of the item with the given
// key.
func appendItemStart(dst []byte, key string) []byte {
	dst = append(dst, versionPrefix)
	dst = append(dst, key...)
	return append(dst, 0)
}

// appendItemEnd appends to dst the exclusive upper bound of the record keys of the versions of the item with the given
// key.
func appendItemEnd(dst []byte, key string) []byte {
	dst = append(dst, versionPrefix)
	dst = append(dst, key...)
	return append(dst, 1)
}

// appendVersion appends to dst the record key of an item version: the version of the item with the given key that the
// commit at revision wrote.
func appendVersion(dst []byte, key string, revision storage.Revision) []byte {
	return binary.BigEndian.AppendUint64(appendItemStart(dst, key), ^uint64(revision))
}

// splitVersion decodes record, the record key of an item version. The returned key shares memory with record.
func splitVersion(record []byte) (key []byte, revision storage.Revision) {
	end := len(record) - 8
	return record[1 : end-1], storage.Revision(^binary.BigEndian.Uint64(record[end:]))
}

// prefixBounds returns the inclusive lower and the exclusive upper bound of the record keys of all items whose key starts
// with prefix.
func prefixBounds(prefix string) (lower, upper []byte) {
	lower = append([]byte{versionPrefix}, prefix...)
	return lower, successor(lower)
}

// successor returns the least byte string that is greater than all byte strings that start with prefix; nil if there is
// none. It does not modify prefix.
func successor(prefix []byte) []byte {
	next := append([]byte(nil), prefix...)
	for i := len(next) - 1; i >= 0; i-- {
		if next[i]++; next[i] != 0 {
			return next[:i+1]
		}
	}
	return nil
}

// appendLogKey appends to dst the record key of the log record of the commit at revision.
func appendLogKey(dst []byte, revision storage.Revision) []byte {
	return binary.BigEndian.AppendUint64(append(dst, logPrefix), uint64(revision))
}

// logRevision returns the revision in record, the record key of a log record.
func logRevision(record []byte) storage.Revision {
	return storage.Revision(binary.BigEndian.Uint64(record[1:]))
}

// logEntry is the log record of a commit.
type logEntry struct {
	revision storage.Revision
	when     time.Time // when is the time of the commit, stored in whole seconds
	changes  []change
}

// change is the part of a log record that describes the change of one item.
type change struct {
	key      string
	previous storage.Revision // previous is the item's revision before the commit; 0 if the item did not exist
	size     int              // size is the length of the new value in bytes
	deleted  bool
}

// size returns the approximate number of bytes that the commit wrote.
func (e logEntry) size() (size int64) {
	for _, c := range e.changes {
		size += int64(c.size + len(c.key))
	}
	return size
}

// appendLogEntry appends to dst the value of the log record e, encoded.
func appendLogEntry(dst []byte, e logEntry) []byte {
	dst = binary.AppendVarint(dst, e.when.Unix())
	for _, c := range e.changes {
		flag := byte(flagWritten)
		if c.deleted {
			flag = flagDeleted
		}
		dst = append(dst, flag)
		dst = binary.AppendUvarint(dst, uint64(c.previous))
		dst = binary.AppendUvarint(dst, uint64(c.size))
		dst = binary.AppendUvarint(dst, uint64(len(c.key)))
		dst = append(dst, c.key...)
	}
	return dst
}

var errLogEntry = errors.New("a log record is malformed")

// readLogEntry decodes the log record with the given record key and value; it returns errLogEntry if the record is
// malformed.
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
		c := change{deleted: r.rest[0] == flagDeleted}
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

// uvarintReader decodes consecutive uvarints; see encoding/binary.
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
