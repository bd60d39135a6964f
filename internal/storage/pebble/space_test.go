package pebble

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cadastre/cadastre/internal/lib/testwait"
	"github.com/cadastre/cadastre/internal/storage"
)

// limitedDisk is a file system that reports the given free space.
type limitedDisk struct {
	vfs.FS
	free atomic.Int64
}

func (d *limitedDisk) GetDiskUsage(string) (vfs.DiskUsage, error) {
	return vfs.DiskUsage{AvailBytes: uint64(d.free.Load())}, nil
}

// create creates an item and returns its revision.
func create(t *testing.T, s *Store, key string) (storage.Revision, error) {
	t.Helper()
	return s.Commit(t.Context(), storage.Write{Key: key, Value: []byte("1")})
}

// TestLowSpace: with little free space creations are rejected, with even less everything but deletions, and when there is space again
// everything is accepted without a restart.
func TestLowSpace(t *testing.T) {
	disk := &limitedDisk{FS: vfs.NewMem()}
	disk.free.Store(1000)
	s := open(t, Options{Folder: "data", FileSystem: disk, MinFreeBytes: 500})
	defer s.Close()
	revision, err := create(t, s, "core/nodes/a")
	if err != nil {
		t.Fatal(err)
	}
	refused := func(err error) bool {
		var noSpace *storage.NoSpaceError
		return errors.As(err, &noSpace)
	}
	creates := 0
	createRefused := func() bool {
		creates++
		_, err := create(t, s, fmt.Sprintf("core/nodes/n%d", creates))
		return refused(err)
	}
	update := func() (err error) {
		next, err := s.Commit(t.Context(), storage.Write{Key: "core/nodes/a", Expected: revision, Value: []byte("2")})
		if err == nil {
			revision = next
		}
		return err
	}
	disk.free.Store(400)
	testwait.For(t, "creations to be rejected", createRefused)
	if err := update(); err != nil {
		t.Errorf("update with 400 of 500 bytes free = %v, want nil", err)
	}
	disk.free.Store(200)
	testwait.For(t, "updates to be rejected", func() bool { return refused(update()) })
	if next, err := s.Commit(t.Context(), storage.Write{Key: "core/nodes/a", Expected: revision}); err != nil {
		t.Errorf("deletion with 200 of 500 bytes free = %d, %v, want nil", next, err)
	}
	if space := s.Space(); space.Alarm == nil || space.FreeBytes != 200 {
		t.Errorf("Space() = %+v, want an alarm and 200 bytes", space)
	}
	disk.free.Store(1000)
	testwait.For(t, "creations to be accepted", func() bool { return !createRefused() })
	if s.Failure() != nil {
		t.Errorf("Failure() = %v, want nil", s.Failure())
	}
}

// TestQuota: when the files of the store exceed the quota, creations are rejected. When enough was deleted, the space is reclaimed
// and creations are accepted without a restart.
func TestQuota(t *testing.T) {
	s := open(t, Options{Folder: t.TempDir(), QuotaBytes: 6 << 20, HistoryAge: 50e6})
	defer s.Close()
	random := make([]byte, 400_000)
	for i := range random {
		random[i] = byte(i * i >> 3)
	}
	last := map[string]storage.Revision{}
	for i := 0; ; i++ {
		key := fmt.Sprintf("core/configmaps/default/c%d", i)
		revision, err := s.Commit(t.Context(), storage.Write{Key: key, Value: random})
		if err != nil {
			if noSpace := (*storage.NoSpaceError)(nil); !errors.As(err, &noSpace) {
				t.Fatal(err)
			}
			break
		}
		last[key] = revision
		s.space.last.Store(nil) // so that each commit measures
		if i > 100 {
			t.Fatal("100 items of 400 kB were accepted with a quota of 6 MiB")
		}
	}
	for key, revision := range last {
		if _, err := s.Commit(t.Context(), storage.Write{Key: key, Expected: revision}); err != nil {
			t.Fatal(err)
		}
	}
	testwait.For(t, "creations to be accepted", func() bool {
		_, err := create(t, s, "core/nodes/a")
		return err == nil
	})
}
