package watchcache

import (
	"context"
	"errors"

	"github.com/cadastre/cadastre/internal/storage"
)

// Freshness is the consistency of a read: how current the returned state must be. The zero Freshness is [Latest].
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
	// Latest means that a read includes every write, by any process, that was acknowledged before the read began.
	Latest = Freshness{mode: latest}
	// Any means that a read returns the cache's current state, which includes all writes of this process and may lag behind
	// the writes of other processes.
	Any = Freshness{mode: anyAge}
)

// NotOlderThan returns the Freshness of a read that returns the state at revision or at a later revision.
func NotOlderThan(revision storage.Revision) Freshness { return Freshness{notOlderThan, revision} }

// Exactly returns the Freshness of a read that returns the state at exactly the given revision. Only List supports it.
func Exactly(revision storage.Revision) Freshness { return Freshness{exactly, revision} }

// waitFresh waits until the state of the cache satisfies the Freshness of a read. It returns a TooNewError if a requested
// revision is not reached within FutureWait.
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
			return translateError(err)
		}
		return c.progress.wait(ctx, now)
	}
	if c.progress.revision() >= f.revision {
		return nil
	}
	// A revision in the future is not an error at once: the client may have got it from a server process whose cache is
	// slightly ahead of this one.
	short, cancel := context.WithTimeout(ctx, c.options.FutureWait)
	defer cancel()
	err := c.progress.wait(short, f.revision)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return &TooNewError{Requested: f.revision, Now: c.progress.revision()}
	}
	return err
}
