package storebench

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of times below /proc on every architecture that Go runs on.
const tick = time.Second / 100

// cpuTime is the time that a process has spent on CPUs, in the kernel too.
func cpuTime(pid int) (time.Duration, error) {
	name := fmt.Sprintf("/proc/%d/stat", pid)
	stat, err := os.ReadFile(name)
	if err != nil {
		return 0, err
	}
	used, err := parseStat(string(stat))
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	return used, nil
}

// parseStat adds utime and stime, fields 14 and 15 of proc(5). The second field is the command in
// parentheses and may have spaces, so counting starts after it.
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
		used += time.Duration(ticks) * tick
	}
	return used, nil
}
