package storage

import "context"

// Revision numbers commits. 0 is before the first.
type Revision int64

// Store keeps items. Its methods may be called concurrently.
type Store interface {
	// Get returns the item with that key, or ErrNotFound.
	Get(ctx context.Context, key string) (Item, error)
	// List returns items in the order of their keys.
	List(ctx context.Context, r Range) (Page, error)
	// Commit does all the writes, or none and returns a *ConflictError that tells which
	// key is not as its writer expected. No key may be there twice, and not all may be only
	// compared.
	Commit(ctx context.Context, writes ...Write) (Revision, error)
	// Watch tells of all that is committed after a revision to keys with a prefix. The
	// context is for starting; the watch lives until its Close, or the store's.
	Watch(ctx context.Context, prefix string, after Revision) (Watcher, error)
	// Compact forgets the history up to a revision.
	Compact(ctx context.Context, revision Revision) error
	// Revision returns that of the last commit.
	Revision(ctx context.Context) (Revision, error)
	// IsShared reports whether others may have the same store open at the same time.
	IsShared() bool
	// Close ends all watches and waits for the commits that have begun.
	Close() error
}

// Item is a key with its value.
type Item struct {
	Key      string
	Value    []byte // must not be changed
	Revision Revision
}

// Write is what a commit does to one key.
type Write struct {
	Key string
	// Expected is the revision of the item that is there now; 0 if there is none.
	Expected Revision
	// Value is the new value; nil deletes the item, unless it is kept. It must not be changed any
	// more.
	Value []byte
	// Seen is a revision up to which the writer knows of all commits, by which the item is as
	// expected; 0 if it does not know. A store that remembers what was written since need not look
	// for the item to know that there is none, or that it is kept.
	Seen Revision
	// Keep leaves the item as it is: it must be as expected for the rest of the commit to be
	// done, and that is all. Watchers don't hear of it.
	Keep bool
}

// IsDelete reports whether the write deletes the item.
func (w Write) IsDelete() bool { return w.Value == nil && !w.Keep }

// Range says what to list.
type Range struct {
	// Prefix is what the keys begin with; every key begins with "".
	Prefix string
	// After leaves out the keys up to this one, for the pages after the first.
	After string
	// Limit is how many items there may be; 0 means all.
	Limit int
	// Revision is the one at which to list; 0 means now.
	Revision Revision
}

// Page is what was listed.
type Page struct {
	Items []Item
	// Revision is the one at which these were the items. The next page is at it, too.
	Revision Revision
	// More says that there are items after the last one.
	More bool
}

// Watcher tells what happens. It is used by one goroutine at a time.
type Watcher interface {
	// Next waits for something to tell. It fails with ErrCompacted if what is next has
	// been forgotten, and with ErrClosed when the store has been closed.
	Next(ctx context.Context) (Batch, error)
	// Close ends the watch.
	Close()
}

// Batch is what a Watcher tells: all that happened up to a revision.
type Batch struct {
	// Events are in the order of revisions, and for one revision in that of the writes.
	// There are none if the batch only marks progress: now and then, and when a watcher
	// from the past has nothing left to tell of it.
	Events []Event
	// Revision is how far the watcher has come: whoever starts anew may start after it.
	Revision Revision
}

// Event is what a commit did to one key.
type Event struct {
	Key string
	// Value is the new value; nil if the item was deleted.
	Value    []byte
	Revision Revision
	// Previous is the value that was there before, and PreviousRevision its revision; nil
	// and 0 if there was none.
	Previous         []byte
	PreviousRevision Revision
}

// IsDelete reports whether the item was deleted.
func (e Event) IsDelete() bool { return e.Value == nil }
