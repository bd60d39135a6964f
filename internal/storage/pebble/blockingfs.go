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

// blockAfter records an error as a disk failure and blocks forever. It returns at once if err is nil or the store is not
// active.
func (p *blockingFS) blockAfter(err error) {
	if err != nil && p.active.Load() {
		p.store.fail(err)
		select {}
	}
}

// Create implements vfs.FS.
func (p *blockingFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := p.FS.Create(name, category)
	return p.log(f, name, err)
}

// ReuseForWrite implements vfs.FS.
func (p *blockingFS) ReuseForWrite(oldName, newName string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := p.FS.ReuseForWrite(oldName, newName, category)
	return p.log(f, newName, err)
}

// log wraps a new file in a guardedLog if its name is that of a write-ahead log; other files are returned unchanged. err is
// the error of creating the file.
func (p *blockingFS) log(f vfs.File, name string, err error) (vfs.File, error) {
	if !isLog(name) {
		return f, err
	}
	p.blockAfter(err)
	if err != nil {
		return nil, err
	}
	return &guardedLog{File: f, fs: p}, nil
}

// OpenDir implements vfs.FS. It wraps the folder because Pebble syncs the folder for each new write-ahead log.
func (p *blockingFS) OpenDir(name string) (vfs.File, error) {
	f, err := p.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return &guardedFolder{File: f, fs: p}, nil
}

// guardedFolder is the opened folder of the store. Pebble syncs it after creating a write-ahead log or a manifest; a sync
// error is fatal in both cases.
type guardedFolder struct {
	vfs.File
	fs *blockingFS
}

func (f *guardedFolder) Sync() error {
	err := f.File.Sync()
	f.fs.blockAfter(err)
	return err
}

// guardedLog is a write-ahead log file that remembers the first error of its operations.
type guardedLog struct {
	vfs.File
	fs     *blockingFS
	failed atomic.Pointer[error]
}

// recordError remembers err if it is the first error of the file, and returns err.
func (f *guardedLog) recordError(err error) error {
	if err != nil {
		f.failed.CompareAndSwap(nil, &err)
	}
	return err
}

func (f *guardedLog) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	return n, f.recordError(err)
}

func (f *guardedLog) Sync() error { return f.recordError(f.File.Sync()) }

func (f *guardedLog) SyncData() error { return f.recordError(f.File.SyncData()) }

func (f *guardedLog) SyncTo(length int64) (bool, error) {
	full, err := f.File.SyncTo(length)
	return full, f.recordError(err)
}

func (f *guardedLog) Close() error {
	if failed := f.failed.Load(); failed != nil {
		f.fs.blockAfter(*failed)
	}
	err := f.File.Close()
	f.fs.blockAfter(err)
	return err
}
