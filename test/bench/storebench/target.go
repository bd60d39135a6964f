package storebench

import (
	"context"
	"time"
)

// A Target is a store as the load sees it.
type Target interface {
	// Commit writes a key if its revision is as expected, 0 if there is none, and returns the new one
	// when it is durable. The value is the target's.
	Commit(ctx context.Context, key string, expected int64, value []byte) (int64, error)
	// Watch counts the events of all keys until the context ends. It fails with errCutOff if the
	// watcher was too slow.
	Watch(ctx context.Context, w *Watcher) error
	// CPU is the time that the process of the store has used.
	CPU() (time.Duration, error)
}

// A Side starts a store in an empty folder and in a process of its own, puts a load on it and stops it.
type Side func(ctx context.Context, folder string, l Load) (Result, error)
