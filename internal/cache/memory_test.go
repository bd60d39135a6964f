package cache

import (
	"runtime/debug"
	"testing"
	"time"
)

func TestMemoryInUse(t *testing.T) {
	limit := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(limit)
	debug.SetMemoryLimit(1 << 60)
	used, most := memoryInUse()
	if used < 1<<20 || most != 1<<60 || isShort(used, most) {
		t.Errorf("%d of %d", used, most)
	}
	if !isShort(91, 100) || isShort(89, 100) {
		t.Error("nine tenths are short")
	}
}

func TestPace(t *testing.T) {
	for live, want := range map[uint64]int{0: 200, 1 << 20: 200, 64 << 20: 200, 128 << 20: 100, 256 << 20: 50, 1 << 30: 15, 100 << 30: 15} {
		if got := pacePercent(live); got != want {
			t.Errorf("%d: %d, want %d", live, got, want)
		}
	}
}

// TestPaceGC: it is set when the cache is open, by what there is to keep.
func TestPaceGC(t *testing.T) {
	t.Setenv("GOGC", "")
	defer debug.SetGCPercent(debug.SetGCPercent(goPercent))
	ballast := make([]byte, 256<<20)
	openCache(t, openStore(t), Options{PaceGC: true})
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(memoryInterval / 4) {
		debug.FreeOSMemory()
		percent := debug.SetGCPercent(goPercent)
		debug.SetGCPercent(percent)
		if percent < 60 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("it is %d", percent)
		}
	}
	ballast[0] = 1
}
