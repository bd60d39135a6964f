package peers

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// clockTick is the unit of processor time in /proc: USER_HZ, which is 100 on every architecture of Linux
// that Go supports.
const clockTick = 10 * time.Millisecond

// Usage is what a process has used so far.
type Usage struct {
	CPU  time.Duration // user and system time of all its threads
	RSS  int64         // memory that is resident now, in bytes
	Peak int64         // the most that ever was resident, in bytes
}

// UsageOf reads the usage of a process from /proc, so that it works on Linux only.
func UsageOf(pid int) (Usage, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return Usage{}, err
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return Usage{}, err
	}
	cpu, err := cpuTime(stat)
	if err != nil {
		return Usage{}, fmt.Errorf("/proc/%d/stat: %w", pid, err)
	}
	return Usage{CPU: cpu, RSS: sizeIn(status, "VmRSS:"), Peak: sizeIn(status, "VmHWM:")}, nil
}

// cpuTime adds utime and stime, fields 14 and 15. The program's name, field 2, is in parentheses and may
// have spaces and parentheses itself, so that counting starts after the last of them.
func cpuTime(stat []byte) (time.Duration, error) {
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	const utime, stime = 14 - 3, 15 - 3
	if len(fields) <= stime {
		return 0, fmt.Errorf("expected at least 15 fields, received %q", stat)
	}
	var ticks int64
	for _, field := range fields[utime : stime+1] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * clockTick, nil
}

// sizeIn finds a line like "VmRSS:   1234 kB". A process that is ending has none.
func sizeIn(status []byte, name string) int64 {
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return n << 10
		}
	}
	return 0
}
