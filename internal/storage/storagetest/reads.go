package storagetest

import (
	"context"
	"errors"
	"fmt"

	"github.com/cadastre/cadastre/internal/storage"
)

func testList(h *harness) {
	for _, key := range []string{"b/2", "a", "b/1", "b", "c", "b/10", "b0"} {
		h.put(key, 0, key)
	}
	h.wantList(storage.Range{}, "a=a", "b=b", "b/1=b/1", "b/10=b/10", "b/2=b/2", "b0=b0", "c=c")
	h.wantList(storage.Range{Prefix: "b/"}, "b/1=b/1", "b/10=b/10", "b/2=b/2")
	h.wantList(storage.Range{Prefix: "b/1"}, "b/1=b/1", "b/10=b/10")
	h.wantList(storage.Range{Prefix: "b/", After: "b/1"}, "b/10=b/10", "b/2=b/2")
	h.wantList(storage.Range{Prefix: "b/", After: "b/11"}, "b/2=b/2")
	h.wantList(storage.Range{Prefix: "b/", After: "b/2"})
	h.wantList(storage.Range{Prefix: "b/", After: "a"}, "b/1=b/1", "b/10=b/10", "b/2=b/2")
	h.wantList(storage.Range{Prefix: "x"})
	h.wantList(storage.Range{After: "b0"}, "c=c")
}

// testPages: all pages of a list show the state at the revision of the first page.
func testPages(h *harness) {
	for i := range 10 {
		h.put(fmt.Sprintf("k/%d", i), 0, "old")
	}
	page := h.wantList(storage.Range{Prefix: "k/", Limit: 4}, "k/0=old", "k/1=old", "k/2=old", "k/3=old")
	h.wantMore(page, true)
	h.put("k/4", h.at(5), "new")
	h.delete("k/5", h.at(6))
	h.put("k/55", 0, "new")
	page = h.wantList(storage.Range{Prefix: "k/", Limit: 4, After: "k/3", Revision: page.Revision}, "k/4=old", "k/5=old", "k/6=old", "k/7=old")
	page = h.wantList(storage.Range{Prefix: "k/", Limit: 4, After: "k/7", Revision: page.Revision}, "k/8=old", "k/9=old")
	h.wantMore(page, false)
	page = h.wantList(storage.Range{Prefix: "k/", After: "k/3", Limit: 2}, "k/4=new", "k/55=new")
	h.wantMore(page, true)
	page = h.wantList(storage.Range{Prefix: "k/", After: "k/7", Limit: 2}, "k/8=old", "k/9=old")
	h.wantMore(page, false)
}

func (h *harness) wantMore(page storage.Page, want bool) {
	h.Helper()
	if page.More != want {
		h.Errorf("Page.More = %v, want %v", page.More, want)
	}
}

func testListAtRevision(h *harness) {
	h.put("a", 0, "1")
	h.put("b", 0, "1")
	h.put("a", h.at(1), "2")
	h.delete("b", h.at(2))
	h.put("b", 0, "3")
	h.wantList(storage.Range{Revision: h.at(1)}, "a=1")
	h.wantList(storage.Range{Revision: h.at(2)}, "a=1", "b=1")
	h.wantList(storage.Range{Revision: h.at(3)}, "a=2", "b=1")
	h.wantList(storage.Range{Revision: h.at(4)}, "a=2")
	h.wantList(storage.Range{Revision: h.at(5)}, "a=2", "b=3")
	if _, err := h.s.List(h.ctx, storage.Range{Revision: h.at(5) + 1}); !errors.Is(err, storage.ErrFuture) {
		h.Errorf("List() at a future revision = %v, want %v", err, storage.ErrFuture)
	}
	last := h.at(3)
	for range 20 {
		last = h.put("a", last, "more")
	}
	h.wantList(storage.Range{Revision: h.at(2)}, "a=1", "b=1")
	h.wantList(storage.Range{}, "a=more", "b=3")
}

func testWatch(h *harness) {
	h.put("a", 0, "1")
	h.put("a", h.at(1), "2")
	h.delete("a", h.at(2))
	h.commit(storage.Write{Key: "a", Value: []byte("3")}, storage.Write{Key: "b", Value: []byte("3")})
	h.wantEvents(h.watch("", h.at(0)), "1 a=1", "2 a=2 was 1@1", "3 a=deleted was 2@2", "4 a=3", "4 b=3")
	h.wantEvents(h.watch("", h.at(2)), "3 a=deleted was 2@2", "4 a=3", "4 b=3")
	h.wantEvents(h.watch("", h.at(3)), "4 a=3", "4 b=3")
}

// testWatchLive: watchers return new events as well as events from long before the watch started.
func testWatchLive(h *harness) {
	w := h.watch("", h.at(0))
	h.put("a", 0, "1")
	h.wantEvents(w, "1 a=1")
	h.put("a", h.at(1), "2")
	h.wantEvents(w, "2 a=2 was 1@1")
	future := h.watch("", h.at(2)+1)
	h.delete("a", h.at(2))
	h.wantEvents(w, "3 a=deleted was 2@2")
	h.put("b", 0, "1")
	if h.at(3) > h.at(2)+1 {
		h.wantEvents(future, "3 a=deleted was 2@2")
	}
	h.wantEvents(future, "4 b=1")
	h.wantEvents(w, "4 b=1")
	// There are so many values, and they are so large, that an implementation reads most of them from disk.
	const count = 3000
	last := storage.Revision(0)
	for i := range count {
		last = h.put("big", last, fmt.Sprintf("%04d%06000d", i, 0))
	}
	h.checkStream(w, count)
	h.checkStream(h.watch("big", h.at(3)), count)
}

func testWatchPrefix(h *harness) {
	w := h.watch("b/", h.at(0))
	h.put("a", 0, "1")
	h.put("b", 0, "1")
	h.put("b/1", 0, "1")
	h.commit(storage.Write{Key: "b/2", Value: []byte("1")}, storage.Write{Key: "c", Value: []byte("1")})
	h.put("b0", 0, "1")
	h.put("b/3", 0, "1")
	h.wantEvents(w, "3 b/1=1", "4 b/2=1", "6 b/3=1")
}

// testWatchBatches: all events of a revision are in one batch, in the order of the commit's writes. This holds for new
// events and for past events.
func testWatchBatches(h *harness) {
	live := h.watch("", h.at(0))
	const commits, writes = 20, 50
	for n := range commits {
		var all []storage.Write
		for i := range writes {
			all = append(all, storage.Write{Key: fmt.Sprintf("%d/%d", n, writes-i), Value: []byte("1")})
		}
		h.commit(all...)
	}
	for name, w := range map[string]storage.Watcher{"live": live, "past": h.watch("", h.at(0))} {
		for n, last := 0, storage.Revision(0); n < commits*writes; {
			batch, err := w.Next(h.ctx)
			if err != nil {
				h.Fatalf("%s: Next(): error = %v, want nil", name, err)
			}
			for _, e := range batch.Events {
				if want := fmt.Sprintf("%d/%d", n/writes, writes-n%writes); e.Key != want {
					h.Fatalf("%s: Next(): event %d has key %s, want %s", name, n, e.Key, want)
				}
				if e.Revision <= last {
					h.Fatalf("%s: Next(): an event has revision %d, want more than %d, the revision of the previous batch", name, e.Revision, last)
				}
				n++
			}
			if len(batch.Events)%writes != 0 {
				h.Fatalf("%s: Next() = %d events, want a multiple of the %d events of a commit", name, len(batch.Events), writes)
			}
			last = batch.Revision
		}
	}
}

// testProgress: a watcher without events returns batches without events that report progress.
func testProgress(h *harness) {
	w := h.watch("b/", h.at(0))
	for i := range 5 {
		h.put(fmt.Sprintf("a/%d", i), 0, "1")
	}
	h.wantProgress(w, h.at(5))
	h.wantProgress(h.watch("b/", h.at(1)), h.at(5))
}

// wantProgress reads batches, which must have no events, until a batch reports progress up to at least revision.
func (h *harness) wantProgress(w storage.Watcher, revision storage.Revision) {
	h.Helper()
	ctx, cancel := context.WithTimeout(h.ctx, watchTimeout)
	defer cancel()
	for {
		batch, err := w.Next(ctx)
		if err != nil {
			h.Fatalf("Next() = %v, want progress up to revision %d", err, revision)
		}
		if len(batch.Events) > 0 {
			h.Fatalf("Next() = the events %v, want none", batch.Events)
		}
		if batch.Revision >= revision {
			return
		}
	}
}

// testWatchReachesRevision: a watcher of all keys reaches the revision that Store.Revision returns, without further commits.
// The watch cache waits for that before it serves a consistent read.
func testWatchReachesRevision(h *harness) {
	w := h.watch("", h.at(0))
	for i := range 10 {
		h.put(fmt.Sprint(i), 0, "1")
		now, err := h.s.Revision(h.ctx)
		if err != nil || now < h.at(i+1) {
			h.Fatalf("Revision() = %d, %v, want at least %d", now, err, h.at(i+1))
		}
		ctx, cancel := context.WithTimeout(h.ctx, watchTimeout)
		for reached := storage.Revision(0); reached < now; {
			batch, err := w.Next(ctx)
			if err != nil {
				h.Fatalf("Next() = %v, want progress up to revision %d", err, now)
			}
			reached = batch.Revision
		}
		cancel()
	}
}

func testCompact(h *harness) {
	h.put("a", 0, "1")
	h.put("b", 0, "1")
	h.put("a", h.at(1), "2")
	h.delete("b", h.at(2))
	h.put("c", 0, "1")
	compact := func(revision storage.Revision, want error) {
		h.Helper()
		if err := h.s.Compact(h.ctx, revision); !errors.Is(err, want) {
			h.Errorf("Compact(%d) = %v, want %v", revision, err, want)
		}
	}
	compact(h.at(4), nil)
	h.wantList(storage.Range{}, "a=2", "c=1")
	h.wantList(storage.Range{Revision: h.at(4)}, "a=2")
	for n := 1; n <= 3; n++ {
		if _, err := h.s.List(h.ctx, storage.Range{Revision: h.at(n)}); !errors.Is(err, storage.ErrCompacted) {
			h.Errorf("List() at commit %d = %v, want %v", n, err, storage.ErrCompacted)
		}
	}
	h.wantItem("a", "2", h.at(3))
	h.wantConflict("a", h.at(3), storage.Write{Key: "a", Expected: h.at(1), Value: []byte("x")})
	h.wantConflict("b", 0, storage.Write{Key: "b", Expected: h.at(2), Value: []byte("x")})
	compact(h.at(2), nil)
	compact(h.at(5)+1, storage.ErrFuture)
	compact(h.at(5), nil)
	h.put("a", h.at(3), "3")
	h.wantList(storage.Range{}, "a=3", "c=1")
}

func testWatchCompacted(h *harness) {
	current := h.watch("", h.at(0))
	last := storage.Revision(0)
	for i := range 10 {
		last = h.put("a", last, fmt.Sprint(i))
	}
	h.wantEvents(current, "1 a=0", "2 a=1 was 0@1", "3 a=2 was 1@2", "4 a=3 was 2@3", "5 a=4 was 3@4",
		"6 a=5 was 4@5", "7 a=6 was 5@6", "8 a=7 was 6@7", "9 a=8 was 7@8", "10 a=9 was 8@9")
	if err := h.s.Compact(h.ctx, h.at(5)); err != nil {
		h.Fatal(err)
	}
	for n := range 5 {
		w, err := h.s.Watch(h.ctx, "", h.at(n))
		if err == nil {
			_, err = w.Next(h.ctx)
			w.Close()
		}
		if !errors.Is(err, storage.ErrCompacted) {
			h.Errorf("Watch() after commit %d = %v, want %v", n, err, storage.ErrCompacted)
		}
	}
	h.wantEvents(h.watch("", h.at(5)), "6 a=5 was 4@5", "7 a=6 was 5@6", "8 a=7 was 6@7", "9 a=8 was 7@8", "10 a=9 was 8@9")
	// A watcher that has already returned the compacted events is not affected by the compaction.
	h.put("a", last, "10")
	h.wantEvents(current, "11 a=10 was 9@10")
}
