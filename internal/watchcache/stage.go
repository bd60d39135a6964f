package watchcache

import "context"

// nextEvents fills w.events with the next events of the watcher's current stage. If there are none, it may return changed, a
// channel that is closed when there may be further events.
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

// nextInitial fills w.events with the next part of the initial state, followed by InitialEnd if it is the last part.
func (w *Watcher) nextInitial() error {
	objects := w.initial.Load()
	if objects == nil {
		return ErrTooOld
	}
	prefix := w.m.prefix(w.resource)
	start := prefix
	if w.lastKey != "" {
		start = w.lastKey + "\x00"
	}
	scanned, isEnd := 0, true
	next := func(yield func(*Object) bool) {
		for o := range objects.between(start, successor(prefix)) {
			if scanned++; scanned > maxInitialObjects {
				isEnd = false
				return
			}
			w.lastKey = o.key
			if !yield(o) {
				return
			}
		}
	}
	for o := range w.m.filter(next) {
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
	w.resource.mu.Lock()
	defer w.resource.mu.Unlock()
	w.resource.starting.Remove(w.starting)
	w.starting = nil
}

// nextHistory fills w.events with the next events of the store's history. When it has reached the event window, it subscribes
// to the window and closes the history.
func (w *Watcher) nextHistory(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(w.c.runCtx, cancel)() // Close of the cache must end the wait, although it does not close the store
	old, until, err := readHistory(ctx, w.resource, w.history)
	if w.c.runCtx.Err() != nil {
		return ErrClosed
	}
	if err != nil {
		return err
	}
	w.appendEvents(old, w.m.matches)
	w.after = until
	w.resource.mu.Lock()
	arrived := w.after >= w.resource.horizon
	if arrived {
		w.subscribeToAll()
	}
	w.resource.mu.Unlock()
	if arrived {
		w.history.Close()
		w.history = nil
	}
	return nil
}

// nextRecent fills w.events with the next events of the topic. If there are none, it returns changed, a channel that is closed
// at the topic's next event.
func (w *Watcher) nextRecent() (changed <-chan struct{}, err error) {
	progress := w.c.progress.revision() // progress is read before the topic: the topic is then complete up to progress
	t := w.topic
	w.resource.mu.RLock()
	if w.next < t.events.first {
		w.resource.mu.RUnlock()
		return nil, ErrTooOld
	}
	w.taken = t.events.take(w.taken[:0], w.next, maxBatchEvents, maxBatchBytes)
	if len(w.taken) == 0 {
		t.waiting.Store(true)
		changed = t.changed
	}
	w.resource.mu.RUnlock()
	if len(w.taken) == 0 {
		w.after = max(w.after, progress)
		if t.key != w.m.topic {
			w.resource.mu.Lock()
			defer w.resource.mu.Unlock()
			w.moveToOwnTopic()
			return nil, nil
		}
		return changed, nil
	}
	w.next += int64(len(w.taken))
	if w.m.onlyNamespacedName && t.key == w.m.topic {
		w.appendEvents(w.taken, exists) // the topic receives only events of the selection
	} else {
		w.appendEvents(w.taken, w.m.matches)
	}
	w.after = max(w.after, w.taken[len(w.taken)-1].revision)
	clear(w.taken)
	return nil, nil
}

func exists(o *Object) bool { return o != nil }

// appendEvents converts events to the view of a watcher of those objects for which matches returns true, and appends them to
// w.events: an object that starts to match is Added, and an object that stops matching is Deleted. It skips events that were
// delivered already.
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
			w.events = append(w.events, Event{Deleted, e.deletedObject(), e.revision})
		}
	}
	if len(w.events) > 0 {
		w.delivered = w.events[len(w.events)-1].Revision
	}
}
