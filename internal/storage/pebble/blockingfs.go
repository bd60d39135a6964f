package pebble

import (
	"strings"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// parking is a file system between Pebble and the disk. Where Pebble replaces its log by a new
// one it has no way to go on when the disk fails: it panics with a lock in a state that ends the
// process, and reads with it. So whoever closes a log that failed, or can't make a new one, is
// parked: it stays where it is for ever, as in Fatalf. Logs that are closed because the store
// is are let through.
type parking struct {
	vfs.FS
	store *Store
	// active says that there are commits: Pebble is open, and not being closed.
	active atomic.Bool
}

func isLog(name string) bool { return strings.HasSuffix(name, ".log") }

// parkAfter notes an error, and does not return if there is one.
func (p *parking) parkAfter(err error) {
	if err != nil && p.active.Load() {
		p.store.fail(err)
		select {}
	}
}

// Create makes a file.
func (p *parking) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := p.FS.Create(name, category)
	return p.log(f, name, err)
}

// ReuseForWrite makes a file of an old one.
func (p *parking) ReuseForWrite(oldName, newName string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := p.FS.ReuseForWrite(oldName, newName, category)
	return p.log(f, newName, err)
}

func (p *parking) log(f vfs.File, name string, err error) (vfs.File, error) {
	if !isLog(name) {
		return f, err
	}
	p.parkAfter(err)
	if err != nil {
		return nil, err
	}
	return &parkedLog{File: f, parking: p}, nil
}

// OpenDir opens the folder, which is synced for each new log.
func (p *parking) OpenDir(name string) (vfs.File, error) {
	f, err := p.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return &parkedFolder{File: f, parking: p}, nil
}

// parkedFolder is the folder. Pebble has one for its log and one for the manifest; an error of
// either is fatal to it.
type parkedFolder struct {
	vfs.File
	parking *parking
}

func (f *parkedFolder) Sync() error {
	err := f.File.Sync()
	f.parking.parkAfter(err)
	return err
}

// parkedLog is a log that remembers whether it failed.
type parkedLog struct {
	vfs.File
	parking *parking
	failed  atomic.Pointer[error]
}

func (f *parkedLog) note(err error) error {
	if err != nil {
		f.failed.CompareAndSwap(nil, &err)
	}
	return err
}

func (f *parkedLog) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	return n, f.note(err)
}

func (f *parkedLog) Sync() error { return f.note(f.File.Sync()) }

func (f *parkedLog) SyncData() error { return f.note(f.File.SyncData()) }

func (f *parkedLog) SyncTo(length int64) (bool, error) {
	full, err := f.File.SyncTo(length)
	return full, f.note(err)
}

func (f *parkedLog) Close() error {
	if failed := f.failed.Load(); failed != nil {
		f.parking.parkAfter(*failed)
	}
	err := f.File.Close()
	f.parking.parkAfter(err)
	return err
}
