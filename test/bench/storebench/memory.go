package storebench

import (
	"os"
	"runtime"
	"sync/atomic"

	"github.com/cadastre/cadastre/test/bench/proc"
)

// Memory contains figures of the memory of a process, in bytes.
type Memory struct {
	// Opened is the resident memory after opening the data folder; OpenedPeak is the peak until then.
	Opened, OpenedPeak int64
	// Live is the size of Go's heap after a garbage collection. Other is further memory of the runtime: stacks,
	// metadata, and free memory in spans.
	Live, Other int64
	// Target is the heap size at which the next garbage collection starts.
	Target int64
	// Collected is the resident memory after a garbage collection.
	Collected int64
	// WorkPeak is the peak of the resident memory while garbage is allocated, until two collections have started.
	WorkPeak int64
}

// measureMemory measures the memory of this process. It calls use after reading Opened and OpenedPeak.
func measureMemory(use func() error) (m Memory, err error) {
	opened, err := proc.MemoryOf(os.Getpid())
	if err != nil {
		return Memory{}, err
	}
	m.Opened, m.OpenedPeak = opened.Resident, opened.Peak
	if err := use(); err != nil {
		return Memory{}, err
	}
	runtime.GC()
	runtime.GC() // a second collection frees objects that finalizers retained
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	m.Live, m.Target = int64(stats.HeapAlloc), int64(stats.NextGC)
	m.Other = int64(stats.HeapInuse-stats.HeapAlloc) + int64(stats.StackInuse+stats.MSpanSys+stats.MCacheSys+stats.BuckHashSys+stats.GCSys+stats.OtherSys)
	collected, err := proc.MemoryOf(os.Getpid())
	if err != nil {
		return Memory{}, err
	}
	m.Collected = collected.Resident
	if err := resetPeak(); err != nil {
		return Memory{}, err
	}
	allocateGarbage(2)
	worked, err := proc.MemoryOf(os.Getpid())
	m.WorkPeak = worked.Peak
	return m, err
}

// garbage is a global variable, so that the compiler allocates its values on the heap.
var garbage atomic.Pointer[[16 << 10]byte]

// allocateGarbage allocates memory until the runtime has started the given number of garbage collections.
func allocateGarbage(collections uint32) {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	for end := stats.NumGC + collections; stats.NumGC < end; runtime.ReadMemStats(&stats) {
		for range 256 {
			garbage.Store(new([16 << 10]byte))
		}
	}
}

// resetPeak resets the kernel's peak of the resident memory of this process; see proc(5).
func resetPeak() error { return os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }
