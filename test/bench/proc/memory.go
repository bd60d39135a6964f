package proc

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Memory contains figures of the memory of a process, in bytes.
type Memory struct {
	// Resident is the resident set size (VmRSS), Peak its maximum since the process started (VmHWM). Private is the
	// anonymous part of Resident (RssAnon): heap, stacks and written data, without the pages of the executable, which
	// the kernel can drop and read again.
	Resident, Peak, Private int64
}

// MemoryOf returns the current memory of a process.
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
	m.Private, err = statusBytes(status, "RssAnon:")
	return m, err
}

// statusBytes returns the value, in bytes, of the line that starts with name in status, the content of
// /proc/PID/status. Such a line is "VmRSS: 1234 kB".
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

// read returns the content of /proc/PID/file for the process with ID pid.
func read(pid int, file string) (string, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file))
	return string(content), err
}
