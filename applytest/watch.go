package applytest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/cadastre/cadastre/document"
)

// watch is a WATCH step that is still open: it collects events while other steps run.
type watch struct {
	step       string
	events     chan event
	stop       context.CancelFunc
	unconsumed []event // events that were received and not yet compared with an expectation
}

type event struct {
	kind   string
	object document.Value
}

const (
	// eventBuffer is the maximum number of events that a watch buffers until a script consumes them.
	eventBuffer = 1000
	// eventTimeout is the maximum time to wait for an expected event.
	eventTimeout = 15 * time.Second
	// quietPeriod is the time after the last expected event during which no further event may arrive.
	quietPeriod = 150 * time.Millisecond
	// initialEnd is the annotation of the bookmark event that ends the initial events of a watch.
	initialEnd = "k8s.io/initial-events-end"
	// quietRecording replaces quietPeriod when events are recorded. It is longer, because the number of events is not known.
	quietRecording = 500 * time.Millisecond
)

// open starts the watch of a step, and returns when the server has accepted the request.
func (run *scriptRun) open(step string, request *http.Request) (*serverResponse, error) {
	ctx, cancel := context.WithCancelCause(request.Context())
	stop := func() { cancel(nil) }
	timer := time.AfterFunc(run.server.requestTimeout, func() { cancel(run.server.timeoutError()) })
	response, err := run.server.do(request.Context(), request.WithContext(ctx))
	timer.Stop()
	if err != nil {
		stop()
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		defer stop()
		return readResponse(response, false)
	}
	w := &watch{step: step, events: make(chan event, eventBuffer), stop: stop}
	run.watches = append(run.watches, w)
	go w.read(ctx, response)
	return &serverResponse{code: response.StatusCode, header: response.Header}, nil
}

// read sends the events of the watch to the channel w.events until the watch ends. Events that the script has not
// consumed until then are dropped.
func (w *watch) read(ctx context.Context, response *http.Response) {
	defer response.Body.Close()
	defer close(w.events)
	pass := func(next event) {
		select {
		case w.events <- next:
		case <-ctx.Done():
		}
	}
	read := eventReader(response.Header.Get("Content-Type"), response.Body)
	for {
		next, err := read()
		switch {
		case errors.Is(err, io.EOF) || errors.Is(err, context.Canceled):
			return
		case err != nil:
			pass(event{"unreadable", document.NewString(err.Error())})
			return
		}
		if next.kind == "BOOKMARK" && next.object.Lookup("metadata", "annotations", initialEnd).IsAbsent() {
			continue // skipped, because periodic bookmarks may arrive at any time
		}
		pass(next)
	}
}

// takeEvents returns the received events as soon as at least n have arrived and then no further event arrives for the
// duration quiet. It returns fewer than n events if the watch ends or no event arrives for eventTimeout.
func (w *watch) takeEvents(n int, quiet time.Duration) []event {
	taken := w.unconsumed
	w.unconsumed = nil
	for {
		timeout := quiet
		if len(taken) < n {
			timeout = eventTimeout
		}
		select {
		case next, ok := <-w.events:
			if !ok {
				return taken
			}
			taken = append(taken, next)
		case <-time.After(timeout):
			return taken
		}
	}
}

// watchOf returns the watch whose events e states: that of e.watchStep, or the last one. It returns an error if there is
// no such watch.
func (run *scriptRun) watchOf(e *expectation) (*watch, error) {
	for i := len(run.watches) - 1; i >= 0; i-- {
		if w := run.watches[i]; e.watchStep == "" || e.watchStep == w.step {
			return w, nil
		}
	}
	return nil, fmt.Errorf("expected an earlier WATCH step %q, found none", e.watchStep)
}

// parseEvents parses a YAML list of maps with one field each: the field name is the type of the event, the field value
// is the pattern of the object.
func parseEvents(text string) ([]event, error) {
	value, err := document.ParseYAML([]byte(text))
	if err != nil || value.Text() == none {
		return nil, err
	}
	if value.Kind() != document.List {
		return nil, fmt.Errorf("expected %q or a list such as %q", none, "- ADDED: {metadata: {name: shared}}")
	}
	var events []event
	for _, item := range value.Items() {
		if item.Kind() != document.Map || item.Len() != 1 {
			return nil, fmt.Errorf("expected an event such as %q, received %s", "ADDED: {metadata: {name: shared}}", item)
		}
		kind, object := item.Field(0)
		events = append(events, event{kind, object})
	}
	return events, nil
}

func compareEvents(run *scriptRun, e *expectation, _ *serverResponse) []string {
	expected, err := parseEvents(e.text)
	if err != nil {
		return []string{err.Error()}
	}
	w, err := run.watchOf(e)
	if err != nil {
		return []string{err.Error()}
	}
	quiet := quietPeriod
	if run.recording {
		quiet = quietRecording
	}
	received := w.takeEvents(len(expected), quiet)
	m := matcher{expand: run.variables.expand, subset: true}
	m.match(nil, eventsValue(expected), eventsValue(received))
	if run.recording && len(m.complaints) > 0 {
		w.unconsumed = received // retained for record, which uses the events
	}
	return m.complaints
}

func eventsValue(events []event) document.Value {
	var items []document.Value
	for _, e := range events {
		items = append(items, document.NewMap(document.Field{Name: e.kind, Value: e.object}))
	}
	return document.NewList(items...)
}

// recordEvents records new events with their type and name, and updates the patterns of existing events.
func recordEvents(run *scriptRun, e *expectation, _ *serverResponse) (string, error) {
	w, err := run.watchOf(e)
	if err != nil {
		return "", err
	}
	var expected []event
	if !e.isEmpty() {
		if expected, err = parseEvents(e.text); err != nil {
			return "", err
		}
	}
	received := w.takeEvents(0, quietRecording)
	m := matcher{expand: run.variables.expand, subset: true}
	for i, r := range received {
		pattern := document.NewMap(document.Field{Name: "metadata", Value: document.NewMap(
			document.Field{Name: "name", Value: maskedMetadata(r.object.Get("metadata")).Get("name")})})
		if i < len(expected) && expected[i].kind == r.kind {
			pattern = expected[i].object
		}
		received[i].object = run.masked(m.updatePattern(pattern, r.object))
	}
	if len(received) == 0 {
		return none + "\n", nil
	}
	return eventsValue(received).YAML(), nil
}
