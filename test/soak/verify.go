package main

import (
	"context"
	"fmt"
	"time"
)

// compareTimeout is the maximum time until watches have received all events.
const compareTimeout = time.Minute

// verify compares the model with lists of all namespaces, and the objects of the watches with the lists. The writers must have ended.
func (w *world) verify(ctx context.Context) {
	for _, namespace := range w.namespaces {
		limit := 0
		if w.random.IntN(2) == 0 {
			limit = 1 + w.random.IntN(20)
		}
		items, _, err := w.bob.list(ctx, namespace, limit)
		if err != nil {
			if ctx.Err() == nil {
				w.judge.violation(nil, "listing %s: %v", namespace, err)
			}
			return
		}
		listed := map[string]state{}
		for i := range items {
			listed[items[i].Metadata.Name] = items[i].state()
			if items[i].Metadata.Name == hotName && namespace == w.hot.namespace {
				if err := w.hot.compare(items[i].Data); err != nil {
					w.judge.violation(w.hot.lines(), "%v", err)
				}
			}
		}
		w.compareObjects(namespace, listed)
		w.compareWatch(ctx, namespace, listed)
	}
}

// compareObjects compares the objects of a namespace with a list.
func (w *world) compareObjects(namespace string, listed map[string]state) {
	known := map[string]bool{}
	for _, o := range w.objects {
		if o.namespace != namespace {
			continue
		}
		known[o.name] = true
		w.counts.Compared.Add(1)
		if err := o.observe(listed[o.name]); err != nil {
			w.judge.violation(o.lines(), "%v", err)
		}
	}
	isCreated := w.hot.snapshot() != [hotAppliers]int64{}
	if _, isListed := listed[hotName]; namespace == w.hot.namespace && isCreated && !isListed {
		w.judge.violation(w.hot.lines(), "%s/%s: the object is lost", namespace, hotName)
	}
	for name, s := range listed {
		if !known[name] && !(name == hotName && namespace == w.hot.namespace) {
			w.judge.violation(nil, "%s/%s: nobody has created this object: %v", namespace, name, s)
		}
	}
}

// compareWatch waits until the objects of a watch are equal to a list.
func (w *world) compareWatch(ctx context.Context, namespace string, listed map[string]state) {
	watch, began := w.watchers[namespace], time.Now()
	for {
		difference := watch.difference(listed)
		if difference == "" {
			break
		}
		if time.Since(began) > compareTimeout {
			w.judge.violation(nil, "watch of %s: %s, %v after the last write", namespace, difference, compareTimeout)
			return
		}
		if !wait(ctx, 20*time.Millisecond) {
			return
		}
	}
	for name, sequences := range watch.takeUnconfirmed() {
		o := w.object(namespace, name)
		if o == nil {
			w.judge.violation(nil, "watch of %s: events of the unknown object %s", namespace, name)
			continue
		}
		if err := o.checkEvents(sequences); err != nil {
			w.judge.violation(o.lines(), "%v", err)
		}
	}
}

// object returns the model of an object; nil if there is none.
func (w *world) object(namespace, name string) *object {
	for _, o := range w.objects {
		if o.namespace == namespace && o.name == name {
			return o
		}
	}
	return nil
}

// linesOf returns the history of an object, for a violation.
func (w *world) linesOf(namespace, name string) []string {
	if o := w.object(namespace, name); o != nil {
		return o.lines()
	}
	if name == hotName {
		return w.hot.lines()
	}
	return []string{fmt.Sprintf("%s/%s has no history", namespace, name)}
}
