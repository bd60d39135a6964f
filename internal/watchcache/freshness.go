package watchcache

import (
	"context"
	"errors"

	"github.com/cadastre/cadastre/internal/storage"
)

// Freshness is the consistency of a read. The zero Freshness is Latest.
type Freshness struct {
	mode     freshnessMode
	revision storage.Revision
}

type freshnessMode uint8

const (
	latest freshnessMode = iota
	anyAge
	notOlderThan
	exactly
)

var (
	// Latest reads include every write that was acknowledged before the read began, by any process.
	Latest = Freshness{mode: latest}
	// Any reads return the cache's current state: it includes all writes of this process, and may lag behind other
	// processes.
	Any = Freshness{mode: anyAge}
)

// NotOlderThan reads return the state at a revision or later.
func NotOlderThan(revision storage.Revision) Freshness { return Freshness{notOlderThan, revision} }

// Exactly reads return the state at a revision; only List supports it.
func Exactly(revision storage.Revision) Freshness { return Freshness{exactly, revision} }

// waitFresh waits until the cache is fresh enough for a read. It fails with TooNewError if a requested revision is
// not reached within FutureWait.
func (c *Cache) waitFresh(ctx context.Context, f Freshness) error {
	if err := c.closedError(); err != nil {
		return err
	}
	switch f.mode {
	case anyAge:
		return nil
	case latest:
		now, err := c.store.Revision(ctx)
		if err != nil {
			return fromStore(err)
		}
		return c.progress.wait(ctx, now)
	}
	if c.progress.revision() >= f.revision {
		return nil
	}
	// The revision may be slightly ahead of this process, as when another process has returned it to the client.
	short, cancel := context.WithTimeout(ctx, c.options.FutureWait)
	defer cancel()
	err := c.progress.wait(short, f.revision)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return &TooNewError{Requested: f.revision, Now: c.progress.revision()}
	}
	return err
}
