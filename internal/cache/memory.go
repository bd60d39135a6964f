package cache

import (
	"context"
	"math"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// memoryInterval is how often memory is looked at.
const memoryInterval = 250 * time.Millisecond

// watchMemory lets go of forms when memory is short, and paces the collector if it is to.
func (c *Cache) watchMemory(ctx context.Context) {
	due := time.NewTicker(memoryInterval)
	defer due.Stop()
	pace := pacer{percent: goPercent}
	for {
		if c.options.PaceGC && os.Getenv("GOGC") == "" {
			pace.set(liveHeap())
		}
		c.forms.relieve()
		select {
		case <-due.C:
		case <-ctx.Done():
			return
		}
	}
}

// pacer sets how much garbage there may be before the collector starts. By itself Go lets there be
// as much as there is to keep: where most of it is objects that stay, that would be twice the
// memory for nothing. A small heap may have some anyway, or it would be collected all the time.
type pacer struct{ percent int }

const (
	goPercent    = 100 // Go's own
	leastPercent = 15
	mostPercent  = 200
	someGarbage  = 128 << 20
)

func (p *pacer) set(live uint64) {
	if percent := pacePercent(live); percent != p.percent {
		debug.SetGCPercent(percent)
		p.percent = percent
	}
}

// pacePercent returns the garbage that there may be, by what is kept, in steps of five: it need not
// change all the time.
func pacePercent(live uint64) int {
	percent := someGarbage * 100 / max(live, 1)
	return int(min(max(percent, leastPercent), mostPercent)) / 5 * 5
}

func liveHeap() uint64 {
	samples := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64()
}

// isShort reports whether the program comes close to the memory that it may use.
func isShort(used, limit uint64) bool { return used > limit/10*9 }

// memoryInUse returns how much memory the program uses and may use (see GOMEMLIMIT).
func memoryInUse() (used, limit uint64) {
	limit = uint64(debug.SetMemoryLimit(-1))
	if limit == math.MaxInt64 {
		return 0, limit
	}
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64() - samples[1].Value.Uint64(), limit
}
