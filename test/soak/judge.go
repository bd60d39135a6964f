package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// judge collects violations of the invariants. The first one ends the run.
type judge struct {
	end   context.CancelFunc
	began time.Time

	mu         sync.Mutex
	violations []string
}

// violation reports a violated invariant, with the history of an object.
func (j *judge) violation(history []string, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.violations = append(j.violations, text)
	if len(j.violations) <= maxPrinted {
		fmt.Fprintf(os.Stderr, "VIOLATION after %v: %s\n", time.Since(j.began).Round(time.Millisecond), text)
		for _, line := range history {
			fmt.Fprintf(os.Stderr, "  %s\n", line)
		}
	}
	if j.end != nil {
		j.end()
	}
}

// maxPrinted is the maximum number of violations that are printed with their history.
const maxPrinted = 10

// err returns the violations as an error; nil if there are none.
func (j *judge) err() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.violations) == 0 {
		return nil
	}
	return fmt.Errorf("%d violations, the first: %s", len(j.violations), j.violations[0])
}

// counts are figures of the polite users.
type counts struct {
	Confirmed, Unknown, Refused, Noops atomic.Int64 // writes
	Reads, Events, Bookmarks, Resumed  atomic.Int64
	Gaps                               atomic.Int64
	Overloaded                         atomic.Int64 // 429 and 503 that polite users received
	Compared                           atomic.Int64 // objects compared after restarts
}

type count struct {
	name  string
	value *atomic.Int64
}

// all returns the figures in the order of the summary.
func (c *counts) all() []count {
	return []count{
		{"writes confirmed", &c.Confirmed}, {"unknown", &c.Unknown}, {"refused", &c.Refused},
		{"no-ops", &c.Noops}, {"reads", &c.Reads}, {"objects compared", &c.Compared},
		{"events", &c.Events}, {"bookmarks", &c.Bookmarks}, {"watches resumed", &c.Resumed}, {"gaps (410)", &c.Gaps},
		{"429 and 503 of polite users", &c.Overloaded},
	}
}

// values returns the figures in the order of all.
func (c *counts) values() (values []int64) {
	for _, figure := range c.all() {
		values = append(values, figure.value.Load())
	}
	return values
}

// since returns the growth of the figures since the values before, on one line.
func (c *counts) since(before []int64) string {
	var text []string
	for i, figure := range c.all() {
		if n := figure.value.Load() - before[i]; n > 0 {
			text = append(text, fmt.Sprintf("%d %s", n, figure.name))
		}
	}
	return strings.Join(text, ", ")
}

// totals are the figures of the run.
type totals struct {
	counts
	kills, terms, faults, faultRestarts, jumps, settled int
	maxRecovery                                         time.Duration
	peak                                                usage
	hostile                                             tally
}

func (t *totals) print() {
	fmt.Println()
	row := func(name string, value any) { fmt.Printf("%-36s %12v\n", name, value) }
	row("kill -9", t.kills)
	row("SIGTERM", t.terms)
	row("longest restart", t.maxRecovery.Round(time.Millisecond))
	row("disk faults", t.faults)
	row("restarts after disk faults", t.faultRestarts)
	row("clock jumps", t.jumps)
	for _, c := range t.all() {
		row(c.name, c.value.Load())
	}
	row("hostile requests", t.hostile.requests())
	row("hostile responses", strings.TrimPrefix(fmt.Sprint(t.hostile.Statuses), "map"))
	row("peak resident memory", fmt.Sprintf("%d MiB", t.peak.resident>>20))
	row("peak goroutines", t.peak.goroutines)
	row("peak open files", t.peak.files)
	row("returns to idle checked", t.settled)
}
