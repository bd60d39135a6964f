package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"
)

// progress shows on a terminal how far long work is; elsewhere nothing. It may be used concurrently.
type progress struct {
	w   io.Writer // nil if nothing is shown
	now func() time.Time

	mu          sync.Mutex
	start, last time.Time // when it began, and when it was last drawn
	done, total int
	drawn       bool
}

// quietFlag is the flag that turns progress off.
type quietFlag struct{ quiet bool }

func (q *quietFlag) bind(flags *pflag.FlagSet) {
	flags.BoolVarP(&q.quiet, "quiet", "q", false, "show no progress, which is shown on a terminal only")
}

// newProgress is for work whose progress is shown on w.
func newProgress(w io.Writer, quiet bool) *progress {
	p := &progress{now: time.Now, start: time.Now()}
	if isTerminal(w) && !quiet {
		p.w = w
	}
	return p
}

// on reports whether anybody sees it.
func (p *progress) enabled() bool { return p.w != nil }

// expect says that there are some more to do.
func (p *progress) addTotal(more int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total += more
}

// again says that all of it is done once more.
func (p *progress) restart() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done, p.start = 0, p.now()
}

// Work that is done sooner has no progress, and drawing more often than people see it is a waste.
const (
	showAfter    = 300 * time.Millisecond
	drawInterval = 100 * time.Millisecond
)

// step says that one more is done.
func (p *progress) step() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	if now := p.now(); p.enabled() && now.Sub(p.start) >= showAfter && now.Sub(p.last) >= drawInterval {
		p.last, p.drawn = now, true
		fmt.Fprintf(p.w, "\r%s\x1b[K", bar(p.done, p.total, now.Sub(p.start)))
	}
}

// aside lets something else be written to the terminal.
func (p *progress) withoutBar(write func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	write()
}

// beside is a writer to the same terminal, of others.
func (p *progress) wrapWriter(w io.Writer) io.Writer { return progressWriter{p, w} }

type progressWriter struct {
	*progress
	to io.Writer
}

func (b progressWriter) Write(text []byte) (n int, err error) {
	b.withoutBar(func() { n, err = b.to.Write(text) })
	return n, err
}

// end takes it away.
func (p *progress) clearBar() { p.withoutBar(func() {}) }

func (p *progress) clear() {
	if p.drawn {
		p.drawn, p.last = false, time.Time{}
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

// barWidth is how wide a bar is, so that its line fits any terminal.
const barWidth = 30

// bar is one line: a bar if it is known how much there is to do, how much is done, how fast, and how long it
// will take.
func bar(done, total int, took time.Duration) string {
	speed := float64(done) / took.Seconds()
	if total < done || total == 0 {
		return fmt.Sprintf("%d objects, %.0f/s", done, speed)
	}
	filled := barWidth * done / total
	left := time.Duration(float64(total-done) / speed * float64(time.Second)).Round(time.Second)
	return fmt.Sprintf("[%s%s] %d/%d objects, %.0f/s, %v left",
		strings.Repeat("#", filled), strings.Repeat("-", barWidth-filled), done, total, speed, left)
}
