package api

import "github.com/cadastre/cadastre/document"

// eventNames are the fields that have different names in the two Event types: in the core group, and in events.k8s.io.
var eventNames = [][2]string{
	{"count", "deprecatedCount"},
	{"firstTimestamp", "deprecatedFirstTimestamp"},
	{"involvedObject", "regarding"},
	{"lastTimestamp", "deprecatedLastTimestamp"},
	{"message", "note"},
	{"reportingComponent", "reportingController"},
	{"source", "deprecatedSource"},
}

// eventReporters are the fields, with their names in the core group and in events.k8s.io, that a core Event contains even
// if they are empty and that an events.k8s.io Event omits if they are empty.
var eventReporters = [][2]string{{"reportingComponent", "reportingController"}, {"reportingInstance", "reportingInstance"}}

// coreEventToEvents converts a core event to an events.k8s.io event.
func coreEventToEvents(doc document.Value) document.Value {
	doc = renameEventFields(doc, 0, 1)
	for _, names := range eventReporters {
		if doc.Get(names[1]).Text() == "" {
			doc = doc.Without(names[1])
		}
	}
	return doc
}

// eventsEventToCore converts an events.k8s.io event to a core event.
func eventsEventToCore(doc document.Value) document.Value {
	doc = renameEventFields(doc, 1, 0)
	for _, names := range eventReporters {
		if doc.Get(names[0]).IsAbsent() {
			doc = doc.With(names[0], document.NewString(""))
		}
	}
	return doc
}

// renameEventFields renames the fields of an Event. from and to select the names in eventNames: 0 for the core group, 1 for
// events.k8s.io.
func renameEventFields(doc document.Value, from, to int) document.Value {
	fields := make([]document.Field, 0, doc.Len())
	for name, value := range doc.Fields() {
		for _, names := range eventNames {
			if names[from] == name {
				name = names[to]
				break
			}
		}
		fields = append(fields, document.Field{Name: name, Value: value})
	}
	return document.NewMap(fields...)
}
