package registry

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/storage/pebble"
	"github.com/cadastre/cadastre/internal/watchcache/watchcachetest"
)

// TestKeyQueues checks that writers of one key are at the head of its queue one at a time and in their order, and that abandoned
// waits do not stop the queue.
func TestKeyQueues(t *testing.T) {
	var k keyQueues
	if k.enter(t.Context(), "a", false, time.Hour) != nil {
		t.Fatal("enter() without a queue returned a function, want nil")
	}
	first := k.enter(t.Context(), "a", true, time.Hour)
	k.enter(t.Context(), "b", true, time.Hour)() // another key has a queue of its own
	if leave := k.enter(t.Context(), "a", true, time.Nanosecond); leave != nil {
		t.Error("enter() after its limit returned a function, want nil")
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if leave := k.enter(canceled, "a", false, time.Hour); leave != nil {
		t.Error("enter() with a canceled context returned a function, want nil")
	}
	first()
	if len(k.queues) != 0 {
		t.Errorf("queues after the last writer: got %d, want none", len(k.queues))
	}

	var active, entered atomic.Int32
	var running sync.WaitGroup
	for i := range 50 {
		running.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(i)))
			for range 200 {
				limit := time.Hour
				if random.IntN(3) == 0 {
					limit = time.Duration(random.IntN(20_000))
				}
				leave := k.enter(t.Context(), "a", true, limit)
				if leave == nil {
					continue
				}
				if active.Add(1) != 1 {
					t.Error("two writers are at the head of the queue")
				}
				entered.Add(1)
				active.Add(-1)
				leave()
			}
		})
	}
	running.Wait()
	if len(k.queues) != 0 || entered.Load() < 5000 {
		t.Errorf("after all writers: %d queues and %d writes, want no queue and at least 5000 writes", len(k.queues), entered.Load())
	}
}

// countingStore counts the commits of a store, which take at least delay.
type countingStore struct {
	storage.Store
	delay   time.Duration
	commits atomic.Int64
}

func (s *countingStore) Commit(ctx context.Context, writes ...storage.Write) (storage.Revision, error) {
	s.commits.Add(1)
	if s.delay > 0 {
		<-time.After(s.delay)
	}
	return s.Store.Commit(ctx, writes...)
}

// hotObject lets writers change a field each of one object in a store, and returns the number of commits, including commits
// that failed with a conflict.
func hotObject(t testing.TB, s *countingStore, writers, writes int) (commits int64) {
	t.Helper()
	o := openStore(t, s, Options{})
	endpoint := o.endpoint(t, "", "configmaps")
	if _, err := o.Create(t.Context(), request(endpoint, "default", "", Body{Text: `{"metadata":{"name":"hot"}}`})); err != nil {
		t.Fatal(err)
	}
	before := s.commits.Load()
	var running sync.WaitGroup
	for i := range writers {
		running.Go(func() {
			for j := range writes {
				patch := Body{Text: fmt.Sprintf(`{"data":{"k%d":"%d"}}`, i, j)}
				if _, err := o.Patch(t.Context(), request(endpoint, "default", "hot", patch), MergePatch); err != nil {
					t.Error(err)
				}
			}
		})
	}
	running.Wait()
	return s.commits.Load() - before
}

// TestHotObject checks that writers of one object rarely repeat their writes: without queues, 50 writers need 30 commits per write.
func TestHotObject(t *testing.T) {
	const writers, writes = 50, 20
	commits := hotObject(t, &countingStore{Store: watchcachetest.OpenStore(t), delay: 100 * time.Microsecond}, writers, writes)
	t.Logf("%d commits for %d writes", commits, writers*writes)
	if commits > 2*writers*writes {
		t.Errorf("commits for %d writes of %d writers: got %d, want at most %d", writers*writes, writers, commits, 2*writers*writes)
	}
}

// BenchmarkHotObject measures the duration of a write of one object that many writers change, on disk.
func BenchmarkHotObject(b *testing.B) {
	for _, writers := range []int{1, 16, 190} {
		b.Run(fmt.Sprint(writers, " writers"), func(b *testing.B) {
			s, err := pebble.Open(pebble.Options{Folder: b.TempDir()})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			writes := b.N/writers + 1
			b.ReportMetric(float64(hotObject(b, &countingStore{Store: s}, writers, writes))/float64(writers*writes), "commits/write")
		})
	}
}
