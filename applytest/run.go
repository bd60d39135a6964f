package applytest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"
)

// Options say what to run, and where. Only Config is required.
type Options struct {
	// Config is the server's address and the credentials of somebody who may make and delete namespaces, or write to
	// the one of Namespace. Scripts that do what this user may not are skipped.
	Config *rest.Config
	// Namespace is one that is there, for all scripts, which then run one after the other. If it is empty, each script
	// has one of its own.
	Namespace string
	// Scripts is a folder of scripts; those of this package if nil.
	Scripts fs.FS
	// Run selects scripts by name, such as "removal/last-owner"; all if nil.
	Run *regexp.Regexp
	// Parallel is how many scripts run at once; 8 if 0, and always 1 in a given Namespace.
	Parallel int
	// AnswerTime is how long the server may take to answer a request, or to begin a watch; a minute if 0.
	AnswerTime time.Duration
	// CleanTime is how long it may take to remove what a script has made, and at the end what is still being deleted;
	// half a minute if 0.
	CleanTime time.Duration
	// Keep leaves in place what the scripts have made.
	Keep bool
	// Progress is called after each script, by one goroutine at a time.
	Progress func(done, total int, result Result)
	// Record is called with the new text of each script whose expectations do not hold or are empty. They are
	// then rewritten from what the server answers instead of failing. What Kubernetes has answered is not
	// replaced by what another implementation answers.
	Record func(name string, text []byte) error
}

const (
	defaultParallel   = 8
	defaultAnswerTime = time.Minute
	defaultCleanTime  = 30 * time.Second
)

// Run runs scripts against a server. The error is about what kept them from running; what they found is in
// the report. When the context ends, scripts stop, what they have made is removed, and the report has those that
// ended before; so it is when the server is gone.
func Run(ctx context.Context, options Options) (*Report, error) {
	if options.Config == nil {
		return nil, errors.New("applytest: Options.Config: expected the server's address, received none")
	}
	scripts, err := Scripts(options.Scripts, options.Run)
	if err != nil {
		return nil, err
	}
	if err := options.checkShared(scripts); err != nil {
		return nil, err
	}
	s, err := connect(ctx, options)
	if err != nil {
		return nil, err
	}
	report := &Report{Server: s.url, Version: s.version, Implementation: s.implementation, Scripts: len(scripts)}
	ctx, s.stop = context.WithCancelCause(ctx)
	defer s.stop(nil)
	if err := s.settleIn(ctx, scripts); err != nil {
		for _, left := range s.settle(ctx) {
			err = fmt.Errorf("%w; %s could not be removed: %s", err, left.Path, left.Reason)
		}
		return nil, err
	}
	report.Results, err = s.playAll(ctx, scripts, options)
	switch {
	case errors.Is(err, context.Canceled):
		report.Stopped = "interrupted"
	case err != nil:
		report.Stopped = err.Error()
	}
	s.leaveHome(ctx)
	report.Left = s.settle(ctx)
	return report, err
}

func (o *Options) parallel() int {
	if o.Namespace != "" {
		return 1
	}
	return cmp.Or(o.Parallel, defaultParallel)
}

// playAll runs scripts side by side, and returns the results in the order of the scripts.
func (s *server) playAll(ctx context.Context, scripts []*Script, options Options) ([]Result, error) {
	var mu sync.Mutex
	done := 0
	results := make([]Result, len(scripts))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(options.parallel())
	for i, script := range scripts {
		group.Go(func() error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			result, recorded := s.play(ctx, script, options.Record != nil, options.Keep)
			mu.Lock()
			defer mu.Unlock()
			if ctx.Err() != nil && result.Outcome == Fail {
				return context.Cause(ctx) // it was stopped: that says nothing about the server
			}
			results[i] = result
			done++
			if options.Progress != nil {
				options.Progress(done, len(scripts), result)
			}
			if options.Record != nil {
				if err := script.record(recorded, options.Record); err != nil {
					return err
				}
			}
			return context.Cause(ctx)
		})
	}
	err := group.Wait()
	return slices.DeleteFunc(results, func(r Result) bool { return r.Outcome == "" }), err
}
