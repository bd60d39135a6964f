package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"
)

// progress draws a progress bar on a terminal. It is safe for concurrent use.
type progress struct {
	w   io.Writer // nil if the bar is disabled
	now func() time.Time

	mu          sync.Mutex
	start, last time.Time // start of the run, and time at which the bar was last drawn
	done, total int
	drawn       bool
}

// quietFlag holds the flag --quiet.
type quietFlag struct{ quiet bool }

func (q *quietFlag) bind(flags *pflag.FlagSet) {
	flags.BoolVarP(&q.quiet, "quiet", "q", false, "Do not draw a progress bar, which is drawn on terminals only.")
}

// newProgress returns a progress bar that is drawn on w if w is a terminal and quiet is false.
func newProgress(w io.Writer, quiet bool) *progress {
	p := &progress{now: time.Now, start: time.Now()}
	if isTerminal(w) && !quiet {
		p.w = w
	}
	return p
}

// enabled reports whether the bar is drawn at all.
func (p *progress) enabled() bool { return p.w != nil }

// addTotal adds more to the total number of objects.
func (p *progress) addTotal(more int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total += more
}

// restart sets the number of processed objects to 0 and the start time to the current time.
func (p *progress) restart() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done, p.start = 0, p.now()
}

// showAfter is the time after which the bar first appears; drawInterval is the minimum time between two drawings.
const (
	showAfter    = 300 * time.Millisecond
	drawInterval = 100 * time.Millisecond
)

// step counts one processed object and redraws the bar if it is due.
func (p *progress) step() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	if now := p.now(); p.enabled() && now.Sub(p.start) >= showAfter && now.Sub(p.last) >= drawInterval {
		p.last, p.drawn = now, true
		fmt.Fprintf(p.w, "\r%s\x1b[K", bar(p.done, p.total, now.Sub(p.start)))
	}
}

// withoutBar erases the bar and calls write, so that the output of write does not mix with the bar.
func (p *progress) withoutBar(write func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	write()
}

// wrapWriter returns a writer to the same terminal that erases the bar before each write.
func (p *progress) wrapWriter(w io.Writer) io.Writer { return progressWriter{p, w} }

type progressWriter struct {
	*progress
	to io.Writer
}

func (b progressWriter) Write(text []byte) (n int, err error) {
	b.withoutBar(func() { n, err = b.to.Write(text) })
	return n, err
}

// clearBar erases the bar. The next step draws it again.
func (p *progress) clearBar() { p.withoutBar(func() {}) }

func (p *progress) clear() {
	if p.drawn {
		p.drawn, p.last = false, time.Time{}
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

// barWidth is the width of the bar itself in characters. With it, the whole line fits into 80 columns.
const barWidth = 30

// bar formats a line with done, the number of processed objects, and the rate per second. If total is known, it adds a bar
// and the remaining time.
func bar(done, total int, elapsed time.Duration) string {
	speed := float64(done) / elapsed.Seconds()
	if total < done || total == 0 {
		return fmt.Sprintf("%d objects, %.0f/s", done, speed)
	}
	filled := barWidth * done / total
	remaining := time.Duration(float64(total-done) / speed * float64(time.Second)).Round(time.Second)
	return fmt.Sprintf("[%s%s] %d/%d objects, %.0f/s, %v left",
		strings.Repeat("#", filled), strings.Repeat("-", barWidth-filled), done, total, speed, remaining)
}
