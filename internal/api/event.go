package api

import "github.com/cadastre/cadastre/document"

// eventNames are the fields of events that have another name in each group: core, events.k8s.io.
var eventNames = [][2]string{
	{"count", "deprecatedCount"},
	{"firstTimestamp", "deprecatedFirstTimestamp"},
	{"involvedObject", "regarding"},
	{"lastTimestamp", "deprecatedLastTimestamp"},
	{"message", "note"},
	{"reportingComponent", "reportingController"},
	{"source", "deprecatedSource"},
}

// eventReporters are always there in the core, and in events.k8s.io only if they are not empty.
var eventReporters = [][2]string{{"reportingComponent", "reportingController"}, {"reportingInstance", "reportingInstance"}}

// coreEventToEvents converts an event of the core to one of events.k8s.io.
func coreEventToEvents(doc document.Value) document.Value {
	doc = renameEvent(doc, 0, 1)
	for _, names := range eventReporters {
		if doc.Get(names[1]).Text() == "" {
			doc = doc.Without(names[1])
		}
	}
	return doc
}

// eventsEventToCore converts an event of events.k8s.io to one of the core.
func eventsEventToCore(doc document.Value) document.Value {
	doc = renameEvent(doc, 1, 0)
	for _, names := range eventReporters {
		if doc.Get(names[0]).IsAbsent() {
			doc = doc.With(names[0], document.NewString(""))
		}
	}
	return doc
}

func renameEvent(doc document.Value, from, to int) document.Value {
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
