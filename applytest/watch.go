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
func (p *scriptRun) open(step string, request *http.Request) (*serverResponse, error) {
	ctx, cancel := context.WithCancelCause(request.Context())
	stop := func() { cancel(nil) }
	timer := time.AfterFunc(p.server.requestTimeout, func() { cancel(p.server.timeoutError()) })
	response, err := p.server.do(request.Context(), request.WithContext(ctx))
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
	p.watches = append(p.watches, w)
	go w.read(ctx, response)
	return &serverResponse{code: response.StatusCode, header: response.Header}, nil
}

// read sends the events of a watch to the channel w.events until the watch ends. Events that the script has not
// consumed by then are dropped.
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

// take returns the received events as soon as at least n have arrived and no further event has arrived for the duration
// quiet.
func (w *watch) take(n int, quiet time.Duration) []event {
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

// watchOf returns the watch whose events an expectation states; an error if there is none.
func (p *scriptRun) watchOf(e *expectation) (*watch, error) {
	for i := len(p.watches) - 1; i >= 0; i-- {
		if w := p.watches[i]; e.from == "" || e.from == w.step {
			return w, nil
		}
	}
	return nil, fmt.Errorf("expected an earlier WATCH step %q, found none", e.from)
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

func compareEvents(p *scriptRun, e *expectation, _ *serverResponse) []string {
	expected, err := parseEvents(e.text)
	if err != nil {
		return []string{err.Error()}
	}
	w, err := p.watchOf(e)
	if err != nil {
		return []string{err.Error()}
	}
	quiet := quietPeriod
	if p.recording {
		quiet = quietRecording
	}
	received := w.take(len(expected), quiet)
	m := matcher{expand: p.variables.expand, subset: true}
	m.match(nil, eventsValue(expected), eventsValue(received))
	if p.recording && len(m.complaints) > 0 {
		w.unconsumed = received // retained, so that record can use the events
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
func recordEvents(p *scriptRun, e *expectation, _ *serverResponse) (string, error) {
	w, err := p.watchOf(e)
	if err != nil {
		return "", err
	}
	var expected []event
	if !e.isEmpty() {
		if expected, err = parseEvents(e.text); err != nil {
			return "", err
		}
	}
	received := w.take(0, quietRecording)
	m := matcher{expand: p.variables.expand, subset: true}
	for i, r := range received {
		pattern := document.NewMap(document.Field{Name: "metadata", Value: document.NewMap(
			document.Field{Name: "name", Value: maskedMetadata(r.object.Get("metadata")).Get("name")})})
		if i < len(expected) && expected[i].kind == r.kind {
			pattern = expected[i].object
		}
		received[i].object = p.masked(m.updated(pattern, r.object))
	}
	if len(received) == 0 {
		return none + "\n", nil
	}
	return eventsValue(received).YAML(), nil
}
