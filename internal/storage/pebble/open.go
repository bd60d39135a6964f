package pebble

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cadastre/cadastre/internal/storage"
)

// Options say where a store is and what it keeps. All but Folder have a useful zero value.
type Options struct {
	// Folder is where the store is; it is made if it does not exist. Without one the
	// store is in memory and is gone when it is closed.
	Folder string
	// FileSystem is what the folder is in; nil means that of the operating system.
	FileSystem vfs.FS
	// HistoryAge and HistoryBytes are how much history is kept; 0 means ten minutes and
	// 1 GiB, a negative number that there is no such limit. Whichever is reached first
	// counts.
	HistoryAge   time.Duration
	HistoryBytes int64
	// ProgressInterval is how often a watcher without events hears how far it has come;
	// 0 means a second.
	ProgressInterval time.Duration
	// Log gets what an operator should know; nil means slog.Default.
	Log *slog.Logger
}

func (o Options) withDefaults() Options {
	if o.FileSystem == nil {
		o.FileSystem = vfs.Default
		if o.Folder == "" {
			o.FileSystem = vfs.NewMem()
		}
	}
	if o.Folder == "" {
		o.Folder = "memory"
	}
	if o.HistoryAge == 0 {
		o.HistoryAge = 10 * time.Minute
	}
	if o.HistoryBytes == 0 {
		o.HistoryBytes = 1 << 30
	}
	if o.ProgressInterval == 0 {
		o.ProgressInterval = time.Second
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return o
}

// Store is a store in a folder.
type Store struct {
	options Options
	db      *pebble.DB
	lock    *pebble.Lock
	parking parking

	queue   queue
	recent  recentItems
	history history
	failure failure
	// committed is the revision that was given last; the committer's own.
	committed storage.Revision
	// acked is the revision of the last commit that is on disk. compacted is the one up
	// to which history is forgotten.
	//
	//	compacted <= acked
	acked, compacted atomic.Int64

	checkpoint vfs.File // the acker's own
	manifest   string   // the name of the file in which Pebble notes which files count

	trimming sync.Mutex // held while history is being forgotten
	// historyBytes is how much was written by the commits of the history. Those before
	// openedAt are added when trimming begins.
	historyBytes atomic.Int64
	openedAt     storage.Revision
	measured     bool // that was done; trimming guards it
	// done is closed when the store is being closed; running are its goroutines.
	done    chan struct{}
	closing sync.Once
	running sync.WaitGroup
}

var _ storage.Store = (*Store)(nil)

// Open opens the store in a folder, or makes one.
func Open(options Options) (*Store, error) {
	o := options.withDefaults()
	s := &Store{options: o, done: make(chan struct{})}
	s.parking.FS, s.parking.store = o.FileSystem, s
	s.failure.init()
	s.queue.init()
	if err := o.FileSystem.MkdirAll(o.Folder, 0o700); err != nil {
		return nil, fmt.Errorf("open the store in %s: %w", o.Folder, err)
	}
	var err error
	if s.lock, err = lockFolder(o); err != nil {
		return nil, err
	}
	if err := s.open(); err != nil {
		return nil, errors.Join(fmt.Errorf("open the store in %s: %w", o.Folder, err), s.lock.Close())
	}
	s.parking.active.Store(true)
	s.running.Add(3)
	groups := make(chan *group, groupsUnderWay)
	go s.commitGroups(groups)
	go s.ackGroups(groups)
	go s.trimNowAndThen()
	return s, nil
}

// open opens Pebble and finds out how far the store has come.
func (s *Store) open() error {
	if err := checkFormat(s.options); err != nil {
		return err
	}
	if err := checkOptions(s.options.FileSystem, s.options.Folder, s.pebbleOptions()); err != nil {
		return err
	}
	if err := checkLogs(s.options.FileSystem, s.options.Folder); err != nil {
		return err
	}
	// Pebble removes what it does not know of, so that a store of which a part is lost must
	// not be opened for writing.
	if _, err := s.options.FileSystem.Stat(s.options.FileSystem.PathJoin(s.options.Folder, checkpointFile)); err == nil {
		if err := s.openPebble(true); err != nil {
			return err
		}
		_, _, err := s.extent()
		if err := errors.Join(err, s.db.Close()); err != nil {
			return err
		}
	}
	if err := s.openPebble(false); err != nil {
		return err
	}
	last, compacted, err := s.extent()
	if err != nil {
		return errors.Join(err, s.db.Close())
	}
	s.compacted.Store(int64(compacted))
	s.acked.Store(int64(last))
	if err := s.openCheckpoint(); err != nil {
		return errors.Join(err, s.db.Close())
	}
	s.openedAt = last
	s.committed, s.recent.since = last, last
	s.history.init(last)
	return nil
}

// extent returns how far the store has come, and from where on it has history. It fails if
// something is missing.
func (s *Store) extent() (last, compacted storage.Revision, err error) {
	if compacted, err = s.readCompacted(); err != nil {
		return 0, 0, readError(err)
	}
	first, last, err := s.logBounds()
	if err != nil {
		return 0, 0, readError(err)
	}
	return max(last, compacted), compacted, s.checkCheckpoint(first, last, compacted)
}

// openPebble opens Pebble. What is fatal to it is an error here.
func (s *Store) openPebble(readOnly bool) (err error) {
	s.failure.opening = true
	defer func() {
		s.failure.opening = false
		if reason, ok := recover().(fatal); ok {
			err = reason.err
		}
	}()
	s.manifest = manifestIn(s.options)
	o := s.pebbleOptions()
	o.ReadOnly = readOnly
	s.db, err = pebble.Open(s.options.Folder, o)
	return err
}

// What was written last is in up to so many memtables of that size.
const (
	memTables    = 4
	memTableSize = 32 << 20
)

func (s *Store) pebbleOptions() *pebble.Options {
	o := &pebble.Options{
		FS:                 &s.parking,
		Lock:               s.lock,
		Logger:             pebbleLogger{s},
		EventListener:      &pebble.EventListener{DataCorruption: s.foundDamage},
		FormatMajorVersion: pebble.FormatNewest,
		// Objects are served from the cache above; here are the blocks that say where others are,
		// and those of items that were written some time ago. Pebble takes what its memtables
		// have off the cache: were it smaller than they are, it would keep nothing. Mostly
		// there is one, and another that is being written to disk.
		CacheSize:    2*memTableSize + 8<<20,
		MemTableSize: memTableSize,
		// A compaction that falls behind must not stop writers for long.
		MemTableStopWritesThreshold: memTables,
		L0StopWritesThreshold:       24,
	}
	o.ApplyCompressionSettings(func() pebble.DBCompressionSettings { return pebble.DBCompressionFastest })
	for i := range o.Levels {
		l := &o.Levels[i]
		l.FilterPolicy = bloom.FilterPolicy(10)
		// Objects are alike: with ten of them in a block they take half the room, and
		// all are read in two thirds of the time. A table's index is one block.
		l.BlockSize, l.IndexBlockSize = 32<<10, 256<<10
	}
	return o
}

func (s *Store) readCompacted() (storage.Revision, error) {
	value, closer, err := s.db.Get(compactedRecord)
	if errors.Is(err, pebble.ErrNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer closer.Close()
	revision, err := strconv.ParseInt(string(value), 10, 64)
	return storage.Revision(revision), err
}

// logBounds returns the revisions of the first and the last commit in the log, 0 if there are
// none.
func (s *Store) logBounds() (first, last storage.Revision, err error) {
	iter, err := s.db.NewIter(&pebble.IterOptions{LowerBound: []byte{logSpace}, UpperBound: []byte{logSpace + 1}})
	if err != nil {
		return 0, 0, err
	}
	if iter.First() {
		first = logRevision(iter.Key())
	}
	if iter.Last() {
		last = logRevision(iter.Key())
	}
	return first, last, errors.Join(iter.Error(), iter.Close())
}

// format is the version of the layout that this package knows.
const format = 1

// checkFormat refuses folders that this package can't read, and marks new ones.
func checkFormat(o Options) error {
	fs, name := o.FileSystem, o.FileSystem.PathJoin(o.Folder, "FORMAT")
	text, err := readFile(fs, name)
	switch {
	case err == nil:
		version, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil {
			return fmt.Errorf("%s: expected the number of a format, received %q; the file is damaged", name, text)
		}
		if version > format {
			return fmt.Errorf("%s: the folder has format %d, this program knows formats up to %d; use the program that wrote it, or a newer one", name, version, format)
		}
		return nil
	case !errors.Is(err, os.ErrNotExist):
		return err
	}
	files, err := fs.List(o.Folder)
	if err != nil {
		return err
	}
	for _, file := range files {
		if file != "LOCK" && !strings.HasPrefix(file, ownerFile) && file != "FORMAT.new" {
			return fmt.Errorf("expected an empty folder or a store, found %s and no FORMAT; choose another folder", file)
		}
	}
	return writeFile(fs, o.Folder, "FORMAT", strconv.Itoa(format)+"\n")
}

const ownerFile = "OWNER"

// lockFolder keeps other processes out.
func lockFolder(o Options) (*pebble.Lock, error) {
	fs, owner := o.FileSystem, o.FileSystem.PathJoin(o.Folder, ownerFile)
	lock, err := pebble.LockDirectory(o.Folder, fs)
	if err != nil {
		who := "another process"
		if text, readErr := readFile(fs, owner); readErr == nil {
			who = strings.TrimSpace(text)
		}
		return nil, fmt.Errorf("the store in %s is in use by %s; stop it or choose another folder (%w)", o.Folder, who, err)
	}
	text := fmt.Sprintf("process %d, since %s\n", os.Getpid(), time.Now().UTC().Format(time.RFC3339))
	if err := writeFile(fs, o.Folder, ownerFile, text); err != nil {
		return nil, errors.Join(fmt.Errorf("open the store in %s: %w", o.Folder, err), lock.Close())
	}
	return lock, nil
}

func readFile(fs vfs.FS, name string) (string, error) {
	file, err := fs.Open(name)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(file)
	return string(text), errors.Join(err, file.Close())
}

// writeFile puts a file in place, whole or not at all.
func writeFile(fs vfs.FS, folder, name, text string) error {
	temporary := fs.PathJoin(folder, name+".new")
	file, err := fs.Create(temporary, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = file.Write([]byte(text))
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := fs.Rename(temporary, fs.PathJoin(folder, name)); err != nil {
		return err
	}
	dir, err := fs.OpenDir(folder)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// Revision returns that of the last commit.
func (s *Store) Revision(context.Context) (storage.Revision, error) {
	return storage.Revision(s.acked.Load()), s.openError()
}

// openError returns ErrClosed once the store is being closed.
func (s *Store) openError() error {
	select {
	case <-s.done:
		return storage.ErrClosed
	default:
		return nil
	}
}

// IsShared reports that nobody else can open the folder.
func (s *Store) IsShared() bool { return false }

// Close ends all watches, waits for the commits that have begun, and gives the folder back.
func (s *Store) Close() error {
	err := storage.ErrClosed
	s.closing.Do(func() {
		close(s.done)
		s.queue.close()
		s.history.wake()
		err = s.shutDown()
	})
	return err
}
