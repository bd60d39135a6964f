package objects

import (
	"slices"
	"time"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/kinds"
)

// Propagation says what becomes of the dependants of an object that is deleted.
type Propagation string

// They are spelled as clients do. By default the finalizers that the object has count, or else its kind.
const (
	ByDefault  Propagation = ""
	Background Propagation = "Background" // they go after it
	Foreground Propagation = "Foreground" // it goes after those that block it
	Orphan     Propagation = "Orphan"     // they stay, and have an owner less
)

// The finalizers of those who see to it.
const (
	OrphanFinalizer     = "orphan"
	ForegroundFinalizer = "foregroundDeletion"
)

// mark returns an object as a deletion marks it, and whether there is something to wait for before it
// goes.
func (d *Deletion) mark(doc document.Value, now time.Time) (marked document.Value, waits bool) {
	kind := d.Endpoint.Kind
	if kind.Contains && !isMarked(doc) {
		return terminating(d.withFinalizers(doc), now), true
	}
	if kind.Contains && doc.Lookup("spec", "finalizers").Len() > 0 {
		return doc, true
	}
	marked, grace, isPending := d.withGrace(doc, now)
	if isPending {
		return doc, true
	}
	marked = d.withFinalizers(marked)
	if kind.Graceful && (grace > 0 || !isMarked(doc)) {
		return marked, grace > 0 || hasFinalizers(kind, marked)
	}
	if !hasFinalizers(kind, marked) {
		return marked, false
	}
	return withoutTime(marked, now), true
}

func isMarked(doc document.Value) bool {
	return !doc.Lookup("metadata", "deletionTimestamp").IsAbsent()
}

// withGrace gives an object time if its kind does, and returns how much. Time that it has can only be made
// shorter; while it lasts, a deletion that asks for no less changes nothing.
func (d *Deletion) withGrace(doc document.Value, now time.Time) (marked document.Value, grace int64, isPending bool) {
	if !d.Endpoint.Kind.Graceful {
		return doc, 0, false
	}
	if !isMarked(doc) {
		grace = d.Endpoint.Kind.GracePeriod(doc, d.Grace, d.HasGrace)
		return withTime(counted(doc), now.Add(seconds(grace)), grace), grace, false
	}
	had := given(doc)
	if had == 0 {
		return doc, 0, false
	}
	if grace = d.Grace; grace < 0 {
		grace = 1
	}
	if !d.HasGrace || grace >= had {
		return doc, had, true
	}
	return shortened(doc, grace, had, now), grace, false
}

// given is how many seconds an object was given when it was marked.
func given(doc document.Value) int64 {
	had, _ := doc.Lookup("metadata", "deletionGracePeriodSeconds").Int64()
	if had < 0 {
		return 1
	}
	return had
}

// shortened takes some of its time from an object. If none is left, it gets the least that is some.
func shortened(doc document.Value, grace, had int64, now time.Time) document.Value {
	end, err := time.Parse(time.RFC3339, doc.Lookup("metadata", "deletionTimestamp").Text())
	if end = end.Add(seconds(grace - had)); err != nil || end.Before(now) {
		end, grace = now, min(grace, 1)
	}
	return withTime(doc, end, grace)
}

func seconds(n int64) time.Duration { return time.Duration(n) * time.Second }

// withTime marks an object: it is to go at a time.
func withTime(doc document.Value, end time.Time, grace int64) document.Value {
	return doc.With("metadata", doc.Get("metadata").
		With("deletionTimestamp", document.NewString(end.UTC().Format(time.RFC3339))).
		With("deletionGracePeriodSeconds", document.NewInt(grace)))
}

// withoutTime marks an object that only waits for its finalizers. If it was marked already, its time stays
// unless it is still to come.
func withoutTime(doc document.Value, now time.Time) document.Value {
	if !isMarked(doc) {
		return withTime(counted(doc), now, 0)
	}
	end, err := time.Parse(time.RFC3339, doc.Lookup("metadata", "deletionTimestamp").Text())
	if err != nil || end.After(now) {
		end = now
	}
	return withTime(doc, end, 0)
}

// counted counts the generation of an object up, if it has one: who follows it must do something.
func counted(doc document.Value) document.Value {
	metadata := doc.Get("metadata")
	generation, _ := metadata.Get("generation").Int64()
	if generation <= 0 {
		return doc
	}
	return doc.With("metadata", metadata.With("generation", document.NewInt(generation+1)))
}

// terminating marks something that is to be deleted when it is empty.
func terminating(doc document.Value, now time.Time) document.Value {
	metadata := doc.Get("metadata").With("deletionTimestamp", document.NewString(now.UTC().Format(time.RFC3339)))
	return doc.With("metadata", metadata).With("status", doc.Get("status").With("phase", document.NewString("Terminating")))
}

// withFinalizers gives an object the finalizer of who sees to its dependants, if somebody must before it
// goes, and takes the other one away.
func (d *Deletion) withFinalizers(doc document.Value) document.Value {
	var before, after []string
	for _, f := range doc.Lookup("metadata", "finalizers").Items() {
		before = append(before, f.Text())
	}
	after = slices.DeleteFunc(slices.Clone(before), func(f string) bool { return f == OrphanFinalizer || f == ForegroundFinalizer })
	switch d.propagation(before) {
	case Orphan:
		after = append(after, OrphanFinalizer)
	case Foreground:
		after = append(after, ForegroundFinalizer)
	}
	if sameSet(before, after) {
		return doc
	}
	if len(after) == 0 {
		return doc.With("metadata", doc.Get("metadata").Without("finalizers"))
	}
	list := make([]document.Value, len(after))
	for i, f := range after {
		list[i] = document.NewString(f)
	}
	return doc.With("metadata", doc.Get("metadata").With("finalizers", document.NewList(list...)))
}

func sameSet(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(slices.Compact(a), slices.Compact(b))
}

// propagation is what becomes of dependants: as the client says, or else as the finalizers say that the
// object has, or else as its kind does.
func (d *Deletion) propagation(finalizers []string) Propagation {
	kind := d.Endpoint.Kind
	switch {
	case kind.Childless:
		return Background
	case d.Dependants != ByDefault:
		return d.Dependants
	}
	for _, f := range finalizers {
		switch f {
		case OrphanFinalizer:
			return Orphan
		case ForegroundFinalizer:
			return Foreground
		}
	}
	if kind.Orphans {
		return Orphan
	}
	return Background
}

// isOver reports whether an object that was to be deleted has nothing left to wait for.
func isOver(kind *kinds.Kind, doc document.Value) bool {
	return isMarked(doc) && given(doc) == 0 && !hasFinalizers(kind, doc)
}

// hasFinalizers reports whether there is somebody to wait for before an object goes.
func hasFinalizers(kind *kinds.Kind, doc document.Value) bool {
	return doc.Lookup("metadata", "finalizers").Len() > 0 || kind.Contains && doc.Lookup("spec", "finalizers").Len() > 0
}
