package storage

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrNotFound is returned by Get if no item has the key.
	ErrNotFound = errors.New("storage: item not found")
	// ErrCompacted is returned by List and Watch for a revision whose history was compacted. The caller lists the latest
	// state and continues from its revision.
	ErrCompacted = errors.New("storage: the requested revision was compacted")
	// ErrFuture is returned by List and Compact for a revision that is greater than the revision of the last commit.
	ErrFuture = errors.New("storage: the requested revision has not been reached")
	// ErrClosed is returned by all methods of a store after its Close was called.
	ErrClosed = errors.New("storage: the store is closed")
)

// ConflictError is returned by Commit if an item does not have its expected revision, because another writer changed it
// first. Nothing was written.
type ConflictError struct {
	Key string
	// Expected is the revision that the writer expected the item to have; Found is the item's actual revision. 0 means that
	// the item does not exist.
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

// UnknownError is returned by Commit if the store cannot tell whether the commit was applied, for instance after a timeout or
// a disk failure.
type UnknownError struct{ Err error }

func (e *UnknownError) Error() string {
	return fmt.Sprintf("storage: the outcome of the commit is unknown: %v; read the items to find out", e.Err)
}

// Unwrap returns the cause of the unknown outcome.
func (e *UnknownError) Unwrap() error { return e.Err }

// NoSpaceError is returned by Commit if the store is out of space. Nothing was written. Commits that only delete items are accepted
// nevertheless.
type NoSpaceError struct{ Reason string }

func (e *NoSpaceError) Error() string {
	return "storage: " + e.Reason + "; delete objects or free space on the disk, then retry"
}

// UnavailableError is returned by all methods if the store cannot be reached or is overloaded. Nothing was written; the same operation may
// succeed later.
type UnavailableError struct{ Err error }

func (e *UnavailableError) Error() string {
	return fmt.Sprintf("storage: expected a response, received none: %v; retry later", e.Err)
}

// Unwrap returns the cause.
func (e *UnavailableError) Unwrap() error { return e.Err }

// LimitError is returned by Commit for a commit that the store never accepts because of its size or its number of writes. Nothing was
// written.
type LimitError struct{ Reason string }

func (e *LimitError) Error() string { return "storage: " + e.Reason + "; write less at once" }

// CheckCommit returns an error if every implementation must reject a commit of writes: if writes are empty, or contain a
// duplicate key, or contain an invalid key, value or expected revision.
func CheckCommit(writes []Write) error {
	written := 0
	for i, w := range writes {
		switch {
		case w.Key == "" || strings.IndexByte(w.Key, 0) >= 0:
			return fmt.Errorf("storage: expected a non-empty key without a zero byte, received %q", w.Key)
		case w.Expected < 0:
			return fmt.Errorf("storage: %s: expected a revision that is not negative, received %d", w.Key, w.Expected)
		case w.Keep && w.Value != nil:
			return fmt.Errorf("storage: %s: a condition (Keep) must not have a value", w.Key)
		case w.IsDelete() && w.Expected == 0:
			return fmt.Errorf("storage: %s: the expected revision of an item to delete must be set", w.Key)
		case i < maxPairwise && hasKey(writes[:i], w.Key):
			return duplicateKeyError(w.Key)
		}
		if !w.Keep {
			written++
		}
	}
	if written == 0 {
		return errors.New("storage: a commit must contain at least one write")
	}
	if len(writes) <= maxPairwise {
		return nil
	}
	return checkDuplicates(writes)
}

// maxPairwise is the maximum number of writes in a commit for which duplicate keys are found by comparing all pairs of keys.
// For more writes a map is cheaper.
const maxPairwise = 8

func hasKey(writes []Write, key string) bool {
	for i := range writes {
		if writes[i].Key == key {
			return true
		}
	}
	return false
}

// checkDuplicates returns an error if two elements of writes have the same key.
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
