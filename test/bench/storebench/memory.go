package storebench

import (
	"os"
	"runtime"
	"sync/atomic"

	"github.com/cadastre/cadastre/test/bench/proc"
)

// Memory is what a process has, in bytes.
type Memory struct {
	// Opened is resident when the folder was opened, OpenedPeak the most until then.
	Opened, OpenedPeak int64
	// Live is what Go's heap has after a collection; Other is what the runtime has beside: stacks,
	// its own tables, what it keeps free inside spans.
	Live, Other int64
	// Target is the size that the heap may reach before it is collected again.
	Target int64
	// Collected is resident after a collection.
	Collected int64
	// WorkPeak is the most that is resident while garbage is made as long as two collections take.
	WorkPeak int64
}

// measureMemory calls use after what it first reads: it is there to look at what is measured.
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
	runtime.GC() // what finalizers had kept
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	m.Live, m.Target = int64(stats.HeapAlloc), int64(stats.NextGC)
	m.Other = int64(stats.HeapInuse-stats.HeapAlloc) + int64(stats.StackInuse+stats.MSpanSys+stats.MCacheSys+stats.BuckHashSys+stats.GCSys+stats.OtherSys)
	collected, err := proc.MemoryOf(os.Getpid())
	if err != nil {
		return Memory{}, err
	}
	m.Collected = collected.Resident
	if err := forgetPeak(); err != nil {
		return Memory{}, err
	}
	makeGarbage(2)
	worked, err := proc.MemoryOf(os.Getpid())
	m.WorkPeak = worked.Peak
	return m, err
}

// garbage is where it is put, or the compiler would not take it from the heap.
var garbage atomic.Pointer[[16 << 10]byte]

// makeGarbage allocates until so many collections have begun by themselves.
func makeGarbage(collections uint32) {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	for end := stats.NumGC + collections; stats.NumGC < end; runtime.ReadMemStats(&stats) {
		for range 256 {
			garbage.Store(new([16 << 10]byte))
		}
	}
}

// forgetPeak has the kernel count the peak from now on; see proc(5).
func forgetPeak() error { return os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }
