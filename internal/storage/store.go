package storage

import "context"

// Revision is the number of a commit. Revision 0 is the state before the first commit.
type Revision int64

// Store is a transactional, ordered key-value store with history. The package comment lists the guarantees of all methods.
// Methods are safe for concurrent use. A method returns the context's error if its context has ended, and ErrClosed after
// Close.
type Store interface {
	// Get returns the latest item with the given key; ErrNotFound if there is none.
	Get(ctx context.Context, key string) (Item, error)
	// List returns one page of the items that r selects, ordered by key. It returns ErrCompacted if r.Revision is less than
	// the revision of the last compaction, and ErrFuture if r.Revision is greater than the current revision.
	List(ctx context.Context, r Range) (Page, error)
	// Commit applies all writes atomically and returns the revision of the commit if every key has its expected revision. If
	// a key does not, Commit applies no write and returns a *ConflictError for the first such key. CheckCommit defines which
	// commits are valid. If the context ends while the commit is in progress, Commit returns an *UnknownError.
	Commit(ctx context.Context, writes ...Write) (Revision, error)
	// Watch returns a watcher of the events of keys that start with prefix, starting with the first commit whose revision is
	// greater than after, which may be in the future. If after is less than the revision of the last compaction, Watch or the
	// first call of Next returns ErrCompacted; if after+1 is that revision, a store that still has all events may return them.
	// The context limits only the call of Watch; the watch lasts until the watcher or the store is closed.
	Watch(ctx context.Context, prefix string, after Revision) (Watcher, error)
	// Compact removes the history before revision; lists at revision itself and watches after revision remain possible. It
	// returns ErrFuture if revision is greater than the current revision. It is a no-op if revision was compacted before.
	Compact(ctx context.Context, revision Revision) error
	// Revision returns the revision of the last commit.
	Revision(ctx context.Context) (Revision, error)
	// IsShared reports whether other processes may write to the store at the same time.
	IsShared() bool
	// Close ends all watches with ErrClosed and waits for the commits in progress. Later calls of any method, including
	// Close, return ErrClosed.
	Close() error
}

// StaleChecker is implemented by stores that transform values, for instance encrypt them.
type StaleChecker interface {
	// IsStale reports whether the item with the given key would be stored as other bytes if it were written unchanged.
	IsStale(ctx context.Context, key string) (bool, error)
}

// Item is a key with its value and the revision of the commit that last wrote it. The value must not be modified.
type Item struct {
	Key      string
	Value    []byte
	Revision Revision
	// Err is the reason why the value cannot be read, for instance because the key that decrypts it is missing; Value then holds the
	// stored bytes. It is nil if the value is readable.
	Err error
}

// Write is the change of one key, or a condition on one key, in a commit.
type Write struct {
	Key string
	// Expected is the revision that the item must have for the commit to succeed; 0 means that the item must not exist.
	Expected Revision
	// Value is the new value; nil deletes the item unless Keep is set. The caller must not modify the value after the call.
	Value []byte
	// Seen is a store revision at which the writer observed the item at revision Expected, or observed that it did not exist
	// if Expected is 0; Seen is 0 if unknown. A store that remembers the keys written after Seen can check Expected without
	// reading the item.
	Seen Revision
	// Keep makes the write a mere condition: the commit fails unless the item has the expected revision, the item is not
	// changed, and no event is generated for it.
	Keep bool
}

// IsDelete reports whether the write deletes the item.
func (w Write) IsDelete() bool { return w.Value == nil && !w.Keep }

// Range selects the items that List returns.
type Range struct {
	// Prefix selects the keys that start with Prefix; "" selects all keys.
	Prefix string
	// After excludes all keys <= After: it is the last key of the previous page, and "" for the first page.
	After string
	// Limit is the maximum number of items of the page; 0 means no limit.
	Limit int
	// Revision is the revision at which the state is listed; 0 means the latest revision.
	Revision Revision
}

// Page is the result of List.
type Page struct {
	Items []Item
	// Revision is the revision of the listed state. The caller lists the following pages at this revision.
	Revision Revision
	// More reports whether the range contains items after the last item of the page.
	More bool
}

// Watcher is an open watch. It must not be used by several goroutines at the same time.
type Watcher interface {
	// Next blocks until a batch is available. It returns ErrCompacted if the next events were compacted, ErrClosed if the
	// store was closed, and the context's error if the context ends; in that last case Next can be called again.
	Next(ctx context.Context) (Batch, error)
	// Close ends the watch and releases its resources.
	Close()
}

// Batch is the part of a watch that one call of Next returns: the next events, up to and including Revision.
type Batch struct {
	// Events are ordered by revision, and the events of one commit in the order of its writes. A batch without events reports
	// progress: it is sent periodically, and when a watcher that started in the past has returned all past events.
	Events []Event
	// Revision is the revision up to and including which the watcher has returned all events: a new watch may continue after
	// this revision.
	Revision Revision
}

// Event is the change of one key by a commit. Its values must not be modified.
type Event struct {
	Key string
	// Value is the new value; nil if the item was deleted.
	Value    []byte
	Revision Revision
	// Err is the reason why Value cannot be read, as in Item.
	Err error
	// Previous is the value of the item before the commit, and PreviousRevision is its revision; they are nil and 0 if the
	// item did not exist.
	Previous         []byte
	PreviousRevision Revision
}

// IsDelete reports whether the event is the deletion of the item.
func (e Event) IsDelete() bool { return e.Value == nil }
