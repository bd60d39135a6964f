package pebble

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestCloseEndsGoroutines: no goroutine of the store is left after Close.
func TestCloseEndsGoroutines(t *testing.T) {
	before := countGoroutines()
	for range 3 {
		s := open(t, Options{Folder: t.TempDir(), ProgressInterval: time.Millisecond})
		g := startWriterGroup(s, 4)
		w, err := s.Watch(t.Context(), "left/", 0)
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			for {
				if _, err := w.Next(context.Background()); err != nil {
					return
				}
			}
		}()
		waitFor(t, func() bool { return g.commits() > 100 })
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		g.stop()
	}
	waitFor(t, func() bool { return countGoroutines() <= before })
}

// countGoroutines returns the number of goroutines that execute code of this package or of Pebble.
func countGoroutines() int {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	count := 0
	for stack := range strings.SplitSeq(string(stacks), "\n\n") {
		if strings.Contains(stack, "storage/pebble.(*") || strings.Contains(stack, "cockroachdb/pebble") {
			count++
		}
	}
	return count
}
