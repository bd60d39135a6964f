package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// usage are the resources that the server uses.
type usage struct {
	resident   int64 // bytes
	goroutines int
	files      int
}

// most returns the maxima of both.
func (u usage) most(other usage) usage {
	return usage{max(u.resident, other.resident), max(u.goroutines, other.goroutines), max(u.files, other.files)}
}

// processUsage returns the resident memory and the open files of a process.
func processUsage(pid int) (u usage, err error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return u, err
	}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "VmRSS:" {
			kilobytes, err := strconv.ParseInt(fields[1], 10, 64)
			if err != nil {
				return u, err
			}
			u.resident = kilobytes << 10
		}
	}
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	u.files = len(files)
	return u, err
}

// goroutines returns the number of goroutines of the server, from its metrics.
func goroutines(ctx context.Context, operator *user) (int, error) {
	text, err := operator.do(ctx, request{method: "GET", path: "/metrics"})
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if value, found := strings.CutPrefix(line, "go_goroutines "); found {
			return strconv.Atoi(strings.TrimSpace(value))
		}
	}
	return 0, fmt.Errorf("/metrics: expected go_goroutines")
}

// sampler samples the memory of the server and compares it with the limit.
type sampler struct {
	judge *judge
	limit int64

	mu   sync.Mutex
	peak usage
}

// sampleInterval is the time between two samples of the memory.
const sampleInterval = 100 * time.Millisecond

// run samples a process until the context ends or the process does.
func (s *sampler) run(ctx context.Context, pid int) {
	isOver := false
	for wait(ctx, sampleInterval) {
		u, err := processUsage(pid)
		if err != nil || u.resident == 0 { // the process has ended
			return
		}
		s.note(u)
		if u.resident > s.limit && !isOver {
			isOver = true
			s.judge.violation(nil, "resident memory: expected at most %d MiB, received %d MiB", s.limit>>20, u.resident>>20)
		}
	}
}

// note includes a sample in the peak.
func (s *sampler) note(u usage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.peak = s.peak.most(u)
}

// most returns the peak of all samples.
func (s *sampler) most() usage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.peak
}

// The maximum growth of the idle server between the start and the end of the load, which allows for caches and for connections
// of the driver.
const (
	extraGoroutines = 100
	extraFiles      = 64
)

// settleTimeout is longer than the time after which the server closes idle connections and ends stalled responses.
const settleTimeout = 4 * time.Minute

// measure returns the present use of resources.
func (w *world) measure(ctx context.Context) (usage, error) {
	u, err := processUsage(w.server.pid())
	if err != nil {
		return u, err
	}
	u.goroutines, err = goroutines(ctx, w.operator)
	w.sampler.note(u)
	return u, err
}

// settle waits until goroutines and open files have returned to those before the load, plus a constant.
func (w *world) settle(ctx context.Context, idle usage) {
	began := time.Now()
	for {
		u, err := w.measure(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			w.judge.violation(nil, "measuring the server: %v", err)
			return
		case u.goroutines <= idle.goroutines+extraGoroutines && u.files <= idle.files+extraFiles:
			w.totals.settled++
			return
		case time.Since(began) > settleTimeout:
			w.judge.violation(nil, "%v after the load: expected at most %d goroutines and %d files, as before the load, received %d and %d",
				settleTimeout, idle.goroutines+extraGoroutines, idle.files+extraFiles, u.goroutines, u.files)
			return
		}
		wait(ctx, time.Second)
	}
}
