package registry

import (
	"slices"
	"time"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api"
)

// Propagation is the propagation policy of a deletion.
type Propagation string

// The propagation policies.
const (
	DefaultPropagation Propagation = ""           // determined by the object's finalizers, or by its resource if it has none
	Background         Propagation = "Background" // dependents are deleted after the object
	Foreground         Propagation = "Foreground" // the object is deleted after the dependents with blockOwnerDeletion
	Orphan             Propagation = "Orphan"     // dependents are not deleted; their ownerReference is removed
)

// The finalizers that the garbage collector removes.
const (
	// OrphanFinalizer is the finalizer of the propagation policy Orphan.
	OrphanFinalizer = "orphan"
	// ForegroundFinalizer is the finalizer of the propagation policy Foreground.
	ForegroundFinalizer = "foregroundDeletion"
)

// mark returns the object marked as deleted: with a deletionTimestamp, and with the finalizer of the propagation policy. pending
// reports whether the object cannot be removed yet, because it has finalizers or its grace period has not ended.
func (d *Deletion) mark(doc document.Value, now time.Time) (marked document.Value, pending bool) {
	kind := d.Endpoint.Kind
	if kind.ContainsObjects && !isMarkedDeleted(doc) {
		return markTerminating(d.withFinalizers(doc), now), true
	}
	if kind.ContainsObjects && doc.Lookup("spec", "finalizers").Len() > 0 {
		return doc, true
	}
	marked, grace, isPending := d.withGrace(doc, now)
	if isPending {
		return doc, true
	}
	marked = d.withFinalizers(marked)
	if kind.Graceful && (grace > 0 || !isMarkedDeleted(doc)) {
		return marked, grace > 0 || hasFinalizers(kind, marked)
	}
	if !hasFinalizers(kind, marked) {
		return marked, false
	}
	return withZeroGrace(marked, now), true
}

func isMarkedDeleted(doc document.Value) bool {
	return !doc.Lookup("metadata", "deletionTimestamp").IsAbsent()
}

// withGrace sets the grace period, in seconds, and the deletionTimestamp of an object whose resource has grace periods, such
// as pods. A repeated deletion can only shorten the grace period; if it does not, isPending is true and the object remains
// unchanged.
func (d *Deletion) withGrace(doc document.Value, now time.Time) (marked document.Value, grace int64, isPending bool) {
	if !d.Endpoint.Kind.Graceful {
		return doc, 0, false
	}
	if !isMarkedDeleted(doc) {
		grace = d.Endpoint.Kind.GracePeriod(doc, d.GracePeriod, d.HasGracePeriod)
		return withDeletionTime(withNextGeneration(doc), now.Add(seconds(grace)), grace), grace, false
	}
	had := gracePeriod(doc)
	if had == 0 {
		return doc, 0, false
	}
	if grace = d.GracePeriod; grace < 0 {
		grace = 1
	}
	if !d.HasGracePeriod || grace >= had {
		return doc, had, true
	}
	return shortenGrace(doc, grace, had, now), grace, false
}

// gracePeriod returns deletionGracePeriodSeconds of an object that is being deleted; 0 if it has none. A negative value counts
// as 1.
func gracePeriod(doc document.Value) int64 {
	had, _ := doc.Lookup("metadata", "deletionGracePeriodSeconds").Int64()
	if had < 0 {
		return 1
	}
	return had
}

// shortenGrace shortens the grace period of an object from oldGrace to newGrace seconds. If the shorter period would have ended
// before now, the deletionTimestamp becomes now and the grace period at most one second.
func shortenGrace(doc document.Value, newGrace, oldGrace int64, now time.Time) document.Value {
	end, err := time.Parse(time.RFC3339, doc.Lookup("metadata", "deletionTimestamp").Text())
	if end = end.Add(seconds(newGrace - oldGrace)); err != nil || end.Before(now) {
		end, newGrace = now, min(newGrace, 1)
	}
	return withDeletionTime(doc, end, newGrace)
}

func seconds(n int64) time.Duration { return time.Duration(n) * time.Second }

// withDeletionTime returns the object with the deletionTimestamp end and a grace period in seconds.
func withDeletionTime(doc document.Value, end time.Time, grace int64) document.Value {
	return doc.With("metadata", doc.Get("metadata").
		With("deletionTimestamp", document.NewString(end.UTC().Format(time.RFC3339))).
		With("deletionGracePeriodSeconds", document.NewInt(grace)))
}

// withZeroGrace marks an object as deleted with a grace period of 0, because only its finalizers prevent its removal. A
// deletionTimestamp in the past is retained; a deletionTimestamp in the future becomes now.
func withZeroGrace(doc document.Value, now time.Time) document.Value {
	if !isMarkedDeleted(doc) {
		return withDeletionTime(withNextGeneration(doc), now, 0)
	}
	end, err := time.Parse(time.RFC3339, doc.Lookup("metadata", "deletionTimestamp").Text())
	if err != nil || end.After(now) {
		end = now
	}
	return withDeletionTime(doc, end, 0)
}

// withNextGeneration increments the generation of an object that has one.
func withNextGeneration(doc document.Value) document.Value {
	metadata := doc.Get("metadata")
	generation, _ := metadata.Get("generation").Int64()
	if generation <= 0 {
		return doc
	}
	return doc.With("metadata", metadata.With("generation", document.NewInt(generation+1)))
}

// markTerminating returns a namespace with a deletionTimestamp and the phase Terminating.
func markTerminating(doc document.Value, now time.Time) document.Value {
	metadata := doc.Get("metadata").With("deletionTimestamp", document.NewString(now.UTC().Format(time.RFC3339)))
	return doc.With("metadata", metadata).With("status", doc.Get("status").With("phase", document.NewString("Terminating")))
}

// withFinalizers returns the object with the finalizer of the propagation policy, and without the finalizers of other policies.
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

// sameSet reports whether two slices contain the same strings, ignoring order and duplicates.
func sameSet(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(slices.Compact(a), slices.Compact(b))
}

// propagation returns the propagation policy of the request. If the request sets none, the object's finalizers determine the
// policy, and without such finalizers the default of the resource applies. For resources that are not garbage collected it is
// always Background.
func (d *Deletion) propagation(finalizers []string) Propagation {
	kind := d.Endpoint.Kind
	switch {
	case kind.NoGarbageCollection:
		return Background
	case d.Propagation != DefaultPropagation:
		return d.Propagation
	}
	for _, f := range finalizers {
		switch f {
		case OrphanFinalizer:
			return Orphan
		case ForegroundFinalizer:
			return Foreground
		}
	}
	if kind.OrphanDependents {
		return Orphan
	}
	return Background
}

// isDeletionComplete reports whether an object can be removed from the store: it is marked as deleted, its grace period is 0 and
// it has no finalizers.
func isDeletionComplete(kind *api.Kind, doc document.Value) bool {
	return isMarkedDeleted(doc) && gracePeriod(doc) == 0 && !hasFinalizers(kind, doc)
}

// hasFinalizers reports whether an object has finalizers: in metadata, or for a namespace in spec.
func hasFinalizers(kind *api.Kind, doc document.Value) bool {
	return doc.Lookup("metadata", "finalizers").Len() > 0 || kind.ContainsObjects && doc.Lookup("spec", "finalizers").Len() > 0
}
