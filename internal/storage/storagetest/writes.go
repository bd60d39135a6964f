package storagetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/cadastre/cadastre/internal/storage"
)

func testGet(k *kit) {
	k.wantItem("a", "", 0)
	r := k.put("a", 0, "1")
	k.wantItem("a", "1", r)
	k.wantItem("", "", 0)
	k.wantItem("a/b", "", 0)
	if now, err := k.s.Revision(k.ctx); now < r || err != nil {
		k.Errorf("Revision() = %d, %v, want at least %d", now, err, r)
	}
}

func testWrites(k *kit) {
	first := k.put("a", 0, "1")
	second := k.put("a", first, "2")
	if first <= 0 {
		k.Errorf("the first revision is %d, want a positive number", first)
	}
	k.wantItem("a", "2", second)
	k.delete("a", second)
	k.wantItem("a", "", 0)
	k.put("a", 0, "3")
}

func testTransactions(k *kit) {
	a := k.put("a", 0, "1")
	r := k.commit(
		storage.Write{Key: "a", Expected: a, Value: []byte("2")},
		storage.Write{Key: "b", Value: []byte("1")},
		storage.Write{Key: "c", Value: []byte("1")},
	)
	k.wantItem("a", "2", r)
	k.wantItem("b", "1", r)
	k.wantConflict("b", r,
		storage.Write{Key: "a", Expected: r, Value: []byte("3")},
		storage.Write{Key: "b", Expected: a, Value: []byte("3")},
		storage.Write{Key: "d", Value: []byte("3")},
	)
	k.wantList(storage.Range{}, "a=2", "b=1", "c=1")
	k.commit(storage.Write{Key: "a", Expected: r}, storage.Write{Key: "b", Expected: r, Value: []byte("4")})
	k.wantList(storage.Range{}, "b=4", "c=1")
}

func testConflicts(k *kit) {
	write := func(expected storage.Revision) storage.Write {
		return storage.Write{Key: "a", Expected: expected, Value: []byte("x")}
	}
	k.wantConflict("a", 0, write(7))
	k.wantConflict("a", 0, storage.Write{Key: "a", Expected: 7})
	first := k.put("a", 0, "1")
	k.wantConflict("a", first, write(0))
	k.wantConflict("a", first, write(first+1))
	second := k.put("a", first, "2")
	k.wantConflict("a", second, write(first))
	k.wantConflict("a", second, storage.Write{Key: "a", Expected: first})
	k.wantItem("a", "2", second)
	if now, _ := k.s.Revision(k.ctx); now != second {
		k.Errorf("Revision() after conflicts = %d, want %d", now, second)
	}
	k.delete("a", second)
	k.wantConflict("a", 0, write(second))
}

// testConditions: a condition makes the commit fail if the item has another revision. It does not change the item and has no
// event.
func testConditions(k *kit) {
	keep := func(expected storage.Revision) storage.Write {
		return storage.Write{Key: "guard", Expected: expected, Keep: true}
	}
	first := k.put("guard", 0, "1")
	w := k.watch("", k.at(0))
	a := k.commit(keep(first), storage.Write{Key: "a", Value: []byte("1")})
	k.commit(storage.Write{Key: "b", Value: []byte("1")}, keep(first))
	k.wantItem("guard", "1", first)
	k.wantEvents(w, "1 guard=1", "2 a=1", "3 b=1")

	second := k.put("guard", first, "2")
	k.wantConflict("guard", second, keep(first), storage.Write{Key: "c", Value: []byte("1")})
	k.wantConflict("guard", second, storage.Write{Key: "c", Value: []byte("1")}, keep(first))
	k.wantConflict("guard", second, keep(0), storage.Write{Key: "c", Value: []byte("1")})
	k.commit(keep(second), storage.Write{Key: "a", Expected: a})
	k.delete("guard", second)
	k.wantConflict("guard", 0, keep(second), storage.Write{Key: "c", Value: []byte("1")})
	k.commit(keep(0), storage.Write{Key: "c", Value: []byte("1")})
	k.wantList(storage.Range{}, "b=1", "c=1")
}

// testConcurrentConditions: concurrent writers create items on condition that another item exists; no item is created after
// the deletion of that item.
func testConcurrentConditions(k *kit) {
	const writers, rounds, maxItems = 8, 20, 1000
	for n := range rounds {
		guard, prefix := fmt.Sprintf("guard/%d", n), fmt.Sprintf("item/%d/", n)
		item, err := k.s.Commit(k.ctx, storage.Write{Key: guard, Value: []byte("1")})
		if err != nil {
			k.Fatal(err)
		}
		var deletion storage.Revision
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				for i := range maxItems {
					_, err := k.s.Commit(k.ctx, storage.Write{Key: fmt.Sprintf("%s%d.%d", prefix, w, i), Value: []byte("1")}, storage.Write{Key: guard, Expected: item, Keep: true})
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
			if deletion, err = k.s.Commit(k.ctx, storage.Write{Key: guard, Expected: item}); err != nil {
				k.Errorf("delete %s: %v", guard, err)
			}
		})
		wg.Wait()
		page, err := k.s.List(k.ctx, storage.Range{Prefix: prefix})
		if err != nil {
			k.Fatal(err)
		}
		for _, item := range page.Items {
			if item.Revision > deletion {
				k.Errorf("%s was created at revision %d, after the deletion of its condition at %d", item.Key, item.Revision, deletion)
			}
		}
	}
}

func testInvalidCommits(k *kit) {
	for name, writes := range map[string][]storage.Write{
		"no write":                    {},
		"no key":                      {{Value: []byte("1")}},
		"zero byte in a key":          {{Key: "a\x00b", Value: []byte("1")}},
		"negative revision":           {{Key: "a", Expected: -1, Value: []byte("1")}},
		"deletion without a revision": {{Key: "a"}},
		"key twice":                   {{Key: "a", Value: []byte("1")}, {Key: "a", Value: []byte("2")}},
		"only conditions":             {{Key: "a", Keep: true}},
		"condition and write":         {{Key: "a", Keep: true}, {Key: "a", Value: []byte("1")}},
		"condition with a value":      {{Key: "a", Keep: true, Value: []byte("1")}, {Key: "b", Value: []byte("1")}},
	} {
		if _, err := k.s.Commit(k.ctx, writes...); err == nil {
			k.Errorf("%s: Commit() = nil, want an error", name)
		}
	}
	k.wantList(storage.Range{})
}

func testValues(k *kit) {
	values := [][]byte{{}, {0}, []byte("\x00\xff\x01"), bytes.Repeat([]byte("large"), 300_000)}
	for i, value := range values {
		key := fmt.Sprintf("key/%d\x01\xff", i)
		r := k.commit(storage.Write{Key: key, Value: value})
		item, err := k.s.Get(k.ctx, key)
		if err != nil || !bytes.Equal(item.Value, value) || item.Value == nil || item.Revision != r {
			k.Errorf("Get() = a value of %d bytes at revision %d, %v, want one of %d bytes at %d", len(item.Value), item.Revision, err, len(value), r)
		}
	}
	page, err := k.s.List(k.ctx, storage.Range{Prefix: "key/"})
	if err != nil || len(page.Items) != len(values) {
		k.Fatalf("List() = %d items, %v, want %d", len(page.Items), err, len(values))
	}
	for i, item := range page.Items {
		if !bytes.Equal(item.Value, values[i]) {
			k.Errorf("List(): item %d has a value of %d bytes, want %d", i, len(item.Value), len(values[i]))
		}
	}
}

// testValuesAreNotModified: neither the value that was passed to Commit nor values that the store has returned change with
// later commits. The watch cache shares them with responses.
func testValuesAreNotModified(k *kit) {
	w := k.watch("", k.at(0))
	written := []byte("first")
	r := k.commit(storage.Write{Key: "a", Value: written})
	item, err := k.s.Get(k.ctx, "a")
	if err != nil {
		k.Fatal(err)
	}
	page, err := k.s.List(k.ctx, storage.Range{})
	if err != nil {
		k.Fatal(err)
	}
	batch, err := w.Next(k.ctx)
	for err == nil && len(batch.Events) == 0 {
		batch, err = w.Next(k.ctx)
	}
	if err != nil {
		k.Fatal(err)
	}
	for i := range 100 {
		r = k.put("a", r, fmt.Sprintf("%05d", i))
	}
	k.delete("a", r)
	for name, value := range map[string][]byte{
		"the value of the commit": written, "Get()": item.Value, "List()": page.Items[0].Value, "Next()": batch.Events[0].Value,
	} {
		if string(value) != "first" {
			k.Errorf("%s: the value is %q after later commits, want %q", name, value, "first")
		}
	}
}

// testConcurrentWriters: writers that increment the same counters with compare-and-swap lose no increment.
func testConcurrentWriters(k *kit) {
	const writers, increments, counters = 16, 50, 3
	watcher := k.watch("", k.at(0))
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for n := range increments {
				k.increment(fmt.Sprintf("counter/%d", (w+n)%counters))
			}
		})
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
	if sum != writers*increments {
		k.Errorf("the counters add up to %d, want %d", sum, writers*increments)
	}
	k.checkStream(watcher, writers*increments)
}

// increment makes the value of an item one byte longer.
func (k *kit) increment(key string) {
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

// checkStream reads events of commits with one write, and checks that the previous value of each is the value of the event
// before it.
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
				k.Fatalf("Next(): the event of %s at revision %d, previously %d, follows revision %d and the event at %d",
					e.Key, e.Revision, e.PreviousRevision, revision, before.Revision)
			}
			last[e.Key], revision = e, e.Revision
			count--
		}
	}
}

func testContexts(k *kit) {
	ended, cancel := context.WithCancel(k.ctx)
	cancel()
	w := k.watch("", k.at(0))
	_, getErr := k.s.Get(ended, "a")
	_, listErr := k.s.List(ended, storage.Range{})
	_, commitErr := k.s.Commit(ended, storage.Write{Key: "a", Value: []byte("1")})
	_, watchErr := k.s.Watch(ended, "", k.at(0))
	_, nextErr := w.Next(ended)
	for name, err := range map[string]error{"Get": getErr, "List": listErr, "Commit": commitErr, "Watch": watchErr, "Next": nextErr} {
		if !errors.Is(err, context.Canceled) {
			k.Errorf("%s() with an ended context = %v, want %v", name, err, context.Canceled)
		}
	}
	k.put("b", 0, "1")
	k.wantEvents(w, "1 b=1")
}

func testClose(k *kit) {
	k.put("a", 0, "1")
	w := k.watch("b", k.at(0))
	ended := make(chan error, 1)
	go func() {
		for {
			if _, err := w.Next(context.Background()); err != nil {
				ended <- err
				return
			}
		}
	}()
	if err := k.s.Close(); err != nil {
		k.Fatal(err)
	}
	_, commitErr := k.s.Commit(k.ctx, storage.Write{Key: "b", Value: []byte("1")})
	_, getErr := k.s.Get(k.ctx, "a")
	_, listErr := k.s.List(k.ctx, storage.Range{})
	_, watchErr := k.s.Watch(k.ctx, "", k.at(0))
	for name, err := range map[string]error{
		"Next": <-ended, "Commit": commitErr, "Get": getErr, "List": listErr, "Watch": watchErr,
		"Compact": k.s.Compact(k.ctx, k.at(1)), "Close": k.s.Close(),
	} {
		if !errors.Is(err, storage.ErrClosed) {
			k.Errorf("%s() after Close() = %v, want %v", name, err, storage.ErrClosed)
		}
	}
}
