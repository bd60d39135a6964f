package watchcache

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"

	"github.com/cadastre/cadastre/internal/lib/testwait"
)

func TestMemoryInUse(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	debug.SetMemoryLimit(1 << 60)
	used, limit := memoryInUse()
	if used < 1<<20 || limit != 1<<60 || isMemoryShort(used, limit) {
		t.Errorf("memoryInUse() = %d used, limit %d, want at least 1 MiB used and a far greater limit", used, limit)
	}
	if !isMemoryShort(91, 100) || isMemoryShort(89, 100) {
		t.Error("isMemoryShort() is wrong, want true only above nine tenths of the limit")
	}
}

func TestGCPercent(t *testing.T) {
	for live, want := range map[uint64]int{0: 200, 1 << 20: 200, 64 << 20: 200, 128 << 20: 100, 256 << 20: 50, 1 << 30: 15, 100 << 30: 15} {
		if got := gcPercent(live); got != want {
			t.Errorf("gcPercent(%d) = %d, want %d", live, got, want)
		}
	}
}

// TestPaceGC: an open cache with PaceGC lowers GOGC for a large live heap.
func TestPaceGC(t *testing.T) {
	t.Setenv("GOGC", "")
	defer debug.SetGCPercent(debug.SetGCPercent(defaultGCPercent))
	ballast := make([]byte, 256<<20)
	openCache(t, openStore(t), Options{PaceGC: true})
	testwait.For(t, "GOGC to be below 60", func() bool {
		runtime.GC()
		percent := debug.SetGCPercent(defaultGCPercent)
		debug.SetGCPercent(percent)
		return percent < 60
	})
	ballast[0] = 1
}

// BenchmarkGCPacing measures the allocation of 16 KiB of garbage in a process with a live heap of small objects, with Go's
// constant GOGC and with gcPacing. It reports the CPU time, and the peak of the heap divided by its live size.
func BenchmarkGCPacing(b *testing.B) {
	for _, live := range []int{32 << 20, 512 << 20} {
		for _, paced := range []bool{false, true} {
			b.Run(fmt.Sprintf("%dMiB/paced=%v", live>>20, paced), func(b *testing.B) {
				defer debug.SetGCPercent(debug.SetGCPercent(defaultGCPercent))
				type object struct {
					next *object
					_    [1 << 10]byte
				}
				var objects *object
				for range live >> 10 {
					objects = &object{next: objects}
				}
				runtime.GC()
				if paced {
					(&gcPacing{percent: defaultGCPercent}).set(liveHeap())
				}
				runtime.GC()
				var peak uint64
				heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
				before, n := processTime(b), 0
				for b.Loop() {
					garbage = new([16 << 10]byte)
					if n++; n%64 == 0 {
						metrics.Read(heap)
						peak = max(peak, heap[0].Value.Uint64())
					}
				}
				b.ReportMetric(float64(processTime(b)-before)/float64(b.N), "cpu-ns/op")
				b.ReportMetric(float64(peak)/float64(live), "peak/live")
				runtime.KeepAlive(objects)
			})
		}
	}
}

var garbage *[16 << 10]byte
