package pebble

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cadastre/cadastre/internal/storage"
)

// BenchmarkCommit measures the time per commit with 64 concurrent writers. make bench-store runs the same comparison against
// etcd.
func BenchmarkCommit(b *testing.B) {
	s, err := Open(Options{Folder: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	b.ReportAllocs()
	commitConcurrently(b, s, 64)
}

// BenchmarkGroupWait measures the time per commit of concurrent writers, both when the committer waits for further commits of
// a group and when it does not. The result depends on how long an fsync takes on the disk.
func BenchmarkGroupWait(b *testing.B) {
	for _, writers := range []int{2, 8, 64} {
		for name, wait := range map[string]time.Duration{"waiting": maxGroupWait, "immediate": 0} {
			b.Run(fmt.Sprintf("writers=%d/%s", writers, name), func(b *testing.B) {
				s, err := Open(Options{Folder: b.TempDir()})
				if err != nil {
					b.Fatal(err)
				}
				defer s.Close()
				s.queue.mu.Lock()
				s.queue.maxWait = wait
				s.queue.mu.Unlock()
				commitConcurrently(b, s, writers)
			})
		}
	}
}

// commitConcurrently makes b.N commits from several concurrent writers. Each writer writes only its own items, so there are
// no conflicts.
func commitConcurrently(b *testing.B, s *Store, writers int) {
	b.Helper()
	var remaining atomic.Int64
	remaining.Store(int64(b.N))
	b.ResetTimer()
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			var err error
			var revisions [16]storage.Revision
			for n := 0; remaining.Add(-1) >= 0; n++ {
				value := make([]byte, 3000)
				for i := range value {
					value[i] = byte('a' + (i*7+n)%26)
				}
				i := n % len(revisions)
				revisions[i], err = s.Commit(b.Context(), storage.Write{Key: fmt.Sprintf("k/%d/%d", w, i), Expected: revisions[i], Value: value})
				if err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// BenchmarkCondition measures a create with and without a condition (Write.Keep) on an item that is no longer in the
// committer's cache.
func BenchmarkCondition(b *testing.B) {
	for _, conditional := range []bool{false, true} {
		b.Run(fmt.Sprint("conditional=", conditional), func(b *testing.B) {
			s, err := Open(Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			guard, err := s.Commit(b.Context(), storage.Write{Key: "core/namespaces/default", Value: make([]byte, 500)})
			if err != nil {
				b.Fatal(err)
			}
			s.recent = recentItems{} // emptying the cache simulates that the item was evicted
			value := make([]byte, 3000)
			var n atomic.Int64
			b.ReportAllocs()
			b.SetParallelism(32)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					writes := make([]storage.Write, 0, 2)
					if conditional {
						writes = append(writes, storage.Write{Key: "core/namespaces/default", Expected: guard, Keep: true})
					}
					writes = append(writes, storage.Write{Key: fmt.Sprintf("core/configmaps/default/%d", n.Add(1)), Value: value})
					if _, err := s.Commit(b.Context(), writes...); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}
