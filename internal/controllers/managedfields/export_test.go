package managedfields

import (
	"context"
	"log/slog"

	"github.com/cadastre/cadastre/internal/api/crd"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// For tests in package managedfields_test, which can import the controller of definitions.
const (
	GenerationRecords = generationRecords
	PendingRecords    = pendingRecords
	ObjectsPerRecord  = objectsPerRecord
	MaxBatchObjects   = maxBatchObjects
	ParallelBatches   = parallelBatches
)

// History is the persisted state of a definition.
type History struct {
	Previous           []int64 // generations
	Pending            int     // number of objects
	PendingRecords     int
	Generation, Oldest int64
	IsMigrated         bool
}

func newHistory(h history) History {
	out := History{
		Pending: len(h.pending.objects), PendingRecords: len(h.pending.records),
		Generation: h.pending.generation, Oldest: h.pending.oldest(), IsMigrated: h.isMigrated(),
	}
	for _, g := range h.previous {
		out.Previous = append(out.Previous, g.Generation)
	}
	return out
}

// ReadHistory returns the persisted state of a definition before its generation.
func ReadHistory(ctx context.Context, cache *watchcache.Cache, d *crd.Definition) (History, error) {
	h, err := histories{cache, slog.New(slog.DiscardHandler)}.read(ctx, d)
	return newHistory(h), err
}
