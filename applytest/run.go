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

// Options configure a run. Only Config is required.
type Options struct {
	// Config contains the address of the server and the credentials of a user that may create and delete namespaces, or write
	// to Namespace. Scripts that need more permissions are skipped.
	Config *rest.Config
	// Namespace is an existing namespace in which all scripts run, one at a time. If it is empty, a namespace is created for
	// each script.
	Namespace string
	// Scripts is a file system whose folders contain the scripts; nil means the scripts of this package.
	Scripts fs.FS
	// Run selects the scripts whose names it matches, such as "removal/last-owner"; nil selects all scripts.
	Run *regexp.Regexp
	// Parallel is the number of scripts that run at the same time; 0 means 8. With Namespace, scripts always run one at a
	// time.
	Parallel int
	// RequestTimeout is the maximum time to wait for a response or for the start of a watch; 0 means one minute.
	RequestTimeout time.Duration
	// CleanupTimeout is the maximum time for deleting the objects of a script and, at the end of the run, for deleting
	// the objects that remain; 0 means 30 seconds.
	CleanupTimeout time.Duration
	// Keep leaves the objects of the scripts on the server instead of deleting them.
	Keep bool
	// Progress, if not nil, is called after each script; calls are never concurrent.
	Progress func(done, total int, result Result)
	// Record, if not nil, is called with the new text of each script that has failing or empty expectations. Such expectations
	// do not fail the script; the new text contains the server's responses in their place. Responses of another implementation
	// never replace responses of Kubernetes.
	Record func(name string, text []byte) error
}

const (
	defaultParallel       = 8
	defaultRequestTimeout = time.Minute
	defaultCleanupTimeout = 30 * time.Second
)

// Run runs scripts against a server. It returns an error if the scripts could not run; failures of scripts are in the report.
// If the context is canceled or the server stops responding, the running scripts stop, their objects are deleted, and the
// report contains the results so far.
func Run(ctx context.Context, options Options) (*Report, error) {
	if options.Config == nil {
		return nil, errors.New("applytest: Options.Config must be set")
	}
	scripts, err := Scripts(options.Scripts, options.Run)
	if err != nil {
		return nil, err
	}
	if err := options.checkNamespaceOptions(scripts); err != nil {
		return nil, err
	}
	s, err := connect(ctx, options)
	if err != nil {
		return nil, err
	}
	report := &Report{Server: s.url, Version: s.version, Implementation: s.implementation, Scripts: len(scripts)}
	ctx, s.stop = context.WithCancelCause(ctx)
	defer s.stop(nil)
	if err := s.prepareNamespace(ctx, scripts); err != nil {
		for _, left := range s.removePending(ctx) {
			err = fmt.Errorf("%w; %s could not be deleted: %s", err, left.Path, left.Reason)
		}
		return nil, err
	}
	report.Results, err = s.runScripts(ctx, scripts, options)
	switch {
	case errors.Is(err, context.Canceled):
		report.Stopped = "interrupted"
	case err != nil:
		report.Stopped = err.Error()
	}
	s.removeNamespace(ctx)
	report.Leftovers = s.removePending(ctx)
	return report, err
}

func (o *Options) parallel() int {
	if o.Namespace != "" {
		return 1
	}
	return cmp.Or(o.Parallel, defaultParallel)
}

// runScripts runs the scripts in parallel, as many at once as options allow, and returns their results in the order of
// scripts.
func (s *server) runScripts(ctx context.Context, scripts []*Script, options Options) ([]Result, error) {
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
			result, recorded := s.runScript(ctx, script, options.Record != nil, options.Keep)
			mu.Lock()
			defer mu.Unlock()
			if ctx.Err() != nil && result.Outcome == Fail {
				return context.Cause(ctx) // the run was canceled, which is not a failure of the server
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
