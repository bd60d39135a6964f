package proc

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Memory is what a process has in memory, in bytes.
type Memory struct {
	// Resident is all of it, Peak the most that ever was. Proportional counts what is shared with
	// others, such as a program that runs twice, only in part.
	Resident, Peak, Proportional int64
}

// MemoryOf reads the memory of a process.
func MemoryOf(pid int) (m Memory, err error) {
	status, err := read(pid, "status")
	if err != nil {
		return Memory{}, err
	}
	if m.Resident, err = statusBytes(status, "VmRSS:"); err != nil {
		return Memory{}, err
	}
	if m.Peak, err = statusBytes(status, "VmHWM:"); err != nil {
		return Memory{}, err
	}
	maps, err := read(pid, "smaps_rollup")
	if err != nil {
		return Memory{}, err
	}
	m.Proportional, err = statusBytes(maps, "Pss:")
	return m, err
}

// Resident is what a process has in memory now, and the most that it ever had. It costs less than
// [MemoryOf], for which the kernel looks at every page.
func Resident(pid int) (now, most int64, err error) {
	status, err := read(pid, "status")
	if err != nil {
		return 0, 0, err
	}
	if now, err = statusBytes(status, "VmRSS:"); err != nil {
		return 0, 0, err
	}
	most, err = statusBytes(status, "VmHWM:")
	return now, most, err
}

// statusBytes finds a line such as "VmRSS:     1234 kB".
func statusBytes(status, name string) (int64, error) {
	for line := range strings.Lines(status) {
		fields := strings.Fields(line)
		if len(fields) == 3 && fields[0] == name && fields[2] == "kB" {
			kilobytes, err := strconv.ParseInt(fields[1], 10, 64)
			return kilobytes << 10, err
		}
	}
	return 0, fmt.Errorf("expected %s in kB, received %q", name, status)
}

// read returns a file of a process below /proc.
func read(pid int, file string) (string, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file))
	return string(content), err
}
