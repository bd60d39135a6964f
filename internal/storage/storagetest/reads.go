package storagetest

import (
	"context"
	"errors"
	"fmt"

	"github.com/cadastre/cadastre/internal/storage"
)

func testList(k *kit) {
	for _, key := range []string{"b/2", "a", "b/1", "b", "c", "b/10", "b0"} {
		k.put(key, 0, key)
	}
	k.wantList(storage.Range{}, "a=a", "b=b", "b/1=b/1", "b/10=b/10", "b/2=b/2", "b0=b0", "c=c")
	k.wantList(storage.Range{Prefix: "b/"}, "b/1=b/1", "b/10=b/10", "b/2=b/2")
	k.wantList(storage.Range{Prefix: "b/1"}, "b/1=b/1", "b/10=b/10")
	k.wantList(storage.Range{Prefix: "b/", After: "b/1"}, "b/10=b/10", "b/2=b/2")
	k.wantList(storage.Range{Prefix: "b/", After: "b/11"}, "b/2=b/2")
	k.wantList(storage.Range{Prefix: "b/", After: "b/2"})
	k.wantList(storage.Range{Prefix: "b/", After: "a"}, "b/1=b/1", "b/10=b/10", "b/2=b/2")
	k.wantList(storage.Range{Prefix: "x"})
	k.wantList(storage.Range{After: "b0"}, "c=c")
}

// testPages: all pages of a list show the state at the revision of the first.
func testPages(k *kit) {
	for i := range 10 {
		k.put(fmt.Sprintf("k/%d", i), 0, "old")
	}
	page := k.wantList(storage.Range{Prefix: "k/", Limit: 4}, "k/0=old", "k/1=old", "k/2=old", "k/3=old")
	k.wantMore(page, true)
	k.put("k/4", k.at(5), "new")
	k.delete("k/5", k.at(6))
	k.put("k/55", 0, "new")
	page = k.wantList(storage.Range{Prefix: "k/", Limit: 4, After: "k/3", Revision: page.Revision}, "k/4=old", "k/5=old", "k/6=old", "k/7=old")
	page = k.wantList(storage.Range{Prefix: "k/", Limit: 4, After: "k/7", Revision: page.Revision}, "k/8=old", "k/9=old")
	k.wantMore(page, false)
	page = k.wantList(storage.Range{Prefix: "k/", After: "k/3", Limit: 2}, "k/4=new", "k/55=new")
	k.wantMore(page, true)
	page = k.wantList(storage.Range{Prefix: "k/", After: "k/7", Limit: 2}, "k/8=old", "k/9=old")
	k.wantMore(page, false)
}

func (k *kit) wantMore(page storage.Page, want bool) {
	k.Helper()
	if page.More != want {
		k.Errorf("Page.More = %v, want %v", page.More, want)
	}
}

func testListAtRevision(k *kit) {
	k.put("a", 0, "1")
	k.put("b", 0, "1")
	k.put("a", k.at(1), "2")
	k.delete("b", k.at(2))
	k.put("b", 0, "3")
	k.wantList(storage.Range{Revision: k.at(1)}, "a=1")
	k.wantList(storage.Range{Revision: k.at(2)}, "a=1", "b=1")
	k.wantList(storage.Range{Revision: k.at(3)}, "a=2", "b=1")
	k.wantList(storage.Range{Revision: k.at(4)}, "a=2")
	k.wantList(storage.Range{Revision: k.at(5)}, "a=2", "b=3")
	if _, err := k.s.List(k.ctx, storage.Range{Revision: k.at(5) + 1}); !errors.Is(err, storage.ErrFuture) {
		k.Errorf("List() at a future revision = %v, want %v", err, storage.ErrFuture)
	}
	last := k.at(3)
	for range 20 {
		last = k.put("a", last, "more")
	}
	k.wantList(storage.Range{Revision: k.at(2)}, "a=1", "b=1")
	k.wantList(storage.Range{}, "a=more", "b=3")
}

func testWatch(k *kit) {
	k.put("a", 0, "1")
	k.put("a", k.at(1), "2")
	k.delete("a", k.at(2))
	k.commit(storage.Write{Key: "a", Value: []byte("3")}, storage.Write{Key: "b", Value: []byte("3")})
	k.wantEvents(k.watch("", k.at(0)), "1 a=1", "2 a=2 was 1@1", "3 a=deleted was 2@2", "4 a=3", "4 b=3")
	k.wantEvents(k.watch("", k.at(2)), "3 a=deleted was 2@2", "4 a=3", "4 b=3")
	k.wantEvents(k.watch("", k.at(3)), "4 a=3", "4 b=3")
}

// testWatchLive: watchers return events while they happen, and events of long ago.
func testWatchLive(k *kit) {
	w := k.watch("", k.at(0))
	k.put("a", 0, "1")
	k.wantEvents(w, "1 a=1")
	k.put("a", k.at(1), "2")
	k.wantEvents(w, "2 a=2 was 1@1")
	future := k.watch("", k.at(2)+1)
	k.delete("a", k.at(2))
	k.wantEvents(w, "3 a=deleted was 2@2")
	k.put("b", 0, "1")
	if k.at(3) > k.at(2)+1 {
		k.wantEvents(future, "3 a=deleted was 2@2")
	}
	k.wantEvents(future, "4 b=1")
	k.wantEvents(w, "4 b=1")
	// So many large values that an implementation reads most of them from disk.
	const count = 3000
	last := storage.Revision(0)
	for i := range count {
		last = k.put("big", last, fmt.Sprintf("%04d%06000d", i, 0))
	}
	k.checkStream(w, count)
	k.checkStream(k.watch("big", k.at(3)), count)
}

func testWatchPrefix(k *kit) {
	w := k.watch("b/", k.at(0))
	k.put("a", 0, "1")
	k.put("b", 0, "1")
	k.put("b/1", 0, "1")
	k.commit(storage.Write{Key: "b/2", Value: []byte("1")}, storage.Write{Key: "c", Value: []byte("1")})
	k.put("b0", 0, "1")
	k.put("b/3", 0, "1")
	k.wantEvents(w, "3 b/1=1", "4 b/2=1", "6 b/3=1")
}

// testWatchBatches: the events of a revision are in one batch, in the order of the writes, for live and for past events.
func testWatchBatches(k *kit) {
	live := k.watch("", k.at(0))
	const commits, writes = 20, 50
	for n := range commits {
		var all []storage.Write
		for i := range writes {
			all = append(all, storage.Write{Key: fmt.Sprintf("%d/%d", n, writes-i), Value: []byte("1")})
		}
		k.commit(all...)
	}
	for name, w := range map[string]storage.Watcher{"live": live, "past": k.watch("", k.at(0))} {
		for n, last := 0, storage.Revision(0); n < commits*writes; {
			batch, err := w.Next(k.ctx)
			if err != nil {
				k.Fatalf("%s: Next() = %v", name, err)
			}
			for _, e := range batch.Events {
				if want := fmt.Sprintf("%d/%d", n/writes, writes-n%writes); e.Key != want {
					k.Fatalf("%s: Next(): event %d is of key %s, want %s", name, n, e.Key, want)
				}
				if e.Revision <= last {
					k.Fatalf("%s: Next(): an event of revision %d follows the batch up to %d", name, e.Revision, last)
				}
				n++
			}
			if len(batch.Events)%writes != 0 {
				k.Fatalf("%s: Next() = %d events, want whole revisions of %d", name, len(batch.Events), writes)
			}
			last = batch.Revision
		}
	}
}

// testProgress: a watcher without events reports progress.
func testProgress(k *kit) {
	w := k.watch("b/", k.at(0))
	for i := range 5 {
		k.put(fmt.Sprintf("a/%d", i), 0, "1")
	}
	k.wantProgress(w, k.at(5))
	k.wantProgress(k.watch("b/", k.at(1)), k.at(5))
}

// wantProgress reads batches without events up to a revision.
func (k *kit) wantProgress(w storage.Watcher, revision storage.Revision) {
	k.Helper()
	ctx, cancel := context.WithTimeout(k.ctx, watchTimeout)
	defer cancel()
	for {
		batch, err := w.Next(ctx)
		if err != nil {
			k.Fatalf("Next() = %v, want progress up to revision %d", err, revision)
		}
		if len(batch.Events) > 0 {
			k.Fatalf("Next() = the events %v, want none", batch.Events)
		}
		if batch.Revision >= revision {
			return
		}
	}
}

// testWatchReachesRevision: a watcher of all keys reaches the revision that Revision returns without further commits. The
// watch cache waits for that before it serves a consistent read.
func testWatchReachesRevision(k *kit) {
	w := k.watch("", k.at(0))
	for i := range 10 {
		k.put(fmt.Sprint(i), 0, "1")
		now, err := k.s.Revision(k.ctx)
		if err != nil || now < k.at(i+1) {
			k.Fatalf("Revision() = %d, %v, want at least %d", now, err, k.at(i+1))
		}
		ctx, cancel := context.WithTimeout(k.ctx, watchTimeout)
		for reached := storage.Revision(0); reached < now; {
			batch, err := w.Next(ctx)
			if err != nil {
				k.Fatalf("Next() = %v, want progress up to revision %d", err, now)
			}
			reached = batch.Revision
		}
		cancel()
	}
}

func testCompact(k *kit) {
	k.put("a", 0, "1")
	k.put("b", 0, "1")
	k.put("a", k.at(1), "2")
	k.delete("b", k.at(2))
	k.put("c", 0, "1")
	compact := func(revision storage.Revision, want error) {
		k.Helper()
		if err := k.s.Compact(k.ctx, revision); !errors.Is(err, want) {
			k.Errorf("Compact(%d) = %v, want %v", revision, err, want)
		}
	}
	compact(k.at(4), nil)
	k.wantList(storage.Range{}, "a=2", "c=1")
	k.wantList(storage.Range{Revision: k.at(4)}, "a=2")
	for n := 1; n <= 3; n++ {
		if _, err := k.s.List(k.ctx, storage.Range{Revision: k.at(n)}); !errors.Is(err, storage.ErrCompacted) {
			k.Errorf("List() at commit %d = %v, want %v", n, err, storage.ErrCompacted)
		}
	}
	k.wantItem("a", "2", k.at(3))
	k.wantConflict("a", k.at(3), storage.Write{Key: "a", Expected: k.at(1), Value: []byte("x")})
	k.wantConflict("b", 0, storage.Write{Key: "b", Expected: k.at(2), Value: []byte("x")})
	compact(k.at(2), nil)
	compact(k.at(5)+1, storage.ErrFuture)
	compact(k.at(5), nil)
	k.put("a", k.at(3), "3")
	k.wantList(storage.Range{}, "a=3", "c=1")
}

func testWatchCompacted(k *kit) {
	current := k.watch("", k.at(0))
	last := storage.Revision(0)
	for i := range 10 {
		last = k.put("a", last, fmt.Sprint(i))
	}
	k.wantEvents(current, "1 a=0", "2 a=1 was 0@1", "3 a=2 was 1@2", "4 a=3 was 2@3", "5 a=4 was 3@4",
		"6 a=5 was 4@5", "7 a=6 was 5@6", "8 a=7 was 6@7", "9 a=8 was 7@8", "10 a=9 was 8@9")
	if err := k.s.Compact(k.ctx, k.at(5)); err != nil {
		k.Fatal(err)
	}
	for n := range 5 {
		w, err := k.s.Watch(k.ctx, "", k.at(n))
		if err == nil {
			_, err = w.Next(k.ctx)
			w.Close()
		}
		if !errors.Is(err, storage.ErrCompacted) {
			k.Errorf("Watch() after commit %d = %v, want %v", n, err, storage.ErrCompacted)
		}
	}
	k.wantEvents(k.watch("", k.at(5)), "6 a=5 was 4@5", "7 a=6 was 5@6", "8 a=7 was 6@7", "9 a=8 was 7@8", "10 a=9 was 8@9")
	// A watcher that has returned the compacted events continues.
	k.put("a", last, "10")
	k.wantEvents(current, "11 a=10 was 9@10")
}
