package managedfields

import (
	"context"
	"log/slog"

	"github.com/cadastre/cadastre/internal/api/crd"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// These constants are exported for the tests in package managedfields_test. These tests are in another package because they
// import package crdtest, which imports package managedfields.
const (
	GenerationRecords = generationRecords
	PendingRecords    = pendingRecords
	ObjectsPerRecord  = objectsPerRecord
	MaxBatchObjects   = maxBatchObjects
	ParallelBatches   = parallelBatches
)

// History summarizes the persisted migration state of a CRD for tests.
type History struct {
	Previous           []int64 // previous generations that are stored
	Pending            int     // number of objects with pending entries
	PendingRecords     int     // number of stored records of pending entries
	Generation, Oldest int64   // M of the package documentation, and the oldest generation to which an entry conforms
	IsMigrated         bool    // reports whether all entries that are not pending conform to the current schema
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

// ReadHistory returns the persisted migration state of a CRD, without generations after d.Generation.
func ReadHistory(ctx context.Context, cache *watchcache.Cache, d *crd.Definition) (History, error) {
	h, err := histories{cache, slog.New(slog.DiscardHandler)}.read(ctx, d)
	return newHistory(h), err
}
