package pebble

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// failure is the first error of the disk, after which there are no more commits.
type failure struct {
	once sync.Once
	err  error
	// happened is closed when err is set.
	happened chan struct{}
	// opening says that nothing runs yet but Open.
	opening bool
	trial   trial
}

// trial is what was found out about the disk last, and when.
type trial struct {
	mu   sync.Mutex
	when time.Time
	err  error
}

// fatal is what Open panics with where Pebble can't go on.
type fatal struct{ err error }

func (f *failure) init() { f.happened = make(chan struct{}) }

// reason returns the error, nil as long as there is none.
func (f *failure) reason() error {
	select {
	case <-f.happened:
		return f.err
	default:
		return nil
	}
}

// Failure tells why the store takes no more commits; nil as long as it does.
func (s *Store) Failure() error { return s.failure.reason() }

// trialFile is written to find out whether the disk takes data, trialBytes of it: about what opening the
// store needs at once.
const (
	trialFile  = "TRIAL"
	trialBytes = 4 << 20
	// trialAge is how long a trial tells how the disk is: anybody may ask, as often as it likes.
	trialAge = time.Second
)

// damagedFile is the failure that a new start does not cure.
type damagedFile struct{ error }

// MayRecover reports whether a store that failed could be opened again: no file is damaged, and the disk takes
// data.
func (s *Store) MayRecover() bool {
	if damaged := (damagedFile{}); errors.As(s.failure.reason(), &damaged) {
		return false
	}
	t := &s.failure.trial
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.when.IsZero() || time.Since(t.when) > trialAge {
		t.err, t.when = s.tryDisk(), time.Now()
	}
	return t.err == nil
}

// tryDisk writes something.
func (s *Store) tryDisk() error {
	fs := s.options.FileSystem
	name := fs.PathJoin(s.options.Folder, trialFile)
	file, err := fs.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = file.Write(make([]byte, trialBytes))
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close(), fs.Remove(name))
}

// fail notes an error of the disk.
func (s *Store) fail(err error) {
	s.failure.once.Do(func() {
		s.failure.err = fmt.Errorf("the store in %s takes no commits since %s: %w; free or replace the disk and restart, reads go on until then",
			s.options.Folder, time.Now().UTC().Format(time.RFC3339), err)
		close(s.failure.happened)
		s.options.Log.Error("the store takes no more commits", "folder", s.options.Folder, "error", err)
	})
}

// foundDamage notes that a file is damaged. Whoever was reading it gets an error; nobody
// writes any more to a store of which a part is lost.
func (s *Store) foundDamage(info pebble.DataCorruptionInfo) {
	s.fail(damagedFile{fmt.Errorf("%s is damaged; restore the folder from a backup: %w", info.Path, info.Details)})
}

// readError adds to an error which file is damaged, if that is the reason.
func readError(err error) error {
	if info := pebble.ExtractDataCorruptionInfo(err); info != nil {
		return fmt.Errorf("%s is damaged; restore the folder from a backup: %w", info.Path, err)
	}
	return err
}

// pebbleLogger is told what Pebble has to say.
type pebbleLogger struct{ s *Store }

func (l pebbleLogger) Infof(format string, args ...any) {
	l.s.options.Log.Debug("pebble: " + fmt.Sprintf(format, args...))
}

func (l pebbleLogger) Errorf(format string, args ...any) {
	l.s.options.Log.Warn("pebble: " + fmt.Sprintf(format, args...))
}

// Fatalf is called where Pebble can't go on and expects the process to end. It must not
// return. The goroutine stays where it is, with what it holds; reads hold nothing that it
// could, and go on.
func (l pebbleLogger) Fatalf(format string, args ...any) {
	err := pebbleError(format, args)
	if l.s.failure.opening {
		panic(fatal{err})
	}
	l.s.fail(err)
	select {}
}

// pebbleError makes an error of what Pebble says. It is also the error that Pebble speaks of, which its
// words alone would not tell.
func pebbleError(format string, args []any) error {
	text := fmt.Sprintf(format, args...)
	for _, arg := range args {
		if err, ok := arg.(error); ok {
			return &saidError{text, err}
		}
	}
	return errors.New(text)
}

// saidError is an error in the words of another.
type saidError struct {
	text string
	err  error
}

func (e *saidError) Error() string { return e.text }

func (e *saidError) Unwrap() error { return e.err }

// patience is how long Close waits for what may be stuck after a failure.
const patience = 5 * time.Second

// shutDown ends what runs and closes Pebble. After a failure some of it may be stuck forever;
// then the folder stays locked until the process ends.
func (s *Store) shutDown() error {
	closed := make(chan error, 1)
	go func() {
		s.running.Wait()
		var err error
		if s.failure.reason() == nil {
			err = errors.Join(s.db.Flush(), s.checkpoint.Sync())
		}
		s.parking.active.Store(false)
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
	case <-closed: // its error is a consequence of the failure
		return s.failure.reason()
	case <-time.After(patience):
		return errors.Join(s.failure.reason(), fmt.Errorf("%s stays locked until the process ends", s.options.Folder))
	}
}
