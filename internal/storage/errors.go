package storage

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrNotFound is the error of Get for a key without an item.
	ErrNotFound = errors.New("storage: item not found")
	// ErrCompacted is the error of a read or watch of history that was compacted. The caller lists the latest state and
	// continues from there.
	ErrCompacted = errors.New("storage: the requested revision was compacted")
	// ErrFuture is the error of List and Compact for a revision that has not been reached.
	ErrFuture = errors.New("storage: the requested revision has not been reached")
	// ErrClosed is the error of all methods after Close.
	ErrClosed = errors.New("storage: the store is closed")
)

// ConflictError is the error of a commit that lost a race: an item does not have the expected revision. Nothing was written.
type ConflictError struct {
	Key string
	// Expected is the revision that the writer expected, Found the revision of the item; 0 means that there is no item.
	Expected, Found Revision
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("storage: %s: expected %s, found %s; read the item and retry the change", e.Key, e.Expected.item(), e.Found.item())
}

func (r Revision) item() string {
	if r == 0 {
		return "no item"
	}
	return fmt.Sprintf("revision %d", int64(r))
}

// UnknownError is the error of a commit whose outcome is unknown: it was applied or not.
type UnknownError struct{ Err error }

func (e *UnknownError) Error() string {
	return fmt.Sprintf("storage: the outcome of the commit is unknown: %v; read the items to find out", e.Err)
}

// Unwrap returns the cause.
func (e *UnknownError) Unwrap() error { return e.Err }

// CheckCommit rejects commits that are invalid in every implementation: without a write, with a key twice, with an invalid
// key or revision.
func CheckCommit(writes []Write) error {
	written := 0
	for i, w := range writes {
		switch {
		case w.Key == "" || strings.IndexByte(w.Key, 0) >= 0:
			return fmt.Errorf("storage: expected a key without a zero byte, received %q", w.Key)
		case w.Expected < 0:
			return fmt.Errorf("storage: %s: expected a revision that is not negative, received %d", w.Key, w.Expected)
		case w.Keep && w.Value != nil:
			return fmt.Errorf("storage: %s: expected a condition (Keep) without a value, received one with a value", w.Key)
		case w.IsDelete() && w.Expected == 0:
			return fmt.Errorf("storage: %s: expected the revision of the item to delete, received none", w.Key)
		case i < maxPairwise && hasKey(writes[:i], w.Key):
			return duplicateKeyError(w.Key)
		}
		if !w.Keep {
			written++
		}
	}
	if written == 0 {
		return errors.New("storage: expected at least one write in a commit, received none")
	}
	if len(writes) <= maxPairwise {
		return nil
	}
	return checkDuplicates(writes)
}

// maxPairwise is the maximum number of writes whose keys are compared pairwise, which is cheaper than a map.
const maxPairwise = 8

func hasKey(writes []Write, key string) bool {
	for i := range writes {
		if writes[i].Key == key {
			return true
		}
	}
	return false
}

// checkDuplicates rejects commits that have a key twice.
func checkDuplicates(writes []Write) error {
	seen := make(map[string]bool, len(writes))
	for _, w := range writes {
		if seen[w.Key] {
			return duplicateKeyError(w.Key)
		}
		seen[w.Key] = true
	}
	return nil
}

func duplicateKeyError(key string) error {
	return fmt.Errorf("storage: expected every key once in a commit, received %s twice", key)
}
