package differential

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// Options configure a search.
type Options struct {
	// Time is the duration of the search, without time during which the process was stopped. A search also ends with
	// its context.
	Time time.Duration
	// Seed is the seed of the first history; it is incremented for each further one.
	Seed uint64
	// Kind is the resource of the histories; empty for all.
	Kind string
	// Batch is the number of histories that are compared concurrently; 0 means 32.
	Batch int
	// NoShrink disables shrinking, which is faster.
	NoShrink bool
	// Found is called with each difference of a new kind, shrunk unless Whole is set.
	Found func(Finding) error
	// Lost is called with each difference that was not reproducible.
	Lost func(Finding)
	// Progress is called after every batch.
	Progress func(Progress)
}

// Progress is the state of a search.
type Progress struct {
	Histories, Requests int
	// Compared is the number of requests whose responses were compared. The others follow a deliberate difference, or
	// are of Unusable histories.
	Compared int
	// Known maps titles of deliberate differences to the number of histories that contain them.
	Known map[string]int
	// Unusable maps reasons why histories could not be compared to their numbers.
	Unusable map[string]int
	// Differing is the number of histories that differ, Sorts the number of kinds of differences, Lost the number of
	// histories whose difference was not reproducible.
	Differing, Kinds, Lost int
	// Next is the seed to continue with.
	Next uint64
	// Time is the running time of the search.
	Time time.Duration
}

// Search compares random histories until the time is up.
func Search(ctx context.Context, pair Pair, options Options) (Progress, error) {
	if options.Batch == 0 {
		options.Batch = 32
	}
	if err := checkKind(options.Kind); err != nil {
		return Progress{}, err
	}
	progress := Progress{Next: options.Seed, Known: map[string]int{}, Unusable: map[string]int{}}
	seen := map[string]bool{}
	watch := startStopwatch()
	defer watch.stop()
	for watch.elapsed() < options.Time && ctx.Err() == nil {
		histories, err := progress.draw(options.Batch, options.Kind)
		if err != nil {
			return progress, err
		}
		findings, err := compare(ctx, pair, histories)
		if ctx.Err() != nil {
			break // interrupted: return the findings so far
		}
		if err != nil {
			return progress, err
		}
		for _, f := range findings {
			progress.count(f)
			if err := progress.handle(ctx, pair, f, seen, options); err != nil {
				return progress, err
			}
		}
		progress.Time = watch.elapsed()
		if options.Progress != nil {
			options.Progress(progress)
		}
	}
	return progress, nil
}

// A comparison that fails, such as by a timeout on a busy machine, is retried, so that it does not end a long search.
const (
	maxAttempts = 5
	retryDelay  = 5 * time.Second
)

func compare(ctx context.Context, pair Pair, histories []History) (findings []Finding, err error) {
	for range maxAttempts {
		if findings, err = pair.Compare(ctx, histories); err == nil {
			return findings, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(retryDelay):
		}
	}
	return nil, err
}

// checkKind rejects a resource that no history has, for which no history would ever be drawn.
func checkKind(resource string) error {
	kinds, err := vocabulary()
	if err != nil || resource == "" {
		return err
	}
	var known []string
	for _, k := range kinds {
		if k.resource == resource {
			return nil
		}
		known = append(known, k.resource)
	}
	return fmt.Errorf("kind: expected one of %s, received %q", strings.Join(known, ", "), resource)
}

// draw generates the next n histories of a resource, or of any.
func (p *Progress) draw(n int, kind string) ([]History, error) {
	var histories []History
	for len(histories) < n {
		h, err := Generate(p.Next)
		if err != nil {
			return nil, err
		}
		p.Next++
		if kind != "" && h.Resource != kind {
			continue
		}
		p.Requests += len(h.Steps)
		histories = append(histories, h)
	}
	p.Histories += n
	return histories, nil
}

// requestIn extracts the method and status of the failed request from a reason; the object is random.
var requestIn = regexp.MustCompile(`(?s)^.*?(GET|PUT|POST|PATCH|DELETE) \S+: (\d+).*$`)

// count adds a finding to the counters.
func (p *Progress) count(f Finding) {
	if f.Unusable != "" {
		p.Unusable[requestIn.ReplaceAllString(f.Unusable, "$1 $2")]++
		return
	}
	p.Compared += f.Compared
	for _, title := range f.Known {
		p.Known[title]++
	}
}

// handle shrinks and reports a finding, if it is of a new kind before and after shrinking. A difference that is not
// reproducible depends on time, such as the order of managedFields within a second or a timeout, and is counted as
// Lost. A finding whose shrinking is interrupted is reported unshrunk.
func (p *Progress) handle(ctx context.Context, pair Pair, f Finding, seen map[string]bool, options Options) error {
	if !f.Differs() {
		return nil
	}
	if seen[f.Signature()] {
		p.Differing++
		return nil
	}
	again, err := compare(ctx, pair, []History{f.History})
	if err == nil && !again[0].Differs() {
		p.Lost++
		if options.Lost != nil {
			options.Lost(f)
		}
		return nil
	}
	small := f
	if err == nil && !options.NoShrink {
		small, err = Shrink(ctx, pair, f)
	}
	if err != nil && ctx.Err() == nil {
		return err
	}
	p.Differing++
	seen[f.Signature()] = true
	if seen[small.Signature()] && small.Signature() != f.Signature() {
		return nil
	}
	seen[small.Signature()] = true
	p.Kinds++
	return options.Found(small)
}
