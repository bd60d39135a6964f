package storebench

import (
	"context"
	"time"
)

// Target is a store on which a load runs.
type Target interface {
	// Commit sets key to value if its revision is expected (0 for a key that does not exist), and returns its new
	// revision when it is durable. The target takes ownership of value.
	Commit(ctx context.Context, key string, expected int64, value []byte) (int64, error)
	// Watch passes the number of received events of all keys to w until the context ends. It returns errCutOff if the
	// watcher was too slow.
	Watch(ctx context.Context, w *Watcher) error
	// CPU returns the CPU time of the store's process.
	CPU() (time.Duration, error)
}

// Implementation starts a store with an empty folder, runs a load on it, and stops the store. The store runs in a
// separate process.
type Implementation func(ctx context.Context, folder string, l Load) (Result, error)
