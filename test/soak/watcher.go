package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

// watcher is the watch of a namespace, and the objects that result from its events. It survives connections and restarts.
//
//	every event has a greater resourceVersion than the event before
//	no bookmark has a smaller resourceVersion than an event or bookmark before
//	expected ∩ seen = ∅: a confirmed write leaves the set when its event arrives, an event when its write is confirmed
type watcher struct {
	namespace string

	mu       sync.Mutex
	revision int64 // of the newest event, bookmark or list
	objects  map[string]state
	highest  map[string]int64 // the greatest sequence number of an object's events
	expected map[int64]write  // confirmed writes without an event, by resourceVersion
	seen     map[int64]write  // events without a confirmed write
	gaps     int
}

// write is a write of an object: a confirmed one, or one that an event shows.
type write struct {
	object   string
	sequence int64
}

func newWatcher(namespace string) *watcher {
	return &watcher{namespace: namespace, objects: map[string]state{}, highest: map[string]int64{}, expected: map[int64]write{}, seen: map[int64]write{}}
}

// expect records a confirmed write, whose event must arrive.
func (w *watcher) expect(o *object, a *attempt, revision int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	confirmed := write{o.name, a.sequence}
	if w.seen[revision] == confirmed {
		delete(w.seen, revision)
		return
	}
	w.expected[revision] = confirmed
}

// watchEvent is an event of a watch.
type watchEvent struct {
	Type   string          `json:"type"`
	Object json.RawMessage `json:"object"`
}

// errGone is the error of a watch whose resourceVersion is too old.
var errGone = errors.New("410 Gone")

// accept checks an event and applies it to the objects.
func (w *watcher) accept(e watchEvent) error {
	var c configMap
	if err := json.Unmarshal(e.Object, &c); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	s := c.state()
	if e.Type == "BOOKMARK" {
		if s.revision < w.revision {
			return fmt.Errorf("watch of %s: a bookmark has resourceVersion %d after %d", w.namespace, s.revision, w.revision)
		}
		w.revision = s.revision
		return nil
	}
	if s.revision <= w.revision {
		return fmt.Errorf("watch of %s: %s of %s has resourceVersion %d after %d", w.namespace, e.Type, c.Metadata.Name, s.revision, w.revision)
	}
	w.revision = s.revision
	return w.change(e.Type, c.Metadata.Name, s)
}

// change applies an event other than a bookmark to the objects. The caller holds w.mu.
func (w *watcher) change(kind, name string, s state) error {
	old, exists := w.objects[name]
	if exists != (kind != "ADDED") {
		return fmt.Errorf("watch of %s: %s of %s, %v, but the object was %v: an event is missing", w.namespace, kind, name, s, old)
	}
	if kind == "DELETED" {
		delete(w.objects, name)
		if s.sequence != old.sequence {
			return fmt.Errorf("watch of %s: DELETED of %s has sequence %d, expected that of the object, %d", w.namespace, name, s.sequence, old.sequence)
		}
		return nil
	}
	w.objects[name] = s
	if name == hotName {
		return nil
	}
	if s.sequence <= w.highest[name] {
		return fmt.Errorf("watch of %s: %s of %s has sequence %d after %d", w.namespace, kind, name, s.sequence, w.highest[name])
	}
	w.highest[name] = s.sequence
	shown := write{name, s.sequence}
	if w.expected[s.revision] == shown {
		delete(w.expected, s.revision)
	} else {
		w.seen[s.revision] = shown
	}
	return nil
}

// reset replaces the objects by a list after a gap. Writes up to the resourceVersion of the list need no event any more.
func (w *watcher) reset(items []configMap, revision int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gaps++
	w.revision = revision
	clear(w.objects)
	for i := range items {
		s := items[i].state()
		w.objects[items[i].Metadata.Name] = s
		w.highest[items[i].Metadata.Name] = s.sequence
	}
	isCovered := func(at int64, _ write) bool { return at <= revision }
	maps.DeleteFunc(w.expected, isCovered)
	maps.DeleteFunc(w.seen, isCovered)
}

// watch watches the namespace until the context ends.
func (w *watcher) watch(ctx context.Context, u *user, world *world, random *rand.Rand) {
	for ctx.Err() == nil {
		calm := world.restarts.now()
		err := w.connect(ctx, u, world, 2+random.IntN(30))
		var broken *invariantError
		switch {
		case ctx.Err() != nil:
		case errors.As(err, &broken):
			world.judge.violation(world.linesOf(w.namespace, broken.object), "%v", err)
			return
		case errors.Is(err, errGone):
			world.counts.Gaps.Add(1)
			if items, revision, err := u.list(ctx, w.namespace, 0); err == nil {
				w.reset(items, number(revision))
			}
		case err != nil && calm.lasted():
			world.judge.violation(nil, "watch of %s: %v", w.namespace, err)
		case err != nil:
			wait(ctx, 20*time.Millisecond)
		}
		world.counts.Resumed.Add(1)
	}
}

// invariantError is returned for a watch event that violates an invariant.
type invariantError struct {
	error
	object string
}

// connect reads the events of one watch, which ends after some seconds.
func (w *watcher) connect(ctx context.Context, u *user, world *world, seconds int) error {
	w.mu.Lock()
	from := w.revision
	w.mu.Unlock()
	response, err := u.open(ctx, request{method: "GET", path: fmt.Sprintf("%s?watch=true&allowWatchBookmarks=true&timeoutSeconds=%d&resourceVersion=%d", collection(w.namespace), seconds, from)})
	if err != nil {
		if statusOf(err) == http.StatusGone {
			return errGone
		}
		return err
	}
	defer response.Body.Close()
	for decoder := json.NewDecoder(bufio.NewReader(response.Body)); ; {
		var e watchEvent
		if err := decoder.Decode(&e); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if e.Type == "ERROR" {
			return errorEvent(e.Object)
		}
		if err := w.accept(e); err != nil {
			return &invariantError{err, nameIn(e.Object)}
		}
		if e.Type == "BOOKMARK" {
			world.counts.Bookmarks.Add(1)
		} else {
			world.counts.Events.Add(1)
		}
	}
}

// errorEvent returns the error of an ERROR event.
func errorEvent(object json.RawMessage) error {
	var status struct{ Code int }
	if json.Unmarshal(object, &status) == nil && status.Code == http.StatusGone {
		return errGone
	}
	return fmt.Errorf("ERROR event %.300s", object)
}

// nameIn returns the name of an object; "" if it has none.
func nameIn(object json.RawMessage) string {
	var c configMap
	_ = json.Unmarshal(object, &c) // the name only selects a history to print
	return c.Metadata.Name
}

// difference describes the first difference between the objects of the watch and a list; "" if they are equal and all events
// of confirmed writes have arrived.
func (w *watcher) difference(listed map[string]state) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	for revision, missing := range w.expected {
		return fmt.Sprintf("no event for the confirmed write of %s with sequence %d at resourceVersion %d; the watch is at %d", missing.object, missing.sequence, revision, w.revision)
	}
	for name, s := range listed {
		if w.objects[name] != s {
			return fmt.Sprintf("%s: the list has %v, the events result in %v", name, s, w.objects[name])
		}
	}
	for name, s := range w.objects {
		if _, isListed := listed[name]; !isListed {
			return fmt.Sprintf("%s: absent in the list, the events result in %v", name, s)
		}
	}
	return ""
}

// takeUnconfirmed returns the sequence numbers of events whose writes were not confirmed, by object, and forgets them.
func (w *watcher) takeUnconfirmed() map[string][]int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	taken := map[string][]int64{}
	for _, shown := range w.seen {
		taken[shown.object] = append(taken[shown.object], shown.sequence)
	}
	clear(w.seen)
	return taken
}
