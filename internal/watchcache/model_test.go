package watchcache

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/cadastre/cadastre/internal/storage"
)

var seeds = flag.Uint64("seeds", 30, "number of random histories of TestModel")

// model is the reference implementation of a cache: it holds the complete state at every revision.
type model struct {
	// states[r] contains the objects at revision r, sorted by key.
	states [][]modelObject
}

type modelObject struct {
	namespace, name, app, node string
	revision                   storage.Revision
}

func (o modelObject) key() string { return podKey(o.namespace, o.name).String() }

func (o modelObject) text() []byte { return pod(o.name, o.app, o.node, 100) }

// matches reports whether apimachinery's implementation of the selectors selects the object.
func (o modelObject) matches(s Selection) bool {
	return (s.Namespace == "" || s.Namespace == o.namespace) && (s.Name == "" || s.Name == o.name) &&
		(s.Labels == nil || s.Labels.Matches(labels.Set{"app": o.app})) &&
		(s.Fields == nil || s.Fields.Matches(fields.Set{"spec.nodeName": o.node, "metadata.name": o.name, "metadata.namespace": o.namespace}))
}

func (m *model) now() storage.Revision { return storage.Revision(len(m.states) - 1) }

func (m *model) find(key string) (modelObject, bool) {
	for _, o := range m.states[m.now()] {
		if o.key() == key {
			return o, true
		}
	}
	return modelObject{}, false
}

// list returns the expected result of the query q at revision as text, and the number of selected objects after the page.
func (m *model) list(q Query, revision storage.Revision) (text string, remaining int) {
	count := 0
	for _, o := range m.states[revision] {
		if !o.matches(q.Selection) || o.key() <= q.After {
			continue
		}
		if count++; q.Limit == 0 || count <= q.Limit {
			text += fmt.Sprintf("%s/%s@%d ", o.namespace, o.name, o.revision)
		}
	}
	text += fmt.Sprintf("at %d", revision)
	if remaining = count - q.Limit; q.Limit > 0 && remaining > 0 {
		text += fmt.Sprintf(", %d more", remaining)
	}
	return text, remaining
}

// events returns the events that a watcher of the selection s must receive after the revision after. It sorts the events of
// each commit by their text.
func (m *model) events(s Selection, after storage.Revision) (events []string) {
	for at := after + 1; at <= m.now(); at++ {
		start := len(events)
		before, now := m.states[at-1], m.states[at]
		for _, o := range before {
			i := slices.IndexFunc(now, func(other modelObject) bool { return other.key() == o.key() })
			if o.matches(s) && (i < 0 || !now[i].matches(s)) {
				events = append(events, fmt.Sprintf("DELETED %s/%s@%d", o.namespace, o.name, at))
			}
		}
		for _, o := range now {
			i := slices.IndexFunc(before, func(other modelObject) bool { return other.key() == o.key() })
			switch was := i >= 0 && before[i].matches(s); {
			case o.revision != at || !o.matches(s):
			case was:
				events = append(events, fmt.Sprintf("MODIFIED %s/%s@%d", o.namespace, o.name, at))
			default:
				events = append(events, fmt.Sprintf("ADDED %s/%s@%d", o.namespace, o.name, at))
			}
		}
		slices.Sort(events[start:])
	}
	return events
}

// history runs a random sequence of operations on a cache and on the model.
type history struct {
	t        *testing.T
	random   *rand.Rand
	store    storage.Store
	cache    *Cache
	model    model
	watchers []*modelWatcher
	// compacted is the revision up to which the store is compacted. small means that the event window may be too small for the
	// watchers.
	compacted storage.Revision
	small     bool
}

// modelWatcher is a watcher of the cache, with the events that it has received so far.
type modelWatcher struct {
	*Watcher
	selection Selection
	after     storage.Revision
	got       []string
}

// TestModel compares lists and watches of random histories with the model, at the current and at earlier revisions. Some
// event windows are so small that watchers fail with ErrTooOld.
func TestModel(t *testing.T) {
	for seed := range *seeds {
		random := rand.New(rand.NewPCG(seed, 3))
		h := &history{t: t, random: random, store: openStore(t), model: model{states: [][]modelObject{nil}}}
		window := []int{1, 3000, 20_000, 0}[random.IntN(4)]
		h.small = window > 0
		h.cache = openCache(t, h.store, Options{WindowBytes: window})
		for range 300 {
			h.step()
			if t.Failed() {
				t.Fatalf("the history of seed %d differs from the model", seed)
			}
		}
		for _, w := range slices.Clone(h.watchers) {
			h.follow(w)
		}
		if t.Failed() {
			t.Fatalf("the history of seed %d differs from the model", seed)
		}
		h.cache.Close()
	}
}

func (h *history) step() {
	switch h.random.IntN(10) {
	case 0, 1, 2, 3, 4:
		h.commit()
	case 5, 6:
		h.list()
	case 7:
		if len(h.watchers) < 12 {
			h.watch()
		}
	case 8:
		if len(h.watchers) > 0 {
			h.follow(h.watchers[h.random.IntN(len(h.watchers))])
		}
	case 9:
		switch h.random.IntN(20) {
		case 0, 1:
			h.compact()
		case 2:
			h.reopen()
		}
	}
}

// reopen closes the cache and opens a new cache; watches are resumed from the last revision that they have received.
func (h *history) reopen() {
	h.cache.Close()
	h.cache = openCache(h.t, h.store, h.cache.options)
	for _, w := range slices.Clone(h.watchers) {
		w.Close()
		from := w.after
		for _, text := range w.got {
			_, revision, _ := strings.Cut(text, "@")
			if _, err := fmt.Sscan(revision, &from); err != nil {
				h.t.Fatal(err)
			}
		}
		again, err := h.cache.Watch(h.t.Context(), WatchOptions{Selection: w.selection, After: from})
		if err != nil {
			if !errors.Is(err, ErrTooOld) || from >= h.compacted {
				h.t.Fatal(err)
			}
			h.watchers = slices.DeleteFunc(h.watchers, func(other *modelWatcher) bool { return other == w })
			continue
		}
		w.Watcher = again
	}
}

func (h *history) pick(choices ...string) string { return choices[h.random.IntN(len(choices))] }

// commit writes one object, and sometimes three, through the cache or directly to the store.
func (h *history) commit() {
	next := slices.Clone(h.model.states[h.model.now()])
	revision := h.model.now() + 1
	var writes []storage.Write
	for range 1 + h.random.IntN(10)/9*2 {
		o := modelObject{namespace: h.pick("a", "b"), name: h.pick("w", "x", "y", "z"), app: h.pick("web", "db", "web"), node: h.pick("n1", "n2"), revision: revision}
		if slices.ContainsFunc(writes, func(w storage.Write) bool { return w.Key == o.key() }) {
			continue
		}
		there, exists := h.model.find(o.key())
		next = slices.DeleteFunc(next, func(other modelObject) bool { return other.key() == o.key() })
		w := storage.Write{Key: o.key(), Expected: there.revision}
		if !exists || h.random.IntN(4) > 0 {
			w.Value = o.text()
			next = append(next, o)
		}
		writes = append(writes, w)
	}
	var err error
	if h.random.IntN(3) == 0 {
		_, err = h.store.Commit(h.t.Context(), writes...)
	} else {
		_, _, err = h.cache.Commit(h.t.Context(), writes...)
	}
	if err != nil {
		h.t.Fatal(err)
	}
	slices.SortFunc(next, func(a, b modelObject) int { return strings.Compare(a.key(), b.key()) })
	h.model.states = append(h.model.states, next)
}

func (h *history) selection() Selection {
	s := Selection{Kind: pods, Namespace: h.pick("", "", "a", "b"), Name: h.pick("", "", "", "x")}
	if text := h.pick("", "", "app=web", "app in (db)", "app!=db", "app in (web,db)", "app=none"); text != "" {
		s.Labels = labelSelector(h.t, text)
	}
	if text := h.pick("", "", "spec.nodeName=n1", "spec.nodeName!=n1", "metadata.name=y", "metadata.namespace=b"); text != "" {
		s.Fields = fieldSelector(h.t, text)
	}
	return s
}

func (h *history) list() {
	q := Query{Selection: h.selection(), Limit: h.random.IntN(5)}
	at := h.model.now()
	if h.random.IntN(2) == 0 {
		at = storage.Revision(h.random.IntN(len(h.model.states)))
		q.Freshness = Exactly(at)
	}
	if objects := h.model.states[at]; len(objects) > 0 && h.random.IntN(3) == 0 {
		q.After = objects[h.random.IntN(len(objects))].key()
	}
	got, err := h.cache.List(h.t.Context(), q)
	if errors.Is(err, ErrTooOld) && at < h.compacted {
		return
	}
	if err != nil {
		h.t.Fatal(err)
	}
	want, remaining := h.model.list(q, at)
	if got.More && got.Remaining < 0 {
		got.Remaining = remaining // -1 is allowed: the cache need not count the remaining objects
	}
	if names(got) != want {
		h.t.Errorf("List(%+v) at %d = %s, want %s", q, at, names(got), want)
	}
	for _, o := range got.Objects {
		h.checkJSON(o)
	}
}

// checkJSON compares the JSON of an object with the JSON of the model's object at the same revision.
func (h *history) checkJSON(o *Object) {
	for _, other := range h.model.states[o.Revision()] {
		if other.key() == o.Key() {
			if got, want := string(o.AppendJSON(nil)), plainJSON(string(other.text()), fmt.Sprint(o.Revision())).JSON(); got != want {
				h.t.Errorf("AppendJSON() = %s, want %s", got, want)
			}
			return
		}
	}
	h.t.Errorf("the cache has %s at revision %d, want no such object", o.Key(), o.Revision())
}

func (h *history) watch() {
	w := &modelWatcher{selection: h.selection()}
	o := WatchOptions{Selection: w.selection, After: storage.Revision(h.random.IntN(len(h.model.states)))}
	if h.random.IntN(3) == 0 {
		o.InitialState = true
		o.After = h.model.now()
	}
	w.after = o.After
	var err error
	w.Watcher, err = h.cache.Watch(h.t.Context(), o)
	if errors.Is(err, ErrTooOld) && o.After < h.compacted {
		return
	}
	if err != nil {
		h.t.Fatal(err)
	}
	if o.InitialState {
		h.initial(w)
	}
	h.watchers = append(h.watchers, w)
}

// initial compares the initial state that a watch delivers with the model's list.
func (h *history) initial(w *modelWatcher) {
	events, err := w.Next(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	var l List
	for _, e := range events[:len(events)-1] {
		l.Objects = append(l.Objects, e.Object)
	}
	l.Revision = events[len(events)-1].Revision
	if want, _ := h.model.list(Query{Selection: w.selection}, w.after); names(l) != want || events[len(events)-1].Type != InitialEnd {
		h.t.Errorf("initial state of %+v: %s, want %s", w.selection, names(l), want)
	}
}

// follow reads all expected events of a watcher and compares them with the model. A watcher may fail with ErrTooOld if its
// events were dropped from the window or compacted; it is then removed.
func (h *history) follow(w *modelWatcher) {
	want := h.model.events(w.selection, w.after)
	for len(w.got) < len(want) {
		ctx, cancel := context.WithTimeout(h.t.Context(), 5*time.Second)
		events, err := w.Next(ctx)
		cancel()
		if errors.Is(err, ErrTooOld) && (h.small || h.compacted > 0) {
			w.Close()
			h.watchers = slices.DeleteFunc(h.watchers, func(other *modelWatcher) bool { return other == w })
			break
		}
		if err != nil {
			h.t.Errorf("watch %+v after %d: Next() = %v after events %v, want %v", w.selection, w.after, err, w.got, want)
			return
		}
		same := len(w.got) // same is the index of the first event of the current commit
		for i, e := range events {
			if i > 0 && e.Revision > events[i-1].Revision {
				same = len(w.got)
			}
			w.got = append(w.got, eventText(e))
			slices.Sort(w.got[same:])
			if e.Type != Deleted {
				h.checkJSON(e.Object)
			}
		}
	}
	if count := min(len(w.got), len(want)); !slices.Equal(w.got, want[:count]) {
		h.t.Errorf("watch %+v after %d: events\n%v, want\n%v", w.selection, w.after, w.got, want)
	}
}

func (h *history) compact() {
	h.compacted = max(h.compacted, storage.Revision(h.random.IntN(len(h.model.states))))
	if err := h.store.Compact(h.t.Context(), h.compacted); err != nil {
		h.t.Fatal(err)
	}
}
