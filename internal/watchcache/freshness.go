package watchcache

import (
	"context"
	"errors"

	"github.com/cadastre/cadastre/internal/storage"
)

// Freshness says how new must be what is read. The zero Freshness is Latest.
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

// Latest reads show all that was acknowledged before they began, by whichever process. Any
// reads show what the cache has, which is all that this process has written, and may be behind
// others.
var (
	Latest = Freshness{mode: latest}
	Any    = Freshness{mode: anyAge}
)

// NotOlderThan reads show the state at a revision, or a newer one.
func NotOlderThan(revision storage.Revision) Freshness { return Freshness{notOlderThan, revision} }

// Exactly is for lists that show the state at a revision.
func Exactly(revision storage.Revision) Freshness { return Freshness{exactly, revision} }

// freshen waits until the cache is as fresh as it must be.
func (c *Cache) freshen(ctx context.Context, f Freshness) error {
	if err := c.openError(); err != nil {
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
	// It may be a moment ahead, as when another process has given it out.
	short, cancel := context.WithTimeout(ctx, c.options.FutureWait)
	defer cancel()
	err := c.progress.wait(short, f.revision)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return &TooNewError{Wanted: f.revision, Now: c.progress.revision()}
	}
	return err
}
