package storagetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/cadastre/cadastre/internal/storage"
)

func testGet(h *harness) {
	h.wantItem("a", "", 0)
	r := h.put("a", 0, "1")
	h.wantItem("a", "1", r)
	h.wantItem("", "", 0)
	h.wantItem("a/b", "", 0)
	if now, err := h.s.Revision(h.ctx); now < r || err != nil {
		h.Errorf("Revision() = %d, %v, want at least %d", now, err, r)
	}
}

func testWrites(h *harness) {
	first := h.put("a", 0, "1")
	second := h.put("a", first, "2")
	if first <= 0 {
		h.Errorf("Commit() of the first write = revision %d, want a positive number", first)
	}
	h.wantItem("a", "2", second)
	h.delete("a", second)
	h.wantItem("a", "", 0)
	h.put("a", 0, "3")
}

func testTransactions(h *harness) {
	a := h.put("a", 0, "1")
	r := h.commit(
		storage.Write{Key: "a", Expected: a, Value: []byte("2")},
		storage.Write{Key: "b", Value: []byte("1")},
		storage.Write{Key: "c", Value: []byte("1")},
	)
	h.wantItem("a", "2", r)
	h.wantItem("b", "1", r)
	h.wantConflict("b", r,
		storage.Write{Key: "a", Expected: r, Value: []byte("3")},
		storage.Write{Key: "b", Expected: a, Value: []byte("3")},
		storage.Write{Key: "d", Value: []byte("3")},
	)
	h.wantList(storage.Range{}, "a=2", "b=1", "c=1")
	h.commit(storage.Write{Key: "a", Expected: r}, storage.Write{Key: "b", Expected: r, Value: []byte("4")})
	h.wantList(storage.Range{}, "b=4", "c=1")
}

func testConflicts(h *harness) {
	write := func(expected storage.Revision) storage.Write {
		return storage.Write{Key: "a", Expected: expected, Value: []byte("x")}
	}
	h.wantConflict("a", 0, write(7))
	h.wantConflict("a", 0, storage.Write{Key: "a", Expected: 7})
	first := h.put("a", 0, "1")
	h.wantConflict("a", first, write(0))
	h.wantConflict("a", first, write(first+1))
	second := h.put("a", first, "2")
	h.wantConflict("a", second, write(first))
	h.wantConflict("a", second, storage.Write{Key: "a", Expected: first})
	h.wantItem("a", "2", second)
	if now, _ := h.s.Revision(h.ctx); now != second {
		h.Errorf("Revision() after conflicts = %d, want %d", now, second)
	}
	h.delete("a", second)
	h.wantConflict("a", 0, write(second))
}

// testConditions: a condition (Write.Keep) makes the commit fail if the item does not have the expected revision. It neither
// changes the item nor generates an event.
func testConditions(h *harness) {
	keep := func(expected storage.Revision) storage.Write {
		return storage.Write{Key: "guard", Expected: expected, Keep: true}
	}
	first := h.put("guard", 0, "1")
	w := h.watch("", h.at(0))
	a := h.commit(keep(first), storage.Write{Key: "a", Value: []byte("1")})
	h.commit(storage.Write{Key: "b", Value: []byte("1")}, keep(first))
	h.wantItem("guard", "1", first)
	h.wantEvents(w, "1 guard=1", "2 a=1", "3 b=1")

	second := h.put("guard", first, "2")
	h.wantConflict("guard", second, keep(first), storage.Write{Key: "c", Value: []byte("1")})
	h.wantConflict("guard", second, storage.Write{Key: "c", Value: []byte("1")}, keep(first))
	h.wantConflict("guard", second, keep(0), storage.Write{Key: "c", Value: []byte("1")})
	h.commit(keep(second), storage.Write{Key: "a", Expected: a})
	h.delete("guard", second)
	h.wantConflict("guard", 0, keep(second), storage.Write{Key: "c", Value: []byte("1")})
	h.commit(keep(0), storage.Write{Key: "c", Value: []byte("1")})
	h.wantList(storage.Range{}, "b=1", "c=1")
}

// testConcurrentConditions: concurrent writers create items on the condition that another item, the guard, exists; after the
// guard is deleted, no more items are created.
func testConcurrentConditions(h *harness) {
	const writers, rounds, maxItems = 8, 20, 1000
	for n := range rounds {
		guard, prefix := fmt.Sprintf("guard/%d", n), fmt.Sprintf("item/%d/", n)
		item, err := h.s.Commit(h.ctx, storage.Write{Key: guard, Value: []byte("1")})
		if err != nil {
			h.Fatal(err)
		}
		var deletion storage.Revision
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				for i := range maxItems {
					_, err := h.s.Commit(h.ctx, storage.Write{Key: fmt.Sprintf("%s%d.%d", prefix, w, i), Value: []byte("1")}, storage.Write{Key: guard, Expected: item, Keep: true})
					if conflict := (*storage.ConflictError)(nil); errors.As(err, &conflict) {
						return
					}
					if err != nil {
						h.Error(err)
						return
					}
				}
			})
		}
		wg.Go(func() {
			var err error
			if deletion, err = h.s.Commit(h.ctx, storage.Write{Key: guard, Expected: item}); err != nil {
				h.Errorf("Commit() that deletes %s: error = %v, want nil", guard, err)
			}
		})
		wg.Wait()
		page, err := h.s.List(h.ctx, storage.Range{Prefix: prefix})
		if err != nil {
			h.Fatal(err)
		}
		for _, item := range page.Items {
			if item.Revision > deletion {
				h.Errorf("%s was created at revision %d, want none after revision %d, which deleted the item of its condition", item.Key, item.Revision, deletion)
			}
		}
	}
}

func testInvalidCommits(h *harness) {
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
		if _, err := h.s.Commit(h.ctx, writes...); err == nil {
			h.Errorf("%s: Commit() = nil, want an error", name)
		}
	}
	h.wantList(storage.Range{})
}

func testValues(h *harness) {
	values := [][]byte{{}, {0}, []byte("\x00\xff\x01"), bytes.Repeat([]byte("large"), 300_000)}
	for i, value := range values {
		key := fmt.Sprintf("key/%d\x01\xff", i)
		r := h.commit(storage.Write{Key: key, Value: value})
		item, err := h.s.Get(h.ctx, key)
		if err != nil || !bytes.Equal(item.Value, value) || item.Value == nil || item.Revision != r {
			h.Errorf("Get() = a value of %d bytes at revision %d, %v, want one of %d bytes at %d", len(item.Value), item.Revision, err, len(value), r)
		}
	}
	page, err := h.s.List(h.ctx, storage.Range{Prefix: "key/"})
	if err != nil || len(page.Items) != len(values) {
		h.Fatalf("List() = %d items, %v, want %d", len(page.Items), err, len(values))
	}
	for i, item := range page.Items {
		if !bytes.Equal(item.Value, values[i]) {
			h.Errorf("List(): item %d has a value of %d bytes, want %d", i, len(item.Value), len(values[i]))
		}
	}
}

// testValuesAreNotModified: later commits change neither the slice that was passed to Commit nor the slices that the store
// has returned. The watch cache shares these slices with responses.
func testValuesAreNotModified(h *harness) {
	w := h.watch("", h.at(0))
	written := []byte("first")
	r := h.commit(storage.Write{Key: "a", Value: written})
	item, err := h.s.Get(h.ctx, "a")
	if err != nil {
		h.Fatal(err)
	}
	page, err := h.s.List(h.ctx, storage.Range{})
	if err != nil {
		h.Fatal(err)
	}
	batch, err := w.Next(h.ctx)
	for err == nil && len(batch.Events) == 0 {
		batch, err = w.Next(h.ctx)
	}
	if err != nil {
		h.Fatal(err)
	}
	for i := range 100 {
		r = h.put("a", r, fmt.Sprintf("%05d", i))
	}
	h.delete("a", r)
	for name, value := range map[string][]byte{
		"the value of the commit": written, "Get()": item.Value, "List()": page.Items[0].Value, "Next()": batch.Events[0].Value,
	} {
		if string(value) != "first" {
			h.Errorf("%s: the value is %q after later commits, want %q", name, value, "first")
		}
	}
}

// testConcurrentWriters: concurrent writers that increment the same counters with compare-and-swap lose no increment.
func testConcurrentWriters(h *harness) {
	const writers, increments, counters = 16, 50, 3
	watcher := h.watch("", h.at(0))
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for n := range increments {
				h.increment(fmt.Sprintf("counter/%d", (w+n)%counters))
			}
		})
	}
	wg.Wait()
	page, err := h.s.List(h.ctx, storage.Range{Prefix: "counter/"})
	if err != nil {
		h.Fatal(err)
	}
	sum := 0
	for _, item := range page.Items {
		sum += len(item.Value)
	}
	if sum != writers*increments {
		h.Errorf("the counters add up to %d, want %d", sum, writers*increments)
	}
	h.checkStream(watcher, writers*increments)
}

// increment increments the counter at key, which is the length of the item's value: it appends one byte to the value, and
// retries after conflicts.
func (h *harness) increment(key string) {
	for {
		item, err := h.s.Get(h.ctx, key)
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			h.Error(err)
			return
		}
		_, err = h.s.Commit(h.ctx, storage.Write{Key: key, Expected: item.Revision, Value: append(bytes.Clone(item.Value), '+')})
		var conflict *storage.ConflictError
		if errors.As(err, &conflict) {
			continue
		}
		if err != nil {
			h.Error(err)
		}
		return
	}
}

// checkStream reads count events from w, each of which belongs to a commit with a single write. It checks that revisions
// increase, and that the previous value of each event is the value of the preceding event of its key.
func (h *harness) checkStream(w storage.Watcher, count int) {
	h.Helper()
	last := map[string]storage.Event{}
	revision := storage.Revision(0)
	for count > 0 {
		batch, err := w.Next(h.ctx)
		if err != nil {
			h.Fatal(err)
		}
		for _, e := range batch.Events {
			before := last[e.Key]
			if e.Revision <= revision || e.PreviousRevision != before.Revision || !bytes.Equal(e.Previous, before.Value) {
				h.Fatalf("Next(): the event of %s has revision %d and previous revision %d, want a revision greater than %d and previous revision %d with its value",
					e.Key, e.Revision, e.PreviousRevision, revision, before.Revision)
			}
			last[e.Key], revision = e, e.Revision
			count--
		}
	}
}

func testContexts(h *harness) {
	ended, cancel := context.WithCancel(h.ctx)
	cancel()
	w := h.watch("", h.at(0))
	_, getErr := h.s.Get(ended, "a")
	_, listErr := h.s.List(ended, storage.Range{})
	_, commitErr := h.s.Commit(ended, storage.Write{Key: "a", Value: []byte("1")})
	_, watchErr := h.s.Watch(ended, "", h.at(0))
	_, nextErr := w.Next(ended)
	for name, err := range map[string]error{"Get": getErr, "List": listErr, "Commit": commitErr, "Watch": watchErr, "Next": nextErr} {
		if !errors.Is(err, context.Canceled) {
			h.Errorf("%s() with an ended context = %v, want %v", name, err, context.Canceled)
		}
	}
	h.put("b", 0, "1")
	h.wantEvents(w, "1 b=1")
}

func testClose(h *harness) {
	h.put("a", 0, "1")
	w := h.watch("b", h.at(0))
	ended := make(chan error, 1)
	go func() {
		for {
			if _, err := w.Next(context.Background()); err != nil {
				ended <- err
				return
			}
		}
	}()
	if err := h.s.Close(); err != nil {
		h.Fatal(err)
	}
	_, commitErr := h.s.Commit(h.ctx, storage.Write{Key: "b", Value: []byte("1")})
	_, getErr := h.s.Get(h.ctx, "a")
	_, listErr := h.s.List(h.ctx, storage.Range{})
	_, watchErr := h.s.Watch(h.ctx, "", h.at(0))
	for name, err := range map[string]error{
		"Next": <-ended, "Commit": commitErr, "Get": getErr, "List": listErr, "Watch": watchErr,
		"Compact": h.s.Compact(h.ctx, h.at(1)), "Close": h.s.Close(),
	} {
		if !errors.Is(err, storage.ErrClosed) {
			h.Errorf("%s() after Close() = %v, want %v", name, err, storage.ErrClosed)
		}
	}
}
