package pebble

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// failure is the first disk error of the store. From that error on the store rejects commits.
type failure struct {
	once sync.Once
	err  error
	// happened is closed when err is set.
	happened chan struct{}
	// opening is true while Pebble is being opened: then a fatal error of Pebble panics instead of blocking the goroutine.
	opening bool
	probe   diskProbe
}

// diskProbe is the result of the last attempt to write to the disk after a failure.
type diskProbe struct {
	mu   sync.Mutex
	when time.Time
	err  error
}

// fatalPanic is the panic value with which a fatal error of Pebble reaches openPebble, which recovers it.
type fatalPanic struct{ err error }

func (f *failure) init() { f.happened = make(chan struct{}) }

// reason returns the disk error that makes the store reject commits; nil before a failure.
func (f *failure) reason() error {
	select {
	case <-f.happened:
		return f.err
	default:
		return nil
	}
}

// Failure returns the error that makes the store reject commits; nil if the store accepts commits.
func (s *Store) Failure() error { return s.failure.reason() }

// probeFile is the name of a temporary file that is written to find out whether the disk accepts data again; probeBytes is
// its size, about as much as opening the store writes.
const (
	probeFile  = "TRIAL"
	probeBytes = 4 << 20
	// probeAge is the time for which the result of a probe is reused. It limits the cost of frequent health checks.
	probeAge = time.Second
)

// corruptionError is a failure that a restart does not clear, because a file is corrupt.
type corruptionError struct{ error }

// MayRecover reports whether a restart is likely to clear the failure: no file is known to be corrupt, and the disk accepts
// data. It returns false if there is no failure.
func (s *Store) MayRecover() bool {
	if damaged := (corruptionError{}); errors.As(s.failure.reason(), &damaged) {
		return false
	}
	t := &s.failure.probe
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.when.IsZero() || time.Since(t.when) > probeAge {
		t.err, t.when = s.probeDisk(), time.Now()
	}
	return t.err == nil
}

// probeDisk writes, syncs and removes probeFile; an error means that the disk still does not accept data.
func (s *Store) probeDisk() error {
	fs := s.options.FileSystem
	name := fs.PathJoin(s.options.Folder, probeFile)
	file, err := fs.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = file.Write(make([]byte, probeBytes))
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close(), fs.Remove(name))
}

// fail records a disk error and makes the store reject commits. Only the first call has an effect.
func (s *Store) fail(err error) {
	s.failure.once.Do(func() {
		s.failure.err = fmt.Errorf("the store in %s rejects commits since %s: %w; free space on the disk or replace it, then restart; reads continue until then",
			s.options.Folder, time.Now().UTC().Format(time.RFC3339), err)
		close(s.failure.happened)
		s.options.Log.Error("the store rejects commits after a disk failure", "folder", s.options.Folder, "error", err)
	})
}

// onCorruption is called by Pebble when it reads a corrupt file. That read fails, and the store rejects commits, because part
// of its contents is lost.
func (s *Store) onCorruption(info pebble.DataCorruptionInfo) {
	s.fail(corruptionError{fmt.Errorf("%s is damaged; restore the folder from a backup: %w", info.Path, info.Details)})
}

// readError adds the name of the corrupt file to err if corruption has caused err. It returns any other err unchanged.
func readError(err error) error {
	if info := pebble.ExtractDataCorruptionInfo(err); info != nil {
		return fmt.Errorf("%s is damaged; restore the folder from a backup: %w", info.Path, err)
	}
	return err
}

// pebbleLogger writes Pebble's log messages to the store's logger.
type pebbleLogger struct{ s *Store }

func (l pebbleLogger) Infof(format string, args ...any) {
	l.s.options.Log.Debug("pebble event", "message", fmt.Sprintf(format, args...))
}

func (l pebbleLogger) Errorf(format string, args ...any) {
	l.s.options.Log.Warn("pebble error", "message", fmt.Sprintf(format, args...))
}

// Fatalf is called by Pebble for errors after which it cannot continue. It must not return, because Pebble expects it to end
// the process. It records a disk failure and blocks the goroutine forever, with the locks that it holds. Reads do not need
// these locks and continue. While the store is being opened, it panics with the error instead.
func (l pebbleLogger) Fatalf(format string, args ...any) {
	err := pebbleError(format, args)
	if l.s.failure.opening {
		panic(fatalPanic{err})
	}
	l.s.fail(err)
	select {}
}

// pebbleError returns an error with the text of one of Pebble's log messages, given as format and args. It wraps the error
// among args, if there is one.
func pebbleError(format string, args []any) error {
	text := fmt.Sprintf(format, args...)
	for _, arg := range args {
		if err, ok := arg.(error); ok {
			return &pebbleFatalError{text, err}
		}
	}
	return errors.New(text)
}

// pebbleFatalError is an error with the text of one of Pebble's log messages. It wraps the error that caused the message.
type pebbleFatalError struct {
	text string
	err  error
}

func (e *pebbleFatalError) Error() string { return e.text }

func (e *pebbleFatalError) Unwrap() error { return e.err }

// closeTimeout is the maximum time that Close waits for the store's goroutines after a disk failure, which may block some of
// them forever.
const closeTimeout = 5 * time.Second

// shutDown waits for the store's goroutines, then closes Pebble and unlocks the folder. After a disk failure goroutines may
// be blocked forever; then shutDown gives up after closeTimeout, and the folder remains locked until the process ends.
func (s *Store) shutDown() error {
	closed := make(chan error, 1)
	go func() {
		s.goroutines.Wait()
		var err error
		if s.failure.reason() == nil {
			err = errors.Join(s.db.Flush(), s.checkpoint.Sync())
		}
		s.fs.active.Store(false)
		closed <- errors.Join(err, s.checkpoint.Close(), s.db.Close(), s.lock.Close())
	}()
	if s.failure.reason() == nil {
		select {
		case err := <-closed:
			return err
		case <-s.failure.happened:
		}
	}
	select {
	case <-closed: // the error of closing is a consequence of the disk failure
		return s.failure.reason()
	case <-time.After(closeTimeout):
		return errors.Join(s.failure.reason(), fmt.Errorf("%s remains locked until the process ends", s.options.Folder))
	}
}
