package storebench

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// fakeTarget is a store whose commits take a millisecond each, which uses a quarter of a CPU, and which sends ten
// events per millisecond to each watcher.
type fakeTarget struct {
	start time.Time
	mu    sync.Mutex
	items map[string]int64
	last  int64
	// failAt is the revision whose commit fails; 0 for none.
	failAt int64
	// slow makes one watcher fail with errCutOff immediately.
	slow atomic.Bool
}

var errFake = errors.New("no more")

func newFakeTarget() *fakeTarget { return &fakeTarget{start: time.Now(), items: map[string]int64{}} }

func (f *fakeTarget) Commit(_ context.Context, key string, expected int64, value []byte) (int64, error) {
	time.Sleep(time.Millisecond) // virtual time of synctest
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.last++; f.last == f.failAt {
		return 0, errFake
	}
	if f.items[key] != expected || len(value) != ValueSize {
		return 0, errors.New("revision conflict")
	}
	f.items[key] = f.last
	return f.last, nil
}

func (f *fakeTarget) Watch(ctx context.Context, w *Watcher) error {
	if f.slow.CompareAndSwap(true, false) {
		return errCutOff
	}
	w.Ready()
	// Delay the events by half a millisecond of the virtual time of synctest, so that none of them coincides with an
	// edge of the window.
	time.Sleep(time.Millisecond / 2)
	for ctx.Err() == nil {
		w.Count(10)
		time.Sleep(time.Millisecond) // virtual time of synctest
	}
	return ctx.Err()
}

func (f *fakeTarget) CPU() (time.Duration, error) { return time.Since(f.start) / 4, nil }

// TestLoad checks that only commits and events within the window count, but neither the creation of keys nor the
// warm-up.
func TestLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		target := newFakeTarget()
		target.slow.Store(true)
		l := Load{Writers: 3, Watchers: 2, Warmup: 50 * time.Millisecond, Window: 100 * time.Millisecond}
		got, err := l.Run(t.Context(), target)
		want := Result{Load: l, Commits: 300, Events: 2000, Calls: 200, CPU: 25 * time.Millisecond, P50: time.Millisecond, P99: time.Millisecond, CutOff: 1}
		if err != nil || got != want {
			t.Errorf("Run() = %+v, %v, want %+v", got, err, want)
		}
		if got.CPUPerEvent() != float64(25*time.Millisecond)/2000 {
			t.Errorf("CPUPerEvent() = %v, want the CPU time divided by the number of events", got.CPUPerEvent())
		}
		if len(target.items) != 3*keysPerWriter {
			t.Errorf("the target contains %d keys, want %d per writer", len(target.items), keysPerWriter)
		}
		if got.CommitRate() != 3000 || got.EventRate() != 20000 || got.CPUPerCommit() != float64(25*time.Millisecond)/300 {
			t.Errorf("CommitRate() = %v, EventRate() = %v, CPUPerCommit() = %v, want 3000, 20000 and 25 ms / 300", got.CommitRate(), got.EventRate(), got.CPUPerCommit())
		}
		if got.Delivered() != 2000./600 {
			t.Errorf("Delivered() = %v, want 2000/600", got.Delivered())
		}
	})
}

// TestLoadFails checks that the first error ends the load, and that no goroutine remains, which synctest verifies.
func TestLoadFails(t *testing.T) {
	const whileCreating, later = 20, 150
	for _, failAt := range []int64{whileCreating, later} {
		synctest.Test(t, func(t *testing.T) {
			target := newFakeTarget()
			target.failAt = failAt
			_, err := Load{Writers: 3, Watchers: 2, Warmup: time.Second, Window: time.Hour}.Run(t.Context(), target)
			if !errors.Is(err, errFake) {
				t.Errorf("Run() = %v, want %v", err, errFake)
			}
		})
	}
}

func TestLoadTooShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if _, err := (Load{Writers: 1, Window: time.Microsecond}).Run(t.Context(), newFakeTarget()); !errors.Is(err, errTooShort) {
			t.Errorf("Run() = %v, want %v", err, errTooShort)
		}
	})
}
