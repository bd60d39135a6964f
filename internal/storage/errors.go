package storage

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrNotFound is the error of Get for a key without an item.
	ErrNotFound = errors.New("store: there is no such item")
	// ErrCompacted says that the history that was asked for has been forgotten. Whoever
	// gets it lists anew and goes on from there.
	ErrCompacted = errors.New("store: the revision is older than the history that is kept")
	// ErrFuture is the error of List for a revision that has not been.
	ErrFuture = errors.New("store: the revision has not been yet")
	// ErrClosed says that the store has been closed.
	ErrClosed = errors.New("store: closed")
)

// ConflictError says that a key is not as the writer of a commit expected. Nothing was
// written.
type ConflictError struct {
	Key string
	// Expected is the revision that the writer expected, Found the one that the item has;
	// 0 stands for no item.
	Expected, Found Revision
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("store: %s: expected %s, found %s; read it again and redo the change", e.Key, e.Expected.item(), e.Found.item())
}

func (r Revision) item() string {
	if r == 0 {
		return "no item"
	}
	return fmt.Sprintf("revision %d", int64(r))
}

// UnknownError says that nobody can tell whether a commit was done.
type UnknownError struct{ Err error }

func (e *UnknownError) Error() string {
	return fmt.Sprintf("store: the commit may have been done or not: %v; read again to find out", e.Err)
}

func (e *UnknownError) Unwrap() error { return e.Err }

// CheckCommit refuses commits that no backend can do.
func CheckCommit(writes []Write) error {
	written := 0
	for i, w := range writes {
		switch {
		case w.Key == "" || strings.IndexByte(w.Key, 0) >= 0:
			return fmt.Errorf("store: expected a key without a zero byte, received %q", w.Key)
		case w.Expected < 0:
			return fmt.Errorf("store: %s: expected a revision that is not negative, received %d", w.Key, w.Expected)
		case w.Keep && w.Value != nil:
			return fmt.Errorf("store: %s: expected no value for what is kept as it is, received one", w.Key)
		case w.IsDelete() && w.Expected == 0:
			return fmt.Errorf("store: %s: expected the revision of the item that is to be deleted, received none", w.Key)
		case i < fewWrites && hasKey(writes[:i], w.Key):
			return twiceError(w.Key)
		}
		if !w.Keep {
			written++
		}
	}
	if written == 0 {
		return errors.New("store: expected at least one write in a commit, received none")
	}
	return checkMany(writes)
}

// fewWrites are so few that comparing each with each is cheaper than a map of them.
const fewWrites = 8

func hasKey(writes []Write, key string) bool {
	for i := range writes {
		if writes[i].Key == key {
			return true
		}
	}
	return false
}

// checkMany refuses commits of more than a few writes that have a key twice.
func checkMany(writes []Write) error {
	if len(writes) <= fewWrites {
		return nil
	}
	seen := make(map[string]bool, len(writes))
	for _, w := range writes {
		if seen[w.Key] {
			return twiceError(w.Key)
		}
		seen[w.Key] = true
	}
	return nil
}

func twiceError(key string) error {
	return fmt.Errorf("store: expected every key once in a commit, received %s twice", key)
}
