package storagetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/cadastre/cadastre/internal/storage"
)

func testGet(k *kit) {
	k.has("a", "", 0)
	r := k.put("a", 0, "1")
	k.has("a", "1", r)
	k.has("", "", 0)
	k.has("a/b", "", 0)
	if now, err := k.s.Revision(k.ctx); now != r || err != nil {
		k.Errorf("the revision is %d, %v, want %d", now, err, r)
	}
}

func testWrites(k *kit) {
	first := k.put("a", 0, "1")
	second := k.put("a", first, "2")
	if second <= first || first <= 0 {
		k.Errorf("revisions %d, %d do not grow", first, second)
	}
	k.has("a", "2", second)
	third := k.delete("a", second)
	k.has("a", "", 0)
	if fourth := k.put("a", 0, "3"); fourth <= third {
		k.Errorf("revision %d after %d", fourth, third)
	}
}

func testAtomic(k *kit) {
	a := k.put("a", 0, "1")
	r := k.commit(
		storage.Write{Key: "a", Expected: a, Value: []byte("2")},
		storage.Write{Key: "b", Value: []byte("1")},
		storage.Write{Key: "c", Value: []byte("1")},
	)
	k.has("a", "2", r)
	k.has("b", "1", r)
	k.loses("b", r,
		storage.Write{Key: "a", Expected: r, Value: []byte("3")},
		storage.Write{Key: "b", Expected: a, Value: []byte("3")},
		storage.Write{Key: "d", Value: []byte("3")},
	)
	k.lists(storage.Range{}, "a=2", "b=1", "c=1")
	k.commit(storage.Write{Key: "a", Expected: r}, storage.Write{Key: "b", Expected: r, Value: []byte("4")})
	k.lists(storage.Range{}, "b=4", "c=1")
}

func testConflicts(k *kit) {
	write := func(expected storage.Revision) storage.Write {
		return storage.Write{Key: "a", Expected: expected, Value: []byte("x")}
	}
	k.loses("a", 0, write(7))
	k.loses("a", 0, storage.Write{Key: "a", Expected: 7})
	first := k.put("a", 0, "1")
	k.loses("a", first, write(0))
	k.loses("a", first, write(first+1))
	second := k.put("a", first, "2")
	k.loses("a", second, write(first))
	k.loses("a", second, storage.Write{Key: "a", Expected: first})
	k.has("a", "2", second)
	if now, _ := k.s.Revision(k.ctx); now != second {
		k.Errorf("lost commits made the revision %d, want %d", now, second)
	}
	k.delete("a", second)
	k.loses("a", 0, write(second))
}

// testKept: an item that is only compared stays as it is, and nobody hears of it.
func testKept(k *kit) {
	keep := func(expected storage.Revision) storage.Write {
		return storage.Write{Key: "guard", Expected: expected, Keep: true}
	}
	first := k.put("guard", 0, "1")
	w := k.watch("", 0)
	a := k.commit(keep(first), storage.Write{Key: "a", Value: []byte("1")})
	b := k.commit(storage.Write{Key: "b", Value: []byte("1")}, keep(first))
	k.has("guard", "1", first)
	k.hears(w, show(storage.Event{Key: "guard", Value: []byte("1"), Revision: first}),
		show(storage.Event{Key: "a", Value: []byte("1"), Revision: a}), show(storage.Event{Key: "b", Value: []byte("1"), Revision: b}))

	second := k.put("guard", first, "2")
	k.loses("guard", second, keep(first), storage.Write{Key: "c", Value: []byte("1")})
	k.loses("guard", second, storage.Write{Key: "c", Value: []byte("1")}, keep(first))
	k.loses("guard", second, keep(0), storage.Write{Key: "c", Value: []byte("1")})
	k.commit(keep(second), storage.Write{Key: "a", Expected: a})
	k.delete("guard", second)
	k.loses("guard", 0, keep(second), storage.Write{Key: "c", Value: []byte("1")})
	k.commit(keep(0), storage.Write{Key: "c", Value: []byte("1")})
	k.lists(storage.Range{}, "b=1", "c=1")
}

// testGuarded has writers add items for as long as a guard is there, which somebody takes away:
// nothing is added after that.
func testGuarded(k *kit) {
	const writers, rounds, most = 8, 20, 1000
	for n := range rounds {
		guard, prefix := fmt.Sprintf("guard/%d", n), fmt.Sprintf("item/%d/", n)
		r := k.put(guard, 0, "1")
		var end storage.Revision
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				for i := range most {
					_, err := k.s.Commit(k.ctx, storage.Write{Key: fmt.Sprintf("%s%d.%d", prefix, w, i), Value: []byte("1")}, storage.Write{Key: guard, Expected: r, Keep: true})
					if conflict := (*storage.ConflictError)(nil); errors.As(err, &conflict) {
						return
					}
					if err != nil {
						k.Error(err)
						return
					}
				}
			})
		}
		wg.Go(func() {
			var err error
			if end, err = k.s.Commit(k.ctx, storage.Write{Key: guard, Expected: r}); err != nil {
				k.Errorf("delete %s: %v", guard, err)
			}
		})
		wg.Wait()
		page, err := k.s.List(k.ctx, storage.Range{Prefix: prefix})
		if err != nil {
			k.Fatal(err)
		}
		for _, item := range page.Items {
			if item.Revision > end {
				k.Errorf("%s is of revision %d, after its guard was gone at %d", item.Key, item.Revision, end)
			}
		}
	}
}

func testBadCommits(k *kit) {
	for name, writes := range map[string][]storage.Write{
		"nothing":           {},
		"no key":            {{Value: []byte("1")}},
		"a zero byte":       {{Key: "a\x00b", Value: []byte("1")}},
		"a negative number": {{Key: "a", Expected: -1, Value: []byte("1")}},
		"delete of nothing": {{Key: "a"}},
		"twice":             {{Key: "a", Value: []byte("1")}, {Key: "a", Value: []byte("2")}},
		"only comparisons":  {{Key: "a", Keep: true}},
		"kept and written":  {{Key: "a", Keep: true}, {Key: "a", Value: []byte("1")}},
		"kept with a value": {{Key: "a", Keep: true, Value: []byte("1")}, {Key: "b", Value: []byte("1")}},
	} {
		if _, err := k.s.Commit(k.ctx, writes...); err == nil {
			k.Errorf("%s: the commit was done", name)
		}
	}
	k.lists(storage.Range{})
}

func testValues(k *kit) {
	values := [][]byte{{}, {0}, []byte("\x00\xff\x01"), bytes.Repeat([]byte("large"), 300_000)}
	for i, value := range values {
		key := fmt.Sprintf("key/%d\x01\xff", i)
		r := k.commit(storage.Write{Key: key, Value: value})
		item, err := k.s.Get(k.ctx, key)
		if err != nil || !bytes.Equal(item.Value, value) || item.Value == nil || item.Revision != r {
			k.Errorf("a value of %d bytes is read as one of %d: %v", len(value), len(item.Value), err)
		}
	}
	page, err := k.s.List(k.ctx, storage.Range{Prefix: "key/"})
	if err != nil || len(page.Items) != len(values) {
		k.Fatalf("%d items, %v", len(page.Items), err)
	}
	for i, item := range page.Items {
		if !bytes.Equal(item.Value, values[i]) {
			k.Errorf("a value of %d bytes is listed as one of %d", len(values[i]), len(item.Value))
		}
	}
}

// testConcurrent has many writers count in the same few items: no step may be lost.
func testConcurrent(k *kit) {
	const writers, steps, counters = 16, 50, 3
	watcher := k.watch("", 0)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for n := range steps {
				k.count(fmt.Sprintf("counter/%d", (w+n)%counters))
			}
		}()
	}
	wg.Wait()
	page, err := k.s.List(k.ctx, storage.Range{Prefix: "counter/"})
	if err != nil {
		k.Fatal(err)
	}
	sum := 0
	for _, item := range page.Items {
		sum += len(item.Value)
	}
	if sum != writers*steps {
		k.Errorf("%d steps are there, want %d", sum, writers*steps)
	}
	k.checkStream(watcher, writers*steps)
}

// count makes the value of an item one longer.
func (k *kit) count(key string) {
	for {
		item, err := k.s.Get(k.ctx, key)
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			k.Error(err)
			return
		}
		_, err = k.s.Commit(k.ctx, storage.Write{Key: key, Expected: item.Revision, Value: append(bytes.Clone(item.Value), '+')})
		var conflict *storage.ConflictError
		if errors.As(err, &conflict) {
			continue
		}
		if err != nil {
			k.Error(err)
		}
		return
	}
}

// checkStream reads events and checks that each begins where the one before it ended.
func (k *kit) checkStream(w storage.Watcher, count int) {
	k.Helper()
	last := map[string]storage.Event{}
	revision := storage.Revision(0)
	for count > 0 {
		batch, err := w.Next(k.ctx)
		if err != nil {
			k.Fatal(err)
		}
		for _, e := range batch.Events {
			before := last[e.Key]
			if e.Revision <= revision || e.PreviousRevision != before.Revision || !bytes.Equal(e.Previous, before.Value) {
				k.Fatalf("event %s after revision %d and %s", show(e), revision, show(before))
			}
			last[e.Key], revision = e, e.Revision
			count--
		}
	}
}

func testContexts(k *kit) {
	ended, cancel := context.WithCancel(k.ctx)
	cancel()
	if _, err := k.s.Get(ended, "a"); !errors.Is(err, context.Canceled) {
		k.Errorf("get: %v", err)
	}
	if _, err := k.s.List(ended, storage.Range{}); !errors.Is(err, context.Canceled) {
		k.Errorf("list: %v", err)
	}
	if _, err := k.s.Commit(ended, storage.Write{Key: "a", Value: []byte("1")}); !errors.Is(err, context.Canceled) {
		k.Errorf("commit: %v", err)
	}
	if _, err := k.s.Watch(ended, "", 0); !errors.Is(err, context.Canceled) {
		k.Errorf("watch: %v", err)
	}
	w := k.watch("", 0)
	if _, err := w.Next(ended); !errors.Is(err, context.Canceled) {
		k.Errorf("next: %v", err)
	}
	k.put("b", 0, "1")
	k.hears(w, "1 b=1")
}

func testClose(k *kit) {
	k.put("a", 0, "1")
	w := k.watch("b", 0)
	failed := make(chan error, 1)
	go func() {
		for {
			if _, err := w.Next(context.Background()); err != nil {
				failed <- err
				return
			}
		}
	}()
	if err := k.s.Close(); err != nil {
		k.Fatal(err)
	}
	if err := <-failed; !errors.Is(err, storage.ErrClosed) {
		k.Errorf("a watcher ends with %v", err)
	}
	_, commitErr := k.s.Commit(k.ctx, storage.Write{Key: "b", Value: []byte("1")})
	_, getErr := k.s.Get(k.ctx, "a")
	_, listErr := k.s.List(k.ctx, storage.Range{})
	_, watchErr := k.s.Watch(k.ctx, "", 0)
	for _, err := range []error{commitErr, getErr, listErr, watchErr, k.s.Compact(k.ctx, 1), k.s.Close()} {
		if !errors.Is(err, storage.ErrClosed) {
			k.Errorf("a closed store says %v", err)
		}
	}
}

var _ testing.TB = (*kit)(nil)
