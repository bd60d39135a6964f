package pebble

import (
	"strings"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// blockingFS is the file system between Pebble and the disk. If the disk fails while Pebble rotates its write-ahead log, Pebble
// panics while it holds a lock, which would end the process, and reads with it. blockingFS blocks that goroutine forever
// instead, as Fatalf does: in the Close of a log that has failed, and in the creation of a new one. It does not block while the
// store is being closed.
type blockingFS struct {
	vfs.FS
	store *Store
	// active reports whether the store accepts commits: Pebble is open and not being closed.
	active atomic.Bool
}

func isLog(name string) bool { return strings.HasSuffix(name, ".log") }

// blockAfter records an error and blocks forever; it returns if there is none.
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

// log wraps a new file if it is a write-ahead log.
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

// OpenDir implements vfs.FS. The folder is synced for each new log.
func (p *blockingFS) OpenDir(name string) (vfs.File, error) {
	f, err := p.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return &guardedFolder{File: f, fs: p}, nil
}

// guardedFolder is the open folder. Pebble opens it for the log and for the manifest; an error of Sync is fatal for both.
type guardedFolder struct {
	vfs.File
	fs *blockingFS
}

func (f *guardedFolder) Sync() error {
	err := f.File.Sync()
	f.fs.blockAfter(err)
	return err
}

// guardedLog is a write-ahead log that records its first error.
type guardedLog struct {
	vfs.File
	fs     *blockingFS
	failed atomic.Pointer[error]
}

func (f *guardedLog) note(err error) error {
	if err != nil {
		f.failed.CompareAndSwap(nil, &err)
	}
	return err
}

func (f *guardedLog) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	return n, f.note(err)
}

func (f *guardedLog) Sync() error { return f.note(f.File.Sync()) }

func (f *guardedLog) SyncData() error { return f.note(f.File.SyncData()) }

func (f *guardedLog) SyncTo(length int64) (bool, error) {
	full, err := f.File.SyncTo(length)
	return full, f.note(err)
}

func (f *guardedLog) Close() error {
	if failed := f.failed.Load(); failed != nil {
		f.fs.blockAfter(*failed)
	}
	err := f.File.Close()
	f.fs.blockAfter(err)
	return err
}
