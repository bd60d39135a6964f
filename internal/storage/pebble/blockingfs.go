package pebble

import (
	"strings"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// blockingFS is the file system that Pebble uses; it wraps the file system of the options. If the disk fails while Pebble
// rotates its write-ahead log, Pebble panics while it holds a lock, which would end the process and with it all reads.
// blockingFS blocks that goroutine forever instead, as Fatalf does: in Close of a log whose write or sync has failed, and in
// the creation of a new log. It does not block while the store is being closed.
type blockingFS struct {
	vfs.FS
	store *Store
	// active reports whether blockingFS blocks after errors: it is set while the store accepts commits, that is, after Pebble
	// was opened and before it is closed.
	active atomic.Bool
}

func isLog(name string) bool { return strings.HasSuffix(name, ".log") }

// blockAfter records err as a disk failure and blocks forever. If err is nil or active is false, it does nothing.
func (b *blockingFS) blockAfter(err error) {
	if err != nil && b.active.Load() {
		b.store.fail(err)
		select {}
	}
}

// Create implements vfs.FS.
func (b *blockingFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := b.FS.Create(name, category)
	return b.log(f, name, err)
}

// ReuseForWrite implements vfs.FS.
func (b *blockingFS) ReuseForWrite(oldName, newName string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := b.FS.ReuseForWrite(oldName, newName, category)
	return b.log(f, newName, err)
}

// log returns f and err, the results of creating the named file. If the file is a write-ahead log, log wraps f in a
// guardedLog, and blocks if err is not nil.
func (b *blockingFS) log(f vfs.File, name string, err error) (vfs.File, error) {
	if !isLog(name) {
		return f, err
	}
	b.blockAfter(err)
	if err != nil {
		return nil, err
	}
	return &guardedLog{File: f, fs: b}, nil
}

// OpenDir implements vfs.FS. It wraps the folder because Pebble syncs the folder for each new write-ahead log.
func (b *blockingFS) OpenDir(name string) (vfs.File, error) {
	f, err := b.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return &guardedDir{File: f, fs: b}, nil
}

// guardedDir is the opened folder of the store. Pebble syncs the folder after creating a write-ahead log or a manifest; a
// sync error is fatal in both cases.
type guardedDir struct {
	vfs.File
	fs *blockingFS
}

func (d *guardedDir) Sync() error {
	err := d.File.Sync()
	d.fs.blockAfter(err)
	return err
}

// guardedLog is a write-ahead log file that remembers the first error of its operations.
type guardedLog struct {
	vfs.File
	fs     *blockingFS
	failed atomic.Pointer[error]
}

// recordError remembers err if it is the first error of the file, and returns err.
func (l *guardedLog) recordError(err error) error {
	if err != nil {
		l.failed.CompareAndSwap(nil, &err)
	}
	return err
}

func (l *guardedLog) Write(p []byte) (int, error) {
	n, err := l.File.Write(p)
	return n, l.recordError(err)
}

func (l *guardedLog) Sync() error { return l.recordError(l.File.Sync()) }

func (l *guardedLog) SyncData() error { return l.recordError(l.File.SyncData()) }

func (l *guardedLog) SyncTo(length int64) (bool, error) {
	full, err := l.File.SyncTo(length)
	return full, l.recordError(err)
}

func (l *guardedLog) Close() error {
	if failed := l.failed.Load(); failed != nil {
		l.fs.blockAfter(*failed)
	}
	err := l.File.Close()
	l.fs.blockAfter(err)
	return err
}
