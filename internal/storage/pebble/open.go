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

// Options configure a store. The zero value opens an empty store in memory.
type Options struct {
	// Folder is the path of the store's folder, which is created if it does not exist; "" keeps the contents in memory, and
	// they are lost when the store is closed.
	Folder string
	// FileSystem is the file system that contains the folder; nil means the file system of the operating system.
	FileSystem vfs.FS
	// HistoryAge and HistoryBytes are the maximum age and size of the history. If one of them is exceeded, the oldest commits
	// are compacted. 0 means the default, ten minutes and 1 GiB; a negative number means no limit.
	HistoryAge   time.Duration
	HistoryBytes int64
	// QuotaBytes is the size of the store's files above which creations are rejected; 0 means no limit. MinFreeBytes is the
	// free space of the file system below which creations are rejected; 0 means the default, 256 MiB, and a negative number no
	// limit.
	QuotaBytes, MinFreeBytes int64
	// ProgressInterval is the interval at which a watcher without events reports progress; 0 means one second.
	ProgressInterval time.Duration
	// Log is the logger; nil means slog.Default.
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
	if o.MinFreeBytes == 0 {
		o.MinFreeBytes = 256 << 20
	}
	if o.ProgressInterval == 0 {
		o.ProgressInterval = time.Second
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return o
}

// Store implements storage.Store with a Pebble database in a folder.
type Store struct {
	options Options
	db      *pebble.DB
	lock    *pebble.Lock
	fs      blockingFS

	queue   commitQueue
	recent  recentItems
	history history
	failure failure
	space   spaceMonitor
	// committed is the last revision that was assigned to a commit. Only the committer uses it.
	committed storage.Revision
	// acked is the revision of the last acknowledged commit; compacted is the revision up to which the history is compacted.
	//
	//	compacted <= acked
	acked, compacted atomic.Int64

	checkpoint vfs.File // the open checkpoint file; only the acker uses it
	manifest   string   // the name of Pebble's manifest file, for error messages

	compacting sync.Mutex // compacting is held during a compaction
	// historyBytes is the number of bytes written by the commits of the history. measureHistory adds the bytes of the commits
	// with revisions <= openedAt, the last revision when the store was opened.
	historyBytes atomic.Int64
	openedAt     storage.Revision
	measured     bool // measured reports whether measureHistory has succeeded and historyBytes is therefore complete; compacting guards measured
	// done is closed by Close. goroutines counts the running goroutines of the store.
	done       chan struct{}
	closing    sync.Once
	goroutines sync.WaitGroup
}

var _ storage.Store = (*Store)(nil)

// Open opens the store in a folder, or creates it if the folder is empty or does not exist. The folder stays locked until
// Close.
func Open(options Options) (*Store, error) {
	o := options.withDefaults()
	s := &Store{options: o, done: make(chan struct{})}
	s.fs.FS, s.fs.store = o.FileSystem, s
	s.failure.init()
	s.queue.init()
	if err := o.FileSystem.MkdirAll(o.Folder, 0o700); err != nil {
		return nil, fmt.Errorf("open the store in %s: %w", o.Folder, err)
	}
	if _, err := readFormat(o); err != nil { // before the lock changes the folder
		return nil, fmt.Errorf("open the store in %s: %w", o.Folder, err)
	}
	var err error
	if s.lock, err = lockDir(o); err != nil {
		return nil, err
	}
	if err := s.open(); err != nil {
		return nil, errors.Join(fmt.Errorf("open the store in %s: %w", o.Folder, err), s.lock.Close())
	}
	s.fs.active.Store(true)
	s.goroutines.Add(3)
	groups := make(chan *group, maxPendingGroups)
	go s.commitGroups(groups)
	go s.ackGroups(groups)
	go s.trimPeriodically()
	return s, nil
}

// open checks the files of the folder, opens Pebble, and restores the last and the compacted revision.
func (s *Store) open() error {
	if err := s.checkFiles(); err != nil {
		return err
	}
	// Pebble deletes files that its manifest does not list. The store is therefore opened read-only and checked first, so that
	// a store with missing commits is not damaged further.
	if _, err := s.options.FileSystem.Stat(s.options.FileSystem.PathJoin(s.options.Folder, checkpointFile)); err == nil {
		if err := s.openPebble(true); err != nil {
			return err
		}
		_, _, err := s.readRevisions()
		if err := errors.Join(err, s.db.Close()); err != nil {
			return err
		}
	}
	if err := s.openPebble(false); err != nil {
		return err
	}
	last, compacted, err := s.readRevisions()
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

// checkFiles checks the files that Pebble does not check, and those that its errors do not name.
func (s *Store) checkFiles() error {
	fs, folder := s.options.FileSystem, s.options.Folder
	if err := checkFormat(s.options); err != nil {
		return err
	}
	if err := checkOptions(fs, folder, s.pebbleOptions()); err != nil {
		return err
	}
	return checkLogs(fs, folder)
}

// readRevisions reads the revision of the last commit and the compacted revision from Pebble. It returns an error if commits
// are missing.
func (s *Store) readRevisions() (last, compacted storage.Revision, err error) {
	if compacted, err = s.readCompacted(); err != nil {
		return 0, 0, readError(err)
	}
	first, last, err := s.logBounds()
	if err != nil {
		return 0, 0, readError(err)
	}
	return max(last, compacted), compacted, s.checkCheckpoint(first, last, compacted)
}

// openPebble opens Pebble. It returns a fatal error of Pebble, which would end the process if it were not intercepted.
func (s *Store) openPebble(readOnly bool) (err error) {
	s.failure.opening = true
	defer func() {
		s.failure.opening = false
		if reason, ok := recover().(fatalPanic); ok {
			err = reason.err
		}
	}()
	s.manifest = manifestIn(s.options)
	o := s.pebbleOptions()
	o.ReadOnly = readOnly
	s.db, err = pebble.Open(s.options.Folder, o)
	return err
}

// memTables is the maximum number of memtables; memTableSize is the maximum size of each in bytes.
const (
	memTables    = 4
	memTableSize = 32 << 20
)

func (s *Store) pebbleOptions() *pebble.Options {
	o := &pebble.Options{
		FS:                 &s.fs,
		Lock:               s.lock,
		Logger:             pebbleLogger{s},
		EventListener:      &pebble.EventListener{DataCorruption: s.onCorruption},
		FormatMajorVersion: pebbleFormat,
		// The watch cache serves reads of objects; the block cache holds index blocks, and the blocks of items that are rewritten
		// after some time. Pebble subtracts the size of its memtables from the cache size, so the cache must be larger than the
		// memtables in use: usually the current memtable, and another one that is being flushed.
		CacheSize:    2*memTableSize + 8<<20,
		MemTableSize: memTableSize,
		// Writers must not be blocked for long when Pebble's flushes and compactions fall behind.
		MemTableStopWritesThreshold: memTables,
		L0StopWritesThreshold:       24,
	}
	o.ApplyCompressionSettings(func() pebble.DBCompressionSettings { return pebble.DBCompressionFastest })
	for i := range o.Levels {
		l := &o.Levels[i]
		l.FilterPolicy = bloom.FilterPolicy(10)
		// Kubernetes objects resemble each other: with about ten objects per block the data compresses to half the size, and
		// a full scan takes two thirds of the time. An index block of 256 KiB holds the whole index of a table.
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

// logBounds returns the revisions of the first and the last log record; 0 and 0 if there are no log records.
func (s *Store) logBounds() (first, last storage.Revision, err error) {
	iter, err := s.db.NewIter(&pebble.IterOptions{LowerBound: []byte{logPrefix}, UpperBound: []byte{logPrefix + 1}})
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

// format is the version of the folder layout that this package reads and writes. A new format needs a fixture in testdata, and
// code that opens the fixtures of all earlier formats.
const format = 1

// pebbleFormat is the version of Pebble's own files. It is fixed, because an older release cannot open a newer version: raising
// it requires raising format too, so that the older release refuses the folder before it changes anything.
const pebbleFormat = pebble.FormatValueSeparation

// readFormat returns the number in the FORMAT file; 0 if there is no such file. It returns an error if the folder has a newer
// format, and changes nothing.
func readFormat(o Options) (int, error) {
	name := o.FileSystem.PathJoin(o.Folder, "FORMAT")
	text, err := readFile(o.FileSystem, name)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	version, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil {
		return 0, fmt.Errorf("%s: expected the number of a format, received %q; the file is damaged", name, text)
	}
	if version > format {
		return 0, fmt.Errorf("%s: the folder has format %d, this program supports formats up to %d; use the program that wrote it, or a newer one", name, version, format)
	}
	return version, nil
}

// checkFormat returns an error if the folder belongs to another program or has a newer format. It creates the FORMAT file in
// an empty folder.
func checkFormat(o Options) error {
	version, err := readFormat(o)
	if err != nil || version > 0 {
		return err
	}
	fs := o.FileSystem
	files, err := fs.List(o.Folder)
	if err != nil {
		return err
	}
	for _, file := range files {
		if file != "LOCK" && !strings.HasPrefix(file, lockHolderFile) && file != "FORMAT.new" {
			return fmt.Errorf("expected an empty folder or a store, found %s and no FORMAT; choose another folder", file)
		}
	}
	return writeFile(fs, o.Folder, "FORMAT", strconv.Itoa(format)+"\n")
}

const lockHolderFile = "OWNER"

// lockDir locks o.Folder against other processes. If another process holds the lock, lockDir returns an error that names
// that process.
func lockDir(o Options) (*pebble.Lock, error) {
	fs, owner := o.FileSystem, o.FileSystem.PathJoin(o.Folder, lockHolderFile)
	lock, err := pebble.LockDirectory(o.Folder, fs)
	if err != nil {
		holder := "another process"
		if text, readErr := readFile(fs, owner); readErr == nil {
			holder = strings.TrimSpace(text)
		}
		return nil, fmt.Errorf("the store in %s is in use by %s; stop it or choose another folder (%w)", o.Folder, holder, err)
	}
	text := fmt.Sprintf("process %d, since %s\n", os.Getpid(), time.Now().UTC().Format(time.RFC3339))
	if err := writeFile(fs, o.Folder, lockHolderFile, text); err != nil {
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

// writeFile atomically creates the named file in folder, or replaces it, with text as its contents.
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
	return syncDir(fs, folder)
}

// syncDir makes created, renamed and removed names in folder durable.
func syncDir(fs vfs.FS, folder string) error {
	dir, err := fs.OpenDir(folder)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// Revision implements storage.Store.
func (s *Store) Revision(context.Context) (storage.Revision, error) {
	return storage.Revision(s.acked.Load()), s.closedError()
}

// closedError returns storage.ErrClosed if Close has been called, and nil if not.
func (s *Store) closedError() error {
	select {
	case <-s.done:
		return storage.ErrClosed
	default:
		return nil
	}
}

// IsShared implements storage.Store. It returns false, because only one process can lock the folder.
func (s *Store) IsShared() bool { return false }

// Close implements storage.Store. It also unlocks the folder.
func (s *Store) Close() error {
	err := storage.ErrClosed
	s.closing.Do(func() {
		close(s.done)
		s.queue.close()
		s.history.notify()
		err = s.shutDown()
	})
	return err
}
