package objects

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/cadastre/cadastre/apply"
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

// jsonOf returns the JSON of an object. It is written where there is room, and then copied, so that it need
// not be measured before.
func jsonOf(o apply.Object) []byte {
	room := rooms.Get().(*[]byte)
	defer rooms.Put(room)
	text := o.AppendJSON((*room)[:0])
	if cap(text) <= largestRoom {
		*room = text
	}
	return bytes.Clone(text)
}

const largestRoom = 256 << 10

var rooms = sync.Pool{New: func() any { return new([]byte) }}
