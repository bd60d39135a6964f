package proc

import (
	"os"
	"strings"
	"testing"
)

func TestStatusBytes(t *testing.T) {
	const status = "VmPeak:\t  12 kB\nVmRSS:\t     3 kB\n"
	if got, err := statusBytes(status, "VmRSS:"); err != nil || got != 3<<10 {
		t.Errorf("%d, %v", got, err)
	}
	if _, err := statusBytes(status, "VmHWM:"); err == nil || !strings.Contains(err.Error(), "VmHWM") {
		t.Errorf("error %v, want one that names what is not there", err)
	}
}

func TestMemoryOf(t *testing.T) {
	m, err := MemoryOf(os.Getpid())
	if err != nil || m.Resident < 1<<20 || m.Peak < m.Resident || m.Private == 0 || m.Private > m.Resident {
		t.Errorf("%+v, %v", m, err)
	}
	if _, err := MemoryOf(-1); err == nil {
		t.Error("expected an error for a process that does not exist")
	}
}
