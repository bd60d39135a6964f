package watchcache

import "context"

// nextEvents fills w.events with the next events, at any stage of the watcher. If there are none, it may return a
// channel to wait for.
func (w *Watcher) nextEvents(ctx context.Context) (changed <-chan struct{}, err error) {
	w.events = w.events[:0]
	if w.err != nil {
		return nil, w.err
	}
	if err := w.c.closedError(); err != nil {
		return nil, err
	}
	switch {
	case w.starting != nil:
		return nil, w.nextInitial()
	case w.history != nil:
		return nil, w.nextHistory(ctx)
	}
	return w.nextRecent()
}

// nextInitial fills w.events with the next part of the initial state.
func (w *Watcher) nextInitial() error {
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
			if looked++; looked > maxInitialObjects {
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

// nextHistory fills w.events with the next events of the store's history, and subscribes to the window when it has
// reached it.
func (w *Watcher) nextHistory(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(w.c.runCtx, cancel)() // closing the cache does not close the store
	old, until, err := readHistory(ctx, w.k, w.history)
	if w.c.runCtx.Err() != nil {
		return ErrClosed
	}
	if err != nil {
		return err
	}
	w.appendEvents(old, w.m.matches)
	w.after = until
	w.k.mu.Lock()
	arrived := w.after >= w.k.horizon
	if arrived {
		w.enter()
	}
	w.k.mu.Unlock()
	if arrived {
		w.history.Close()
		w.history = nil
	}
	return nil
}

// nextRecent fills w.events with the next events of the topic. If there are none, it returns the channel to wait for.
func (w *Watcher) nextRecent() (changed <-chan struct{}, err error) {
	progress := w.c.progress.revision() // read before the topic: the topic is complete up to it
	t := w.topic
	w.k.mu.RLock()
	if w.next < t.events.first {
		w.k.mu.RUnlock()
		return nil, ErrTooOld
	}
	w.taken = t.events.take(w.taken[:0], w.next, maxBatchEvents, maxBatchBytes)
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
	if w.m.onlyNamespacedName && t.key == w.m.topic {
		w.appendEvents(w.taken, exists) // the topic has only events of the selection
	} else {
		w.appendEvents(w.taken, w.m.matches)
	}
	w.after = max(w.after, w.taken[len(w.taken)-1].revision)
	clear(w.taken)
	return nil, nil
}

func exists(o *Object) bool { return o != nil }

// appendEvents converts events for a watcher that sees only matching objects, and appends them to w.events.
func (w *Watcher) appendEvents(events []*event, matches func(*Object) bool) {
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
		w.delivered = w.events[len(w.events)-1].Revision
	}
}
