package watchcache

import "context"

// tellNext tells what is next, at whatever stage the watcher is. If there is nothing it may return
// what to wait for.
func (w *Watcher) tellNext(ctx context.Context) (changed <-chan struct{}, err error) {
	w.events = w.events[:0]
	if w.err != nil {
		return nil, w.err
	}
	if err := w.c.openError(); err != nil {
		return nil, err
	}
	switch {
	case w.starting != nil:
		return nil, w.tellInitial()
	case w.old != nil:
		return nil, w.tellOld(ctx)
	}
	return w.tellRecent()
}

// tellInitial tells a part of the initial state.
func (w *Watcher) tellInitial() error {
	objects := w.initial.Load()
	if objects == nil {
		return ErrTooOld
	}
	prefix := w.m.prefix(w.k)
	start := prefix
	if w.lastKey != "" {
		start = w.lastKey + "\x00"
	}
	looked, isEnd := 0, true
	next := func(yield func(*Object) bool) {
		for o := range objects.between(start, successor(prefix)) {
			if looked++; looked > largestInitial {
				isEnd = false
				return
			}
			w.lastKey = o.key
			if !yield(o) {
				return
			}
		}
	}
	for o := range w.m.of(next) {
		w.events = append(w.events, Event{Added, o, w.after})
	}
	if isEnd {
		w.bookmark(InitialEnd, w.after)
		w.endInitial()
	}
	return nil
}

func (w *Watcher) endInitial() {
	if w.starting == nil {
		return
	}
	w.initial.Store(nil)
	w.k.mu.Lock()
	defer w.k.mu.Unlock()
	w.k.starting.Remove(w.starting)
	w.starting = nil
}

// tellOld tells what the store's history has next, and takes a place in the topic when it has
// come so far.
func (w *Watcher) tellOld(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(w.c.life, cancel)() // the store goes on when the cache is closed
	old, until, err := nextOld(ctx, w.k, w.old)
	if w.c.life.Err() != nil {
		return ErrClosed
	}
	if err != nil {
		return err
	}
	w.tell(old, w.m.matches)
	w.after = until
	w.k.mu.Lock()
	arrived := w.after >= w.k.horizon
	if arrived {
		w.enter()
	}
	w.k.mu.Unlock()
	if arrived {
		w.old.Close()
		w.old = nil
	}
	return nil
}

// tellRecent tells what the topic has next. If there is nothing it returns what to wait for.
func (w *Watcher) tellRecent() (changed <-chan struct{}, err error) {
	progress := w.c.progress.revision() // all up to here is in the topic
	t := w.topic
	w.k.mu.RLock()
	if w.next < t.events.first {
		w.k.mu.RUnlock()
		return nil, ErrTooOld
	}
	w.taken = t.events.take(w.taken[:0], w.next, largestTaken, largestTakenBytes)
	if len(w.taken) == 0 {
		t.waiting.Store(true)
		changed = t.changed
	}
	w.k.mu.RUnlock()
	if len(w.taken) == 0 {
		w.after = max(w.after, progress)
		if t.key != w.m.topic {
			w.k.mu.Lock()
			defer w.k.mu.Unlock()
			w.settle()
			return nil, nil
		}
		return changed, nil
	}
	w.next += int64(len(w.taken))
	if w.m.onlyPlace && t.key == w.m.topic {
		w.tell(w.taken, exists) // the topic has nothing else
	} else {
		w.tell(w.taken, w.m.matches)
	}
	w.after = max(w.after, w.taken[len(w.taken)-1].revision)
	clear(w.taken)
	return nil, nil
}

func exists(o *Object) bool { return o != nil }

// tell tells of events, each as it looks to who sees only what matches.
func (w *Watcher) tell(events []*event, matches func(*Object) bool) {
	for _, e := range events {
		if e.revision <= w.after {
			continue
		}
		was, is := matches(e.before), matches(e.after)
		switch {
		case was && is:
			w.events = append(w.events, Event{Modified, e.after, e.revision})
		case is:
			w.events = append(w.events, Event{Added, e.after, e.revision})
		case was:
			w.events = append(w.events, Event{Deleted, e.last(), e.revision})
		}
	}
	if len(w.events) > 0 {
		w.told = w.events[len(w.events)-1].Revision
	}
}
