package differential

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// Options configures a search.
type Options struct {
	// Time is the duration of the search, without the time during which the process was stopped. A search also ends
	// when its context is cancelled.
	Time time.Duration
	// Seed is the seed of the first history. It is incremented for each further history.
	Seed uint64
	// Kind is the resource of the histories. If it is empty, histories use all resources.
	Kind string
	// Batch is the number of histories that are compared concurrently; 0 means 32.
	Batch int
	// NoShrink makes the search faster by reporting differences without shrinking their histories.
	NoShrink bool
	// Found is called with each difference of a new kind. Its history is shrunk unless NoShrink is set.
	Found func(Finding) error
	// Lost is called with each finding whose difference was not reproducible.
	Lost func(Finding)
	// Progress is called after every batch.
	Progress func(Progress)
}

// Progress is the state of a search.
type Progress struct {
	Histories, Requests int
	// Compared is the number of requests whose responses were compared. Other requests follow a deliberate difference,
	// or belong to unusable histories.
	Compared int
	// Known maps the titles of deliberate differences to the number of histories that contain them.
	Known map[string]int
	// Unusable maps the reasons for which histories could not be compared to the number of these histories.
	Unusable map[string]int
	// Differing is the number of histories with a difference, Kinds the number of kinds of differences, and Lost the
	// number of histories whose difference was not reproducible.
	Differing, Kinds, Lost int
	// Next is the seed with which a search can be continued.
	Next uint64
	// Time is the time for which the search has been running.
	Time time.Duration
}

// Search compares random histories with pair until options.Time has passed or ctx is cancelled.
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
			break // the search was interrupted: the findings so far are returned
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

// compare retries a comparison that fails, for instance with a timeout on a busy machine, so that the failure does not
// end a long search.
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

// checkKind returns an error if no history uses resource, because the search would then never end.
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

// draw generates the next n histories whose resource is kind, or n histories of all resources if kind is empty.
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

// requestPattern matches the reason for which a history could not be compared, and captures the method and status code
// of the failed request. The rest of the reason is random.
var requestPattern = regexp.MustCompile(`(?s)^.*?(GET|PUT|POST|PATCH|DELETE) \S+: (\d+).*$`)

// count adds a finding to the counters of the progress.
func (p *Progress) count(f Finding) {
	if f.Unusable != "" {
		p.Unusable[requestPattern.ReplaceAllString(f.Unusable, "$1 $2")]++
		return
	}
	p.Compared += f.Compared
	for _, title := range f.Known {
		p.Known[title]++
	}
}

// handle shrinks f and reports it with options.Found if its kind is in seen neither before nor after shrinking. A
// difference that is not reproducible depends on time, for instance on the order of managedFields within a second or on
// a timeout, and is counted as Lost. If shrinking is interrupted, the difference is reported with its whole history.
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
