package differential

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// Options say how long to search, and whom to tell.
type Options struct {
	// Time is how long to go on, without the time in which the process was stopped; a search also ends when the
	// context does.
	Time time.Duration
	// Seed is that of the first history. Each next one has the next number.
	Seed uint64
	// Kind is the resource that histories are about; empty for any.
	Kind string
	// Batch is how many histories are compared at once; 32 if 0.
	Batch int
	// Whole leaves what differs as it was drawn, which is found in less time.
	Whole bool
	// Found is called with each difference of a new sort, shrunk unless it is to be left whole.
	Found func(Finding) error
	// Lost is called with each difference that did not come back when the same was asked again.
	Lost func(Finding)
	// Progress is called after every batch.
	Progress func(Progress)
}

// Progress is how far a search has come.
type Progress struct {
	Histories, Requests int
	// Compared is how many of the requests had their answers compared. The others come after a deliberate difference,
	// or are of histories that are Unusable.
	Compared int
	// Known is in how many histories each deliberate difference was, by its title.
	Known map[string]int
	// Unusable is why histories could not be compared, such as those that edit what is not there, and how many.
	Unusable map[string]int
	// Differing histories are of Sorts different sorts; Lost ones differed once and not again.
	Differing, Sorts, Lost int
	// Next is the seed to go on from.
	Next uint64
	// Time is how long the search was running.
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
			break // interrupted: what was found until now counts
		}
		if err != nil {
			return progress, err
		}
		for _, f := range findings {
			progress.count(f)
			if err := progress.take(ctx, pair, f, seen, options); err != nil {
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

// A server that does not answer in time on a busy machine is asked again: it would be a pity about the hour.
const (
	tries    = 5
	patience = 5 * time.Second
)

func compare(ctx context.Context, pair Pair, histories []History) (findings []Finding, err error) {
	for range tries {
		if findings, err = pair.Compare(ctx, histories); err == nil {
			return findings, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(patience):
		}
	}
	return nil, err
}

// checkKind refuses a kind that no history is about: it would be drawn for ever.
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

// draw makes the next histories, of a kind or of any.
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

// requestIn finds in why a history can't be compared the request that failed, and how: which object it was is drawn.
var requestIn = regexp.MustCompile(`(?s)^.*?(GET|PUT|POST|PATCH|DELETE) \S+: (\d+).*$`)

// count adds up what was compared, and why the rest was not.
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

// take shrinks a finding if it is of a new sort, before and after. One that does not come back when the same is asked
// again was a matter of time: owners are in the order of the seconds in which they wrote, and a server that is stopped
// for a while does not answer. What is interrupted is told as it is.
func (p *Progress) take(ctx context.Context, pair Pair, f Finding, seen map[string]bool, options Options) error {
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
	if err == nil && !options.Whole {
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
	p.Sorts++
	return options.Found(small)
}
