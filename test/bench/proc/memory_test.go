package proc

import (
	"os"
	"strings"
	"testing"
)

func TestStatusBytes(t *testing.T) {
	const status = "VmPeak:\t  12 kB\nVmRSS:\t     3 kB\n"
	if got, err := statusBytes(status, "VmRSS:"); err != nil || got != 3<<10 {
		t.Errorf("statusBytes() = %d, %v, want 3072", got, err)
	}
	if _, err := statusBytes(status, "VmHWM:"); err == nil || !strings.Contains(err.Error(), "VmHWM") {
		t.Errorf("statusBytes() = %v, want an error that names VmHWM", err)
	}
}

func TestMemoryOf(t *testing.T) {
	m, err := MemoryOf(os.Getpid())
	if err != nil || m.Resident < 1<<20 || m.Peak < m.Resident || m.Private == 0 || m.Private > m.Resident {
		t.Errorf("MemoryOf() = %+v, %v, want consistent sizes", m, err)
	}
	if _, err := MemoryOf(-1); err == nil {
		t.Error("MemoryOf(-1) succeeded, want an error")
	}
}
