package objects

import (
	"context"
	"errors"
	"time"

	"github.com/cadastre/cadastre/internal/cache"
	"github.com/cadastre/cadastre/internal/metrics"
	"github.com/cadastre/cadastre/internal/store"
)

// commit has the cache commit, and counts what came of it.
func (o *Objects) commit(ctx context.Context, writes ...store.Write) ([]*cache.Object, store.Revision, error) {
	begun := time.Now()
	written, revision, err := o.Cache.Commit(ctx, writes...)
	result := metrics.Committed
	if conflict := (*store.ConflictError)(nil); errors.As(err, &conflict) {
		result = metrics.Conflicted
	} else if err != nil {
		result = metrics.Failed
	}
	o.Metrics.Commit(result, time.Since(begun))
	return written, revision, err
}
