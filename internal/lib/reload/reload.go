// Package reload loads configuration again when its files change, without a restart of the process.
//
// A [Source] is the content of one or several files and the function that puts it into effect. [Reloader.Run] observes the files
// with the operating system's notifications and, because notifications can be lost, every minute. [Reloader.Reload] loads all
// sources at once, for SIGHUP.
//
// # Invariants
//
//   - The content of all files of a source is passed to Load together, so that a certificate and its key change together.
//   - If Load fails, the content that was loaded before stays in effect. The error is logged once per content.
//   - Loads of a source never run concurrently. Sources do not wait for each other.
package reload

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apiserver/pkg/util/filesystem"
)

const (
	// pollInterval is the interval at which files are compared even without a notification, as in kube-apiserver.
	pollInterval = time.Minute
	// settleTime is the time between a notification and the load. Programs that write several files, or a file in several steps,
	// have finished by then in most cases; otherwise the next notification loads the files again.
	settleTime = 100 * time.Millisecond
)

// Source is configuration in files.
type Source struct {
	// Name is the name of the configuration in logs, such as "token file".
	Name string
	// Files are the names of the files.
	Files []string
	// Load puts the contents of the files into effect; contents[i] is the content of Files[i]. If it returns an error, the
	// previous contents stay in effect.
	Load func(ctx context.Context, contents [][]byte) error
	// Report is called with the result of each load after the first one. It is optional.
	Report func(err error)
}

// Temporary marks an error of Source.Load that does not depend on the contents of the files alone: the same contents are loaded again
// at the next poll.
func Temporary(err error) error { return &temporaryError{err} }

type temporaryError struct{ error }

func (e *temporaryError) Unwrap() error { return e.error }

// Reloader loads sources again. Create it with New. It is safe for concurrent use.
type Reloader struct {
	log *slog.Logger

	mu      sync.Mutex
	sources []*source
}

// source is a Source with the state of its loads.
type source struct {
	Source
	log *slog.Logger
	// hash identifies the contents of the last load, also of one that failed; failed is the text of the last error, "" after a success.
	hash   [sha256.Size]byte
	failed string
	// wake has capacity 1 and requests a comparison of the files; isForced makes the next one load unchanged files, too.
	wake     chan struct{}
	isForced atomic.Bool
}

// New returns a Reloader without sources.
func New(log *slog.Logger) *Reloader { return &Reloader{log: log} }

// Add loads a source and includes it in later calls of Run and Reload. It returns the error of the load, and does not add the source
// in that case.
func (r *Reloader) Add(ctx context.Context, s Source) error {
	added := &source{Source: s, log: r.log, wake: make(chan struct{}, 1)}
	contents, hash, err := added.read()
	if err != nil {
		return err
	}
	if err := s.Load(ctx, contents); err != nil {
		return err
	}
	added.hash = hash
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sources = append(r.sources, added)
	return nil
}

// Run observes the files of all sources that have been added, until ctx is canceled. It returns when all loads have ended.
func (r *Reloader) Run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.sources {
		running.Go(func() { s.run(ctx) })
		for _, file := range s.Files {
			running.Go(func() {
				filesystem.WatchUntil(ctx, pollInterval, file, s.requestLoad, func(err error) {
					r.log.Debug("watching a file failed; it is read every minute", "what", s.Name, "file", file, "error", err)
				})
			})
		}
	}
}

// Reload requests that Run loads all sources, also those whose files have not changed. It does not wait for the loads.
func (r *Reloader) Reload() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.sources {
		s.isForced.Store(true)
		s.requestLoad()
	}
}

func (s *source) requestLoad() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// run loads the source when it is requested, until ctx is canceled.
func (s *source) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(settleTime):
		}
		s.load(ctx, s.isForced.Swap(false))
	}
}

// load loads the source if its files have changed, or if isForced is true.
func (s *source) load(ctx context.Context, isForced bool) {
	contents, hash, err := s.read()
	if err == nil {
		if hash == s.hash && !isForced {
			return
		}
		err = s.Load(ctx, contents)
		if !errors.As(err, new(*temporaryError)) {
			s.hash = hash
		}
	}
	if ctx.Err() != nil || err != nil && err.Error() == s.failed && !isForced {
		return // the server stops, or the error has been reported
	}
	if s.Report != nil {
		s.Report(err)
	}
	files := strings.Join(s.Files, ", ")
	if err != nil {
		s.failed = err.Error()
		s.log.Error("reload failed; the previous content stays in effect", "what", s.Name, "files", files, "error", err)
		return
	}
	s.failed = ""
	s.log.Info("reloaded", "what", s.Name, "files", files)
}

// read returns the contents of the files, and a hash of them.
func (s *source) read() (contents [][]byte, hash [sha256.Size]byte, err error) {
	whole := sha256.New()
	for _, file := range s.Files {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, hash, fmt.Errorf("cannot read the %s: %w", s.Name, err)
		}
		fmt.Fprintf(whole, "%d:", len(content))
		whole.Write(content)
		contents = append(contents, content)
	}
	return contents, [sha256.Size]byte(whole.Sum(nil)), nil
}
