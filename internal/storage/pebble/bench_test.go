package pebble

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cadastre/cadastre/internal/storage"
)

// BenchmarkCommit has 64 writers change their items, for profiles; make bench-store compares.
func BenchmarkCommit(b *testing.B) {
	s, err := Open(Options{Folder: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	var left atomic.Int64
	left.Store(int64(b.N))
	b.ReportAllocs()
	b.ResetTimer()
	var wg sync.WaitGroup
	for w := range 64 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			var revisions [16]storage.Revision
			for n := 0; left.Add(-1) >= 0; n++ {
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
		}()
	}
	wg.Wait()
}

// BenchmarkKeep is what it costs a creation to depend on another item, which was written long ago.
func BenchmarkKeep(b *testing.B) {
	for _, keeps := range []bool{false, true} {
		b.Run(fmt.Sprint("keeps=", keeps), func(b *testing.B) {
			s, err := Open(Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			guard, err := s.Commit(b.Context(), storage.Write{Key: "core/namespaces/default", Value: make([]byte, 500)})
			if err != nil {
				b.Fatal(err)
			}
			s.recent = recentItems{} // it is so long ago
			value := make([]byte, 3000)
			var n atomic.Int64
			b.ReportAllocs()
			b.SetParallelism(32)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					writes := make([]storage.Write, 0, 2)
					if keeps {
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
