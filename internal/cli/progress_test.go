package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestBar(t *testing.T) {
	for _, test := range []struct {
		done, total int
		elapsed     time.Duration
		want        string
	}{
		{50, 100, 5 * time.Second, "[###############---------------] 50/100 objects, 10/s, 5s left"},
		{100, 100, 5 * time.Second, "[##############################] 100/100 objects, 20/s, 0s left"},
		{1, 100, time.Second, "[------------------------------] 1/100 objects, 1/s, 1m39s left"},
		{50, 0, 5 * time.Second, "50 objects, 10/s"},
		{50, 40, 5 * time.Second, "50 objects, 10/s"}, // objects were created during the run, so the total is too low
	} {
		if got := bar(test.done, test.total, test.elapsed); got != test.want {
			t.Errorf("bar(%d, %d, %v) = %q, want %q", test.done, test.total, test.elapsed, got, test.want)
		}
	}
}

// TestProgress checks with a fake clock that the bar appears after 300 ms, is redrawn at most every 100 ms, and is erased
// before other output.
func TestProgress(t *testing.T) {
	now := time.Now()
	var shown bytes.Buffer
	p := &progress{w: &shown, start: now, now: func() time.Time { return now }}
	p.addTotal(1000)
	for range 100 {
		now = now.Add(10 * time.Millisecond)
		p.step()
	}
	if n := strings.Count(shown.String(), "\r"); n != 8 { // ten times per second, from 300 ms to 1 s
		t.Errorf("the bar was drawn %d times, want 8: %q", n, shown.String())
	}
	shown.Reset()
	p.withoutBar(func() { shown.WriteString("a line\n") })
	now = now.Add(time.Second)
	p.step()
	drawn := shown.String()
	if _, err := p.wrapWriter(&shown).Write([]byte("a warning\n")); err != nil {
		t.Error(err)
	}
	p.clearBar()
	if got := strings.Replace(shown.String(), drawn, "BAR", 1); !strings.HasPrefix(drawn, "\r\x1b[Ka line\n\r[") || got != "BAR\r\x1b[Ka warning\n" {
		t.Errorf("terminal received %q after %q, want the bar erased before the line and the warning", got, drawn)
	}
}

// TestProgressWithoutTerminal checks that nothing is drawn if the writer is not a terminal.
func TestProgressWithoutTerminal(t *testing.T) {
	var shown bytes.Buffer
	p := newProgress(&shown, false)
	p.start = p.start.Add(-time.Hour)
	p.step()
	p.clearBar()
	if p.enabled() || shown.Len() > 0 {
		t.Errorf("output without a terminal = %q, want none", shown.String())
	}
}
