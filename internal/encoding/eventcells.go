package encoding

import (
	"strconv"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// Events are served by two API groups, in which some fields have different names. If a function has two parameters for field
// names, the first is the name in the core group, and the second the name in events.k8s.io.

// eitherField returns the field with the core group's name or, if that is absent, with the name of events.k8s.io.
func (r *row) eitherField(core, events string) document.Value {
	if v := r.get(core); isPresent(v) {
		return v
	}
	return r.get(events)
}

func eventFirstSeen(r *row) string {
	if first := r.eitherField("firstTimestamp", "deprecatedFirstTimestamp"); !timeOf(first).IsZero() {
		return r.since(first)
	}
	return r.since(r.get("eventTime"))
}

func eventLastSeen(r *row) string {
	if series := r.get("series"); series.Kind() == document.Map {
		return r.since(series.Get("lastObservedTime"))
	}
	if last := r.eitherField("lastTimestamp", "deprecatedLastTimestamp"); !timeOf(last).IsZero() {
		return r.since(last)
	}
	return eventFirstSeen(r)
}

// eventCount appends the number of occurrences of an event; 1 if the number is unset, because clients that report a single
// occurrence may leave it unset.
func eventCount(dst []byte, r *row) []byte {
	count := integer(r.eitherField("count", "deprecatedCount"))
	if series := r.get("series"); series.Kind() == document.Map {
		count = integer(series.Get("count"))
	} else if count == 0 {
		count = 1
	}
	return strconv.AppendInt(dst, count, 10)
}

func eventObject(r *row) string {
	object := r.eitherField("involvedObject", "regarding")
	kind := strings.ToLower(text(object.Get("kind")))
	if name := text(object.Get("name")); name != "" {
		return kind + "/" + name
	}
	return kind
}

func eventSource(r *row) string {
	source := r.eitherField("source", "deprecatedSource")
	component := nonemptyText(source.Get("component"), text(r.eitherField("reportingComponent", "reportingController")))
	instance := nonemptyText(source.Get("host"), text(r.get("reportingInstance")))
	if instance == "" {
		return component
	}
	return component + ", " + instance
}

func eventMessage(r *row) string { return strings.TrimSpace(text(r.eitherField("message", "note"))) }
