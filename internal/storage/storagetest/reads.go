package storagetest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cadastre/cadastre/internal/storage"
)

func testList(k *kit) {
	for _, key := range []string{"b/2", "a", "b/1", "b", "c", "b/10", "b0"} {
		k.put(key, 0, key)
	}
	k.lists(storage.Range{}, "a=a", "b=b", "b/1=b/1", "b/10=b/10", "b/2=b/2", "b0=b0", "c=c")
	k.lists(storage.Range{Prefix: "b/"}, "b/1=b/1", "b/10=b/10", "b/2=b/2")
	k.lists(storage.Range{Prefix: "b/1"}, "b/1=b/1", "b/10=b/10")
	k.lists(storage.Range{Prefix: "b/", After: "b/1"}, "b/10=b/10", "b/2=b/2")
	k.lists(storage.Range{Prefix: "b/", After: "b/11"}, "b/2=b/2")
	k.lists(storage.Range{Prefix: "b/", After: "b/2"})
	k.lists(storage.Range{Prefix: "b/", After: "a"}, "b/1=b/1", "b/10=b/10", "b/2=b/2")
	k.lists(storage.Range{Prefix: "x"})
	k.lists(storage.Range{After: "b0"}, "c=c")
}

func testPages(k *kit) {
	var revisions []storage.Revision
	for i := range 10 {
		revisions = append(revisions, k.put(fmt.Sprintf("k/%d", i), 0, "old"))
	}
	page := k.lists(storage.Range{Prefix: "k/", Limit: 4}, "k/0=old", "k/1=old", "k/2=old", "k/3=old")
	if !page.More {
		k.Error("there are more")
	}
	// What happens now does not show.
	k.put("k/4", revisions[4], "new")
	k.delete("k/5", revisions[5])
	k.put("k/55", 0, "new")
	page = k.lists(storage.Range{Prefix: "k/", Limit: 4, After: "k/3", Revision: page.Revision}, "k/4=old", "k/5=old", "k/6=old", "k/7=old")
	page = k.lists(storage.Range{Prefix: "k/", Limit: 4, After: "k/7", Revision: page.Revision}, "k/8=old", "k/9=old")
	if page.More {
		k.Error("there are no more")
	}
	page = k.lists(storage.Range{Prefix: "k/", After: "k/3", Limit: 2}, "k/4=new", "k/55=new")
	if !page.More {
		k.Error("there are more")
	}
	if page = k.lists(storage.Range{Prefix: "k/", After: "k/7", Limit: 2}, "k/8=old", "k/9=old"); page.More {
		k.Error("there are no more than the limit")
	}
}

func testListAt(k *kit) {
	first := k.put("a", 0, "1")
	second := k.put("b", 0, "1")
	third := k.put("a", first, "2")
	fourth := k.delete("b", second)
	fifth := k.put("b", 0, "3")
	k.lists(storage.Range{Revision: first}, "a=1")
	k.lists(storage.Range{Revision: second}, "a=1", "b=1")
	k.lists(storage.Range{Revision: third}, "a=2", "b=1")
	k.lists(storage.Range{Revision: fourth}, "a=2")
	k.lists(storage.Range{Revision: fifth}, "a=2", "b=3")
	if _, err := k.s.List(k.ctx, storage.Range{Revision: fifth + 1}); !errors.Is(err, storage.ErrFuture) {
		k.Errorf("list in the future: %v", err)
	}
	for range 20 {
		third = k.put("a", third, "more")
	}
	k.lists(storage.Range{Revision: second}, "a=1", "b=1")
	k.lists(storage.Range{}, "a=more", "b=3")
}

func testWatch(k *kit) {
	first := k.put("a", 0, "1")
	second := k.put("a", first, "2")
	k.delete("a", second)
	k.commit(storage.Write{Key: "a", Value: []byte("3")}, storage.Write{Key: "b", Value: []byte("3")})
	k.hears(k.watch("", 0), "1 a=1", "2 a=2 was 1@1", "3 a=gone was 2@2", "4 a=3", "4 b=3")
	k.hears(k.watch("", second), "3 a=gone was 2@2", "4 a=3", "4 b=3")
	k.hears(k.watch("", 3), "4 a=3", "4 b=3")
}

func testWatchLive(k *kit) {
	w, late := k.watch("", 0), k.watch("", 2)
	first := k.put("a", 0, "1")
	k.hears(w, "1 a=1")
	second := k.put("a", first, "2")
	k.hears(w, "2 a=2 was 1@1")
	k.delete("a", second)
	k.hears(w, "3 a=gone was 2@2")
	k.hears(late, "3 a=gone was 2@2")
	// Most of this is no longer where it was at first when it is read.
	const many = 3000
	last := storage.Revision(0)
	for i := range many {
		last = k.put("big", last, fmt.Sprintf("%04d%06000d", i, 0))
	}
	k.checkStreamAfter(w, many)
	k.checkStreamAfter(k.watch("big", 3), many)
}

// checkStreamAfter checks that a number of events follow each other without a gap.
func (k *kit) checkStreamAfter(w storage.Watcher, count int) {
	k.Helper()
	last := storage.Revision(0)
	for count > 0 {
		batch, err := w.Next(k.ctx)
		if err != nil {
			k.Fatal(err)
		}
		for _, e := range batch.Events {
			if e.PreviousRevision != last || last > 0 && e.Revision != last+1 || len(e.Value) == 0 || last > 0 && len(e.Previous) == 0 {
				k.Fatalf("event at %d with a previous at %d, after one at %d", e.Revision, e.PreviousRevision, last)
			}
			last = e.Revision
			count--
		}
	}
}

func testWatchPrefix(k *kit) {
	w := k.watch("b/", 0)
	k.put("a", 0, "1")
	k.put("b", 0, "1")
	k.put("b/1", 0, "1")
	k.commit(storage.Write{Key: "b/2", Value: []byte("1")}, storage.Write{Key: "c", Value: []byte("1")})
	k.put("b0", 0, "1")
	k.put("b/3", 0, "1")
	k.hears(w, "3 b/1=1", "4 b/2=1", "6 b/3=1")
}

func testProgress(k *kit) {
	w := k.watch("b/", 0)
	for i := range 5 {
		k.put(fmt.Sprintf("a/%d", i), 0, "1")
	}
	ctx, cancel := context.WithTimeout(k.ctx, 20*time.Second)
	defer cancel()
	for {
		batch, err := w.Next(ctx)
		if err != nil {
			k.Fatalf("no mark came: %v", err)
		}
		if len(batch.Events) > 0 {
			k.Fatalf("received %v", batch.Events)
		}
		if batch.Revision == 5 {
			return
		}
	}
}

func testCompact(k *kit) {
	first := k.put("a", 0, "1")
	second := k.put("b", 0, "1")
	third := k.put("a", first, "2")
	fourth := k.delete("b", second)
	fifth := k.put("c", 0, "1")
	if err := k.s.Compact(k.ctx, fourth); err != nil {
		k.Fatal(err)
	}
	k.lists(storage.Range{}, "a=2", "c=1")
	k.lists(storage.Range{Revision: fourth}, "a=2")
	for _, gone := range []storage.Revision{first, second, third} {
		if _, err := k.s.List(k.ctx, storage.Range{Revision: gone}); !errors.Is(err, storage.ErrCompacted) {
			k.Errorf("list at %d: %v", gone, err)
		}
	}
	k.has("a", "2", third)
	k.loses("a", third, storage.Write{Key: "a", Expected: first, Value: []byte("x")})
	k.loses("b", 0, storage.Write{Key: "b", Expected: second, Value: []byte("x")})
	if err := k.s.Compact(k.ctx, second); err != nil {
		k.Errorf("compact once more: %v", err)
	}
	if err := k.s.Compact(k.ctx, fifth+1); !errors.Is(err, storage.ErrFuture) {
		k.Errorf("compact the future: %v", err)
	}
	if err := k.s.Compact(k.ctx, fifth); err != nil {
		k.Fatal(err)
	}
	if next := k.put("a", third, "3"); next <= fifth {
		k.Errorf("revision %d after %d", next, fifth)
	}
	k.lists(storage.Range{}, "a=3", "c=1")
}

func testWatchCompacted(k *kit) {
	early := k.watch("", 0)
	last := storage.Revision(0)
	for i := range 10 {
		last = k.put("a", last, fmt.Sprint(i))
	}
	k.hears(early, "1 a=0", "2 a=1 was 0@1", "3 a=2 was 1@2", "4 a=3 was 2@3", "5 a=4 was 3@4",
		"6 a=5 was 4@5", "7 a=6 was 5@6", "8 a=7 was 6@7", "9 a=8 was 7@8", "10 a=9 was 8@9")
	if err := k.s.Compact(k.ctx, 5); err != nil {
		k.Fatal(err)
	}
	for after := range storage.Revision(5) {
		w, err := k.s.Watch(k.ctx, "", after)
		if err == nil {
			_, err = w.Next(k.ctx)
			w.Close()
		}
		if !errors.Is(err, storage.ErrCompacted) {
			k.Errorf("watch after %d: %v", after, err)
		}
	}
	k.hears(k.watch("", 5), "6 a=5 was 4@5", "7 a=6 was 5@6", "8 a=7 was 6@7", "9 a=8 was 7@8", "10 a=9 was 8@9")
	// Who is up to date does not mind.
	k.put("a", last, "10")
	k.hears(early, "11 a=10 was 9@10")
}
