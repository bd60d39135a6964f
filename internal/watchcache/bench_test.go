package watchcache

import (
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cadastre/cadastre/internal/storage"
)

// BenchmarkFanOut measures the cost of delivering one event to one watcher, for several numbers of watchers.
func BenchmarkFanOut(b *testing.B) {
	for _, watchers := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprint(watchers), func(b *testing.B) {
			c := openCache(b, openStore(b), Options{})
			var delivered atomic.Int64
			var wait sync.WaitGroup
			for range watchers {
				w, err := c.Watch(b.Context(), WatchOptions{Selection: Selection{Kind: pods}})
				if err != nil {
					b.Fatal(err)
				}
				wait.Go(func() {
					defer w.Close()
					for {
						events, err := w.Next(b.Context())
						if err != nil {
							return
						}
						delivered.Add(int64(len(events)))
					}
				})
			}
			revision := c.progress.revision()
			value := []byte(exampleObject(3000))
			b.ResetTimer()
			for range b.N/watchers + 1 {
				revision++
				c.applyBatch(storage.Batch{Revision: revision, Events: []storage.Event{{Key: "core/pods/default/web", Value: value, Revision: revision}}})
				for delivered.Load() < int64(revision-10)*int64(watchers) {
					// The writer waits until it is at most ten events ahead of the slowest watcher.
				}
			}
			for delivered.Load() < int64(revision)*int64(watchers) {
			}
			b.StopTimer()
			c.Close()
			wait.Wait()
		})
	}
}

// BenchmarkList measures the time per listed object, which includes selecting the object and copying its JSON.
func BenchmarkList(b *testing.B) {
	s := openStore(b)
	const count = 20_000
	value := exampleObject(3000)
	var writes []storage.Write
	for i := range count {
		name := fmt.Sprintf("p%07d", i)
		writes = append(writes, storage.Write{Key: "core/pods/default/" + name, Value: []byte(nameIn(value, name))})
	}
	if _, err := s.Commit(b.Context(), writes...); err != nil {
		b.Fatal(err)
	}
	c := openCache(b, s, Options{})
	for name, selection := range map[string]Selection{"all": {}, "label": {Labels: labelSelector(b, "app=web")}, "label-no-match": {Labels: labelSelector(b, "app=db")}} {
		b.Run(name, func(b *testing.B) {
			selection.Kind = pods
			for range b.N/count + 1 {
				if _, err := c.List(b.Context(), Query{Selection: selection}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("bytes", func(b *testing.B) {
		b.SetBytes(int64(len(value)))
		buffer := make([]byte, 0, 1<<20)
		for range b.N/count + 1 {
			l, err := c.List(b.Context(), Query{Selection: Selection{Kind: pods}})
			if err != nil {
				b.Fatal(err)
			}
			for _, o := range l.Objects {
				if len(buffer)+o.JSONSize() > cap(buffer) {
					buffer = buffer[:0]
				}
				buffer = o.AppendJSON(buffer)
			}
		}
	})
	b.Run("copy", func(b *testing.B) {
		b.SetBytes(int64(len(value)))
		buffer := make([]byte, 0, 1<<20)
		for range b.N/count + 1 {
			for _, w := range writes {
				if len(buffer)+len(w.Value) > cap(buffer) {
					buffer = buffer[:0]
				}
				buffer = append(buffer, w.Value...)
			}
		}
	})
}

// BenchmarkCommit measures a commit through the cache to an in-memory store, with eight concurrent writers.
func BenchmarkCommit(b *testing.B) {
	c := openCache(b, openStore(b), Options{})
	value := exampleObject(3000)
	const writers = 8
	b.ReportAllocs()
	var wait sync.WaitGroup
	before := processTime(b)
	for w := range writers {
		name := fmt.Sprintf("p%d", w)
		key, text := "core/pods/default/"+name, []byte(nameIn(value, name))
		wait.Go(func() {
			var last storage.Revision
			for range b.N/writers + 1 {
				_, revision, err := c.Commit(b.Context(), storage.Write{Key: key, Expected: last, Value: text})
				if err != nil {
					b.Error(err)
					return
				}
				last = revision
			}
		})
	}
	wait.Wait()
	b.ReportMetric(float64(processTime(b)-before)/float64(b.N), "cpu-ns/op")
}

// processTime returns the CPU time that the process has used so far.
func processTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
