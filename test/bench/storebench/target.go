package storebench

import (
	"context"
	"time"
)

// Target is a store under load.
type Target interface {
	// Commit writes a key by compare-and-swap and returns its new revision when it is durable; expected is 0 for a
	// key that does not exist. The target takes ownership of the value.
	Commit(ctx context.Context, key string, expected int64, value []byte) (int64, error)
	// Watch counts the events of all keys until the context ends. It returns errCutOff if the watcher was too slow.
	Watch(ctx context.Context, w *Watcher) error
	// CPU returns the CPU time of the store's process.
	CPU() (time.Duration, error)
}

// Side starts a store in an empty folder and in a separate process, runs a load on it and stops it.
type Side func(ctx context.Context, folder string, l Load) (Result, error)
