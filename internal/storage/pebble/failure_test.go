package pebble

import (
	"errors"
	"fmt"
	"log/slog"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/cadastre/cadastre/internal/lib/testwait"
	"github.com/cadastre/cadastre/internal/storage"
)

// faultInjector makes file system operations for which matches returns true fail with err while on is set, and counts them in
// hits.
type faultInjector struct {
	err     error
	matches func(op errorfs.Op) bool
	on      atomic.Bool
	hits    atomic.Int64
}

func (f *faultInjector) String() string { return "faultInjector" }

func (f *faultInjector) MaybeError(op errorfs.Op) error {
	if !f.on.Load() || !f.matches(op) {
		return nil
	}
	f.hits.Add(1)
	return f.err
}

func isWAL(op errorfs.Op) bool { return strings.HasSuffix(op.Path, ".log") }

func onWrites(op errorfs.Op) bool { return op.Kind == errorfs.OpFileWrite }
func onSyncs(op errorfs.Op) bool {
	return op.Kind == errorfs.OpFileSync || op.Kind == errorfs.OpFileSyncData || op.Kind == errorfs.OpFileSyncTo
}

// TestDiskFailure: after a disk failure the store rejects commits and still serves reads; when it is reopened, it contains
// all acknowledged commits.
func TestDiskFailure(t *testing.T) {
	for _, test := range []struct {
		name    string
		matches func(op errorfs.Op) bool
		err     error
	}{
		{"sync of the log", func(op errorfs.Op) bool { return isWAL(op) && onSyncs(op) }, errors.New("input/output error")},
		{"write to the log", func(op errorfs.Op) bool { return isWAL(op) && onWrites(op) }, errors.New("input/output error")},
		{"disk full", onWrites, syscall.ENOSPC},
		{"everything", func(op errorfs.Op) bool { return onWrites(op) || onSyncs(op) }, errors.New("gone")},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := &faultInjector{matches: test.matches, err: test.err}
			memory := vfs.NewCrashableMem()
			s := open(t, Options{Folder: "data", FileSystem: errorfs.Wrap(memory, f), Log: slog.New(slog.DiscardHandler)})
			g := startWriterGroup(s, 8)
			waitFor(t, func() bool { return len(g.snapshot().counts) > 0 })
			f.on.Store(true)
			waitFor(t, func() bool { return s.failure.reason() != nil })
			g.stop()
			acknowledged := g.snapshot()
			if len(acknowledged.counts) == 0 {
				t.Fatal("no commit was acknowledged")
			}
			checkRejectsCommits(t, s, test.err)
			acknowledged.check(t, s)
			if err := s.Close(); !errors.Is(err, test.err) {
				t.Errorf("Close() = %v, want %v", err, test.err)
			}
			again := open(t, Options{Folder: "data", FileSystem: memory.CrashClone(vfs.CrashCloneCfg{})})
			acknowledged.check(t, again)
			if _, err := again.Commit(t.Context(), storage.Write{Key: "new", Value: []byte("1")}); err != nil {
				t.Errorf("Commit() after recovery: error = %v, want nil", err)
			}
			if err := again.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// checkRejectsCommits checks that s, whose disk has failed with reason, rejects commits at once with an error that wraps
// reason.
func checkRejectsCommits(t *testing.T, s *Store, reason error) {
	t.Helper()
	start := time.Now()
	_, err := s.Commit(t.Context(), storage.Write{Key: "more", Value: []byte("1")})
	if failure := s.Failure(); !errors.Is(failure, reason) {
		t.Errorf("Failure() = %v, want %v", failure, reason)
	}
	if !errors.Is(err, reason) || !strings.Contains(err.Error(), "rejects commits since") {
		t.Errorf("Commit() = %v, want an error that wraps %v", err, reason)
	}
	var unknown *storage.UnknownError
	if errors.As(err, &unknown) || time.Since(start) > 10*time.Second {
		t.Errorf("Commit() = %v after %v, want an error other than UnknownError, at once", err, time.Since(start))
	}
	if err := s.Compact(t.Context(), 1); err == nil {
		t.Error("Compact() of a failed store = nil, want an error")
	}
}

// TestFlushFailure: if Pebble fails to flush a memtable in the background, reads continue and no acknowledged commit is lost.
func TestFlushFailure(t *testing.T) {
	for _, test := range []struct {
		name    string
		matches func(op errorfs.Op) bool
	}{
		{"tables", func(op errorfs.Op) bool {
			return strings.HasSuffix(op.Path, ".sst") && (onWrites(op) || onSyncs(op) || op.Kind == errorfs.OpCreate)
		}},
		{"manifest", func(op errorfs.Op) bool {
			return strings.HasPrefix(path.Base(op.Path), "MANIFEST") && (onWrites(op) || onSyncs(op))
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := &faultInjector{matches: test.matches, err: errors.New("input/output error")}
			memory := vfs.NewCrashableMem()
			s := open(t, Options{Folder: "data", FileSystem: errorfs.Wrap(memory, f), Log: slog.New(slog.DiscardHandler)})
			f.on.Store(true)
			last := map[string]storage.Revision{}
			for i := 0; i < 400 && s.failure.reason() == nil; i++ {
				key := fmt.Sprintf("k/%d", i%50)
				r, err := s.Commit(t.Context(), storage.Write{Key: key, Expected: last[key], Value: make([]byte, 10_000)})
				if err != nil {
					delete(last, key) // the outcome of this commit is unknown
					break
				}
				last[key] = r
				if i == 300 {
					_, _ = s.db.AsyncFlush()
				}
			}
			waitFor(t, func() bool { return f.hits.Load() > 0 })
			for key, revision := range last {
				if item, err := s.Get(t.Context(), key); err != nil || item.Revision != revision {
					t.Fatalf("Get(%q) = revision %d, %v, want %d", key, item.Revision, err, revision)
				}
			}
			crashed := memory.CrashClone(vfs.CrashCloneCfg{})
			f.on.Store(false)
			if err := s.Close(); err != nil && s.failure.reason() == nil {
				t.Error(err)
			}
			again := open(t, Options{Folder: "data", FileSystem: crashed})
			defer again.Close()
			for key, revision := range last {
				if item, err := again.Get(t.Context(), key); err != nil || item.Revision != revision {
					t.Errorf("after reopening: Get(%q) = revision %d, %v, want %d", key, item.Revision, err, revision)
				}
			}
		})
	}
}

func waitFor(t *testing.T, happened func() bool) {
	t.Helper()
	testwait.For(t, "the condition", happened)
}

// TestMayRecover: a restart may clear the failure of a full disk once the disk accepts data again, but never the failure of a
// corrupt file.
func TestMayRecover(t *testing.T) {
	f := &faultInjector{matches: onWrites, err: syscall.ENOSPC}
	s := open(t, Options{Folder: "data", FileSystem: errorfs.Wrap(vfs.NewMem(), f), Log: slog.New(slog.DiscardHandler)})
	defer s.Close()
	f.on.Store(true)
	if _, err := s.Commit(t.Context(), storage.Write{Key: "a", Value: []byte("1")}); err == nil {
		t.Fatal("Commit() = nil on a full disk, want an error")
	}
	if s.Failure() == nil || s.MayRecover() {
		t.Errorf("on a full disk: Failure() = %v, MayRecover() = %v, want an error and false", s.Failure(), s.MayRecover())
	}
	f.on.Store(false)
	waitFor(t, s.MayRecover)
	if s.Failure() == nil {
		t.Error("Failure() = nil without a restart, want an error")
	}
	if names, err := s.options.FileSystem.List("data"); err != nil || slices.Contains(names, probeFile) {
		t.Errorf("List() = %v, %v, want no %s", names, err, probeFile)
	}
	corrupt := open(t, Options{Folder: "data", FileSystem: vfs.NewMem(), Log: slog.New(slog.DiscardHandler)})
	defer corrupt.Close()
	corrupt.onCorruption(pebble.DataCorruptionInfo{Path: "000004.sst", Details: errors.New("checksum mismatch")})
	if corrupt.Failure() == nil || corrupt.MayRecover() {
		t.Errorf("with a corrupt file: Failure() = %v, MayRecover() = %v, want an error and false", corrupt.Failure(), corrupt.MayRecover())
	}
}

// TestMayRecoverProbesOnce: concurrent calls of MayRecover share one probe of the disk.
func TestMayRecoverProbesOnce(t *testing.T) {
	probes := &faultInjector{matches: func(op errorfs.Op) bool { return op.Kind == errorfs.OpCreate && path.Base(op.Path) == probeFile }}
	s := open(t, Options{Folder: t.TempDir(), FileSystem: errorfs.Wrap(vfs.Default, probes), Log: slog.New(slog.DiscardHandler)})
	defer s.Close()
	s.fail(syscall.ENOSPC)
	probes.on.Store(true)
	var group sync.WaitGroup
	var negative atomic.Int64
	for range 40 {
		group.Go(func() {
			if !s.MayRecover() {
				negative.Add(1)
			}
		})
	}
	group.Wait()
	if negative.Load() > 0 || probes.hits.Load() != 1 {
		t.Errorf("MayRecover() = false in %d of 40 calls with %d probes, want none with one", negative.Load(), probes.hits.Load())
	}
}

// TestPebbleError: pebbleError wraps the error among the arguments of the log message.
func TestPebbleError(t *testing.T) {
	err := pebbleError("fsync of %s: %v", []any{"a.log", syscall.ENOSPC})
	if err.Error() != "fsync of a.log: no space left on device" || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("pebbleError() = %v, want the formatted text and an error that wraps ENOSPC", err)
	}
	if err := pebbleError("%d bytes", []any{3}); err.Error() != "3 bytes" {
		t.Errorf("pebbleError() = %v, want 3 bytes", err)
	}
}
