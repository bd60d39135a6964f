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

// faulty is a file system that can be told to fail.
type faulty struct {
	err  error
	kind func(op errorfs.Op) bool
	on   atomic.Bool
	hits atomic.Int64
}

func (f *faulty) String() string { return "faulty" }

func (f *faulty) MaybeError(op errorfs.Op) error {
	if !f.on.Load() || !f.kind(op) {
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

// TestDiskFails: when the disk fails, commits under way may have been done, later ones are
// refused, reads go on; and opened again the store has all that was acknowledged.
func TestDiskFails(t *testing.T) {
	for _, test := range []struct {
		name string
		kind func(op errorfs.Op) bool
		err  error
	}{
		{"sync of the log", func(op errorfs.Op) bool { return isWAL(op) && onSyncs(op) }, errors.New("input/output error")},
		{"write to the log", func(op errorfs.Op) bool { return isWAL(op) && onWrites(op) }, errors.New("input/output error")},
		{"disk full", onWrites, syscall.ENOSPC},
		{"everything", func(op errorfs.Op) bool { return onWrites(op) || onSyncs(op) }, errors.New("gone")},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := &faulty{kind: test.kind, err: test.err}
			memory := vfs.NewCrashableMem()
			s := open(t, Options{Folder: "data", FileSystem: errorfs.Wrap(memory, f), Log: slog.New(slog.DiscardHandler)})
			l := newLoad(s, 8)
			waitFor(t, func() bool { return len(l.snapshot().counts) > 0 })
			f.on.Store(true)
			waitFor(t, func() bool { return s.failure.reason() != nil })
			l.stop()
			acknowledged := l.snapshot()
			if len(acknowledged.counts) == 0 {
				t.Fatal("nothing was acknowledged")
			}
			checkRefuses(t, s, test.err)
			acknowledged.check(t, s)
			if err := s.Close(); !errors.Is(err, test.err) {
				t.Errorf("close: %v", err)
			}
			again := open(t, Options{Folder: "data", FileSystem: memory.CrashClone(vfs.CrashCloneCfg{})})
			acknowledged.check(t, again)
			if _, err := again.Commit(t.Context(), storage.Write{Key: "new", Value: []byte("1")}); err != nil {
				t.Errorf("after recovery: %v", err)
			}
			if err := again.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// checkRefuses checks that there are no more commits, and that the reason is told.
func checkRefuses(t *testing.T, s *Store, reason error) {
	t.Helper()
	start := time.Now()
	_, err := s.Commit(t.Context(), storage.Write{Key: "more", Value: []byte("1")})
	if failure := s.Failure(); !errors.Is(failure, reason) {
		t.Errorf("the failure is %v, want %v", failure, reason)
	}
	if !errors.Is(err, reason) || !strings.Contains(err.Error(), "takes no commits since") {
		t.Errorf("received %v, want a refusal because of %v", err, reason)
	}
	var unknown *storage.UnknownError
	if errors.As(err, &unknown) || time.Since(start) > 10*time.Second {
		t.Errorf("received %v after %v, want a plain refusal at once", err, time.Since(start))
	}
	if err := s.Compact(t.Context(), 1); err == nil {
		t.Error("a failed store compacts")
	}
}

// TestBackgroundFails: what is in memory goes to disk in the background. If that fails, reads go
// on, and nothing that was acknowledged is lost.
func TestBackgroundFails(t *testing.T) {
	for _, test := range []struct {
		name string
		kind func(op errorfs.Op) bool
	}{
		{"tables", func(op errorfs.Op) bool {
			return strings.HasSuffix(op.Path, ".sst") && (onWrites(op) || onSyncs(op) || op.Kind == errorfs.OpCreate)
		}},
		{"manifest", func(op errorfs.Op) bool {
			return strings.HasPrefix(path.Base(op.Path), "MANIFEST") && (onWrites(op) || onSyncs(op))
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := &faulty{kind: test.kind, err: errors.New("input/output error")}
			memory := vfs.NewCrashableMem()
			s := open(t, Options{Folder: "data", FileSystem: errorfs.Wrap(memory, f), Log: slog.New(slog.DiscardHandler)})
			f.on.Store(true)
			last := map[string]storage.Revision{}
			for i := 0; i < 400 && s.failure.reason() == nil; i++ {
				key := fmt.Sprintf("k/%d", i%50)
				r, err := s.Commit(t.Context(), storage.Write{Key: key, Expected: last[key], Value: make([]byte, 10_000)})
				if err != nil {
					delete(last, key) // it may have been done
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
					t.Fatalf("%s is at %d, %v, want %d", key, item.Revision, err, revision)
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
					t.Errorf("opened again: %s is at %d, %v, want %d", key, item.Revision, err, revision)
				}
			}
		})
	}
}

func waitFor(t *testing.T, happened func() bool) {
	t.Helper()
	testwait.For(t, "the condition", happened)
}

// TestMayRecover: not while the disk is full, and when it no longer is.
func TestMayRecover(t *testing.T) {
	f := &faulty{kind: onWrites, err: syscall.ENOSPC}
	s := open(t, Options{Folder: "data", FileSystem: errorfs.Wrap(vfs.NewMem(), f), Log: slog.New(slog.DiscardHandler)})
	defer s.Close()
	f.on.Store(true)
	if _, err := s.Commit(t.Context(), storage.Write{Key: "a", Value: []byte("1")}); err == nil {
		t.Fatal("the commit was done")
	}
	if s.Failure() == nil || s.MayRecover() {
		t.Errorf("failure %v on a disk that is full, and may recover: %v", s.Failure(), s.MayRecover())
	}
	f.on.Store(false)
	waitFor(t, s.MayRecover)
	if s.Failure() == nil {
		t.Error("the store takes commits again without a restart")
	}
	if names, err := s.options.FileSystem.List("data"); err != nil || slices.Contains(names, trialFile) {
		t.Errorf("%v, %v", names, err)
	}
	damaged := open(t, Options{Folder: "data", FileSystem: vfs.NewMem(), Log: slog.New(slog.DiscardHandler)})
	defer damaged.Close()
	damaged.foundDamage(pebble.DataCorruptionInfo{Path: "000004.sst", Details: errors.New("checksum mismatch")})
	if damaged.Failure() == nil || damaged.MayRecover() {
		t.Errorf("failure %v, and may recover: %v", damaged.Failure(), damaged.MayRecover())
	}
}

// TestMayRecoverAtOnce: all who ask at once hear the same, and the disk is tried once for all of them.
func TestMayRecoverAtOnce(t *testing.T) {
	tried := &faulty{kind: func(op errorfs.Op) bool { return op.Kind == errorfs.OpCreate && path.Base(op.Path) == trialFile }}
	s := open(t, Options{Folder: t.TempDir(), FileSystem: errorfs.Wrap(vfs.Default, tried), Log: slog.New(slog.DiscardHandler)})
	defer s.Close()
	s.fail(syscall.ENOSPC)
	tried.on.Store(true)
	var group sync.WaitGroup
	var no atomic.Int64
	for range 40 {
		group.Go(func() {
			if !s.MayRecover() {
				no.Add(1)
			}
		})
	}
	group.Wait()
	if no.Load() > 0 || tried.hits.Load() != 1 {
		t.Errorf("on a disk that is well %d of 40 were told that it is not; it was tried %d times, want once", no.Load(), tried.hits.Load())
	}
}

// TestPebbleError: what Pebble calls fatal is still the error that it is.
func TestPebbleError(t *testing.T) {
	err := pebbleError("fsync of %s: %v", []any{"a.log", syscall.ENOSPC})
	if err.Error() != "fsync of a.log: no space left on device" || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("received %v", err)
	}
	if err := pebbleError("%d bytes", []any{3}); err.Error() != "3 bytes" {
		t.Errorf("received %v", err)
	}
}
