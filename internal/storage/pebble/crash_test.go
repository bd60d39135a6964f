package pebble

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/storage/storagetest"
)

// TestModel runs random operations on the store and on storagetest's model and compares the results. Now and then the store
// is closed or loses power, and is then reopened.
func TestModel(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 1))
		fs := vfs.NewCrashableMem()
		options := func() Options {
			return Options{Folder: "data", FileSystem: fs, ProgressInterval: time.Millisecond, HistoryAge: -1}
		}
		backend := storagetest.Backend{Open: func(t *testing.T) storage.Store { return open(t, options()) }}
		reopen := func(t *testing.T, s storage.Store) storage.Store {
			if r.IntN(2) == 0 {
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				return open(t, options())
			}
			crashed := fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: r.IntN(101), RNG: r})
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			fs = crashed
			return open(t, options())
		}
		storagetest.RunModel(t, backend, reopen, seed, 300)
	}
}

// TestPowerLoss: after a power loss during concurrent commits, every acknowledged commit exists at its revision, no commit is
// partial, and the history has no gap.
func TestPowerLoss(t *testing.T) {
	for round := range 20 {
		r := rand.New(rand.NewPCG(uint64(round), 2))
		fs := vfs.NewCrashableMem()
		s := open(t, Options{Folder: "data", FileSystem: fs})
		g := startWriterGroup(s, 8)
		minCommits := r.IntN(100)
		waitFor(t, func() bool { return g.commits() >= minCommits })
		acknowledged := g.snapshot() // taken before the power loss: all of these commits must survive it
		crashed := fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: r.IntN(101), RNG: r})
		g.stop()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		again := open(t, Options{Folder: "data", FileSystem: crashed})
		acknowledged.check(t, again)
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// writerGroup is a group of concurrent writers. Each writer repeatedly increments the values of its two items in one commit.
type writerGroup struct {
	s       storage.Store
	stopped context.CancelFunc
	wg      sync.WaitGroup
	mu      sync.Mutex
	acked   ackedCommits
}

// ackedCommits holds, for each writer, the value and the revision of its last acknowledged commit.
type ackedCommits struct {
	counts    map[int]int
	revisions map[int]storage.Revision
}

func startWriterGroup(s storage.Store, writers int) *writerGroup {
	ctx, cancel := context.WithCancel(context.Background())
	g := &writerGroup{s: s, stopped: cancel, acked: ackedCommits{map[int]int{}, map[int]storage.Revision{}}}
	for w := range writers {
		g.wg.Add(1)
		go g.write(ctx, w)
	}
	return g
}

func (g *writerGroup) write(ctx context.Context, writer int) {
	defer g.wg.Done()
	revision := storage.Revision(0)
	for n := 1; ctx.Err() == nil; n++ {
		value := fmt.Appendf(nil, "%d", n)
		next, err := g.s.Commit(context.Background(),
			storage.Write{Key: fmt.Sprintf("left/%d", writer), Expected: revision, Value: value},
			storage.Write{Key: fmt.Sprintf("right/%d", writer), Expected: revision, Value: value})
		if err != nil {
			return
		}
		revision = next
		g.mu.Lock()
		g.acked.counts[writer], g.acked.revisions[writer] = n, next
		g.mu.Unlock()
	}
}

func (g *writerGroup) snapshot() ackedCommits {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := ackedCommits{map[int]int{}, map[int]storage.Revision{}}
	for w, n := range g.acked.counts {
		out.counts[w], out.revisions[w] = n, g.acked.revisions[w]
	}
	return out
}

// commits returns the number of commits of all writers that have been acknowledged so far.
func (g *writerGroup) commits() (count int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, n := range g.acked.counts {
		count += n
	}
	return count
}

func (g *writerGroup) stop() {
	g.stopped()
	g.wg.Wait()
}

// check checks that a store contains all acknowledged commits, that no commit is partial, and that its history is consistent.
func (a ackedCommits) check(t *testing.T, s storage.Store) {
	t.Helper()
	ctx := t.Context()
	for w, count := range a.counts {
		left, leftErr := s.Get(ctx, fmt.Sprintf("left/%d", w))
		right, rightErr := s.Get(ctx, fmt.Sprintf("right/%d", w))
		if leftErr != nil || rightErr != nil {
			t.Fatalf("writer %d: Get() of its two items = errors %v, %v, want none", w, leftErr, rightErr)
		}
		if string(left.Value) != string(right.Value) || left.Revision != right.Revision {
			t.Errorf("writer %d: its two items are %s@%d and %s@%d, want equal values and revisions", w, left.Value, left.Revision, right.Value, right.Revision)
		}
		if n := number(left.Value); n < count || n == count && left.Revision != a.revisions[w] {
			t.Errorf("writer %d: Get() = %s at revision %d, want the acknowledged %d at %d", w, left.Value, left.Revision, count, a.revisions[w])
		}
	}
	checkHistory(t, s)
}

func number(value []byte) (n int) {
	_, _ = fmt.Sscan(string(value), &n)
	return n
}

// checkHistory checks that the events of the history are consecutive, and that replaying them yields the current items.
func checkHistory(t *testing.T, s storage.Store) {
	t.Helper()
	ctx := t.Context()
	now, err := s.Revision(ctx)
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.Watch(ctx, "", 0)
	if errors.Is(err, storage.ErrCompacted) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	items := map[string]storage.Event{}
	last := storage.Revision(0)
	for last < now {
		batch, err := w.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range batch.Events {
			if e.Revision != last && e.Revision != last+1 {
				t.Fatalf("the event at revision %d follows the event at revision %d, want consecutive revisions", e.Revision, last)
			}
			if e.PreviousRevision != items[e.Key].Revision || string(e.Previous) != string(items[e.Key].Value) {
				t.Fatalf("the event at revision %d: its previous value differs from the value written at revision %d", e.Revision, items[e.Key].Revision)
			}
			items[e.Key], last = e, e.Revision
		}
		last = max(last, batch.Revision)
	}
	page, err := s.List(ctx, storage.Range{Revision: now})
	if err != nil || len(page.Items) != len(items) {
		t.Fatalf("List() = %d items, %v, want the %d items of the history", len(page.Items), err, len(items))
	}
	for _, item := range page.Items {
		if e := items[item.Key]; e.Revision != item.Revision || string(e.Value) != string(item.Value) {
			t.Errorf("List(): %s is %s@%d, want %s@%d as in the history", item.Key, item.Value, item.Revision, e.Value, e.Revision)
		}
	}
}
