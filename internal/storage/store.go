package storage

import "context"

// Revision is the number of a commit. 0 is the state before the first commit.
type Revision int64

// Store is a transactional, ordered key-value store with history. The package comment has the guarantees of all methods.
// Methods are safe for concurrent use. They return the error of the context if it has ended, and ErrClosed after Close.
type Store interface {
	// Get returns the item of a key; ErrNotFound if there is none.
	Get(ctx context.Context, key string) (Item, error)
	// List returns the items of a range in the order of their keys. It returns ErrCompacted for a revision before the
	// last compaction, and ErrFuture for one that has not been reached.
	List(ctx context.Context, r Range) (Page, error)
	// Commit applies all writes atomically if every key has its expected revision; otherwise it applies none and returns
	// a *ConflictError for the first key that has not. CheckCommit defines which commits are valid. If the context ends
	// while the commit is in progress, Commit returns an *UnknownError.
	Commit(ctx context.Context, writes ...Write) (Revision, error)
	// Watch returns the events after a revision of keys with a prefix. The revision may be in the future. If it is older
	// than the last compaction, Watch or the first Next returns ErrCompacted. The context limits only the start of the
	// watch, which lasts until the watcher or the store is closed.
	Watch(ctx context.Context, prefix string, after Revision) (Watcher, error)
	// Compact removes the history before a revision: lists at the revision itself, and watches after it, remain
	// possible. It returns ErrFuture for a revision that has not been reached. Compacting an older revision again is a
	// no-op.
	Compact(ctx context.Context, revision Revision) error
	// Revision returns the revision of the last commit.
	Revision(ctx context.Context) (Revision, error)
	// IsShared reports whether other processes may write to the store at the same time.
	IsShared() bool
	// Close ends all watches with ErrClosed and waits for commits in progress. Further calls return ErrClosed.
	Close() error
}

// Item is a key with its value. The value must not be modified.
type Item struct {
	Key      string
	Value    []byte
	Revision Revision
}

// Write is the part of a commit that concerns one key.
type Write struct {
	Key string
	// Expected is the revision that the item must have; 0 if it must not exist.
	Expected Revision
	// Value is the new value; nil deletes the item unless Keep is set. It must not be modified after the call.
	Value []byte
	// Seen is a revision at which the writer has seen the item at revision Expected, or absent if that is 0; 0 if
	// unknown. A store that knows which keys were written after Seen can check Expected without reading the item.
	Seen Revision
	// Keep makes the write a condition: the item must have the expected revision and is not written. It has no event.
	Keep bool
}

// IsDelete reports whether the write deletes the item.
func (w Write) IsDelete() bool { return w.Value == nil && !w.Keep }

// Range selects items.
type Range struct {
	// Prefix is the prefix of the keys; "" selects all.
	Prefix string
	// After excludes keys that are not greater. It is the last key of the previous page; "" for the first page.
	After string
	// Limit is the maximum number of items; 0 means no limit.
	Limit int
	// Revision is the revision of the state to list; 0 means the latest.
	Revision Revision
}

// Page is the result of a List.
type Page struct {
	Items []Item
	// Revision is the revision of the state that was listed. The next page is listed at the same revision.
	Revision Revision
	// More reports whether the range has items after the last one of the page.
	More bool
}

// Watcher is an open watch. One goroutine uses it at a time.
type Watcher interface {
	// Next blocks until there is a batch. It returns ErrCompacted if the next events were compacted, ErrClosed if the
	// store was closed, and the error of the context if it ends; after the latter Next can be called again.
	Next(ctx context.Context) (Batch, error)
	// Close ends the watch and releases its resources.
	Close()
}

// Batch has the events up to a revision.
type Batch struct {
	// Events are ordered by revision, and within a revision as in the commit. A batch without events reports progress:
	// periodically, and when a watcher that started in the past has returned all past events.
	Events []Event
	// Revision is the revision up to which the watcher has returned all events: another watch may continue after it.
	Revision Revision
}

// Event is the change of one key by a commit. Its values must not be modified.
type Event struct {
	Key string
	// Value is the new value; nil if the item was deleted.
	Value    []byte
	Revision Revision
	// Previous is the value before the commit, and PreviousRevision its revision; nil and 0 if the item did not exist.
	Previous         []byte
	PreviousRevision Revision
}

// IsDelete reports whether the item was deleted.
func (e Event) IsDelete() bool { return e.Value == nil }
