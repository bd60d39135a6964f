package proc

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Tick is the unit of CPU times in /proc, on every architecture that Go supports.
const Tick = time.Second / 100

// CPU returns the CPU time that a process has used so far, user and system.
func CPU(pid int) (time.Duration, error) {
	stat, err := read(pid, "stat")
	if err != nil {
		return 0, err
	}
	return parseStat(stat)
}

// parseStat returns the sum of utime and stime, fields 14 and 15 of /proc/PID/stat (see proc(5)). The second field is
// the command in parentheses, which may contain spaces, so the fields are counted from its closing parenthesis.
func parseStat(stat string) (time.Duration, error) {
	const firstCounted, utime, stime = 3, 14, 15
	end := strings.LastIndexByte(stat, ')')
	fields := strings.Fields(stat[end+1:])
	if end < 0 || len(fields) <= stime-firstCounted {
		return 0, fmt.Errorf("expected the fields of proc(5), received %q", stat)
	}
	var used time.Duration
	for _, field := range []int{utime, stime} {
		ticks, err := strconv.ParseInt(fields[field-firstCounted], 10, 64)
		if err != nil {
			return 0, err
		}
		used += time.Duration(ticks) * Tick
	}
	return used, nil
}
