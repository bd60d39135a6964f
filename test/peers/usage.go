package peers

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// clockTick is the unit of CPU time in /proc: USER_HZ, which is 100 on every Linux architecture that Go supports.
const clockTick = 10 * time.Millisecond

// Usage is the resource usage of a process.
type Usage struct {
	CPU  time.Duration // user and system time of all its threads
	RSS  int64         // resident memory, in bytes
	Peak int64         // maximum resident memory, in bytes
}

// UsageOf reads the usage of a process from /proc. It works only on Linux.
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
	return Usage{CPU: cpu, RSS: sizeOf(status, "VmRSS:"), Peak: sizeOf(status, "VmHWM:")}, nil
}

// cpuTime returns the sum of utime and stime, fields 14 and 15 of /proc/PID/stat. Field 2, the name of the program, is
// in parentheses and may contain spaces and parentheses, so fields are counted from the last parenthesis.
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

// sizeOf returns the size, in bytes, in the line of status that starts with name, such as "VmRSS: 1234 kB". It returns
// 0 if there is no such line, as for a process that is exiting.
func sizeOf(status []byte, name string) int64 {
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return n << 10
		}
	}
	return 0
}
