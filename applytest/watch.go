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

// A watch collects events while other steps run.
type watch struct {
	step   string
	events chan event
	stop   context.CancelFunc
	early  []event // taken from the channel, and not yet expected
}

type event struct {
	kind   string
	object document.Value
}

const (
	// eventBuffer is how many events may come before a script looks at them without that the server has to wait.
	eventBuffer = 1000
	// eventPatience is how long an expected event may take.
	eventPatience = 15 * time.Second
	// quietTime is how long nothing more may come after the last event that is expected.
	quietTime = 150 * time.Millisecond
	// initialEnd marks the bookmark after the initial state.
	initialEnd = "k8s.io/initial-events-end"
	// quietRecording is longer: nobody knows how many events there should be.
	quietRecording = 500 * time.Millisecond
)

// open starts a watch and returns when the server has accepted it.
func (p *play) open(step string, request *http.Request) (*answer, error) {
	ctx, cancel := context.WithCancelCause(request.Context())
	stop := func() { cancel(nil) }
	tooLate := time.AfterFunc(p.server.answerTime, func() { cancel(p.server.silence()) })
	response, err := p.server.do(request.Context(), request.WithContext(ctx))
	tooLate.Stop()
	if err != nil {
		stop()
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		defer stop()
		return readAnswer(response, false)
	}
	w := &watch{step: step, events: make(chan event, eventBuffer), stop: stop}
	p.watches = append(p.watches, w)
	go w.read(ctx, response)
	return &answer{code: response.StatusCode, header: response.Header}, nil
}

// read passes events on until the watch ends. Those that nobody has taken by then are lost.
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
			continue // a server may say at any time how far it has come
		}
		pass(next)
	}
}

// take returns the events until n have come and nothing more comes for a while.
func (w *watch) take(n int, quiet time.Duration) []event {
	taken := w.early
	w.early = nil
	for {
		patience := quiet
		if len(taken) < n {
			patience = eventPatience
		}
		select {
		case next, ok := <-w.events:
			if !ok {
				return taken
			}
			taken = append(taken, next)
		case <-time.After(patience):
			return taken
		}
	}
}

// watchOf finds the watch that an expectation is about.
func (p *play) watchOf(e *expectation) (*watch, error) {
	for i := len(p.watches) - 1; i >= 0; i-- {
		if w := p.watches[i]; e.from == "" || e.from == w.step {
			return w, nil
		}
	}
	return nil, fmt.Errorf("there is no watch %s that could have events", e.from)
}

// parseEvents reads a list of maps with one field each, whose name is the event's type.
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

func compareEvents(p *play, e *expectation, _ *answer) []string {
	expected, err := parseEvents(e.text)
	if err != nil {
		return []string{err.Error()}
	}
	w, err := p.watchOf(e)
	if err != nil {
		return []string{err.Error()}
	}
	quiet := quietTime
	if p.recording {
		quiet = quietRecording
	}
	received := w.take(len(expected), quiet)
	m := matcher{expand: p.variables.expand, subset: true}
	m.match(nil, eventsValue(expected), eventsValue(received))
	if p.recording && len(m.complaints) > 0 {
		w.early = received // to be recorded
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

// recordEvents writes the types and names of new events, and refreshes what is expected of others.
func recordEvents(p *play, e *expectation, _ *answer) (string, error) {
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
		received[i].object = p.masked(m.refreshed(pattern, r.object))
	}
	if len(received) == 0 {
		return none + "\n", nil
	}
	return eventsValue(received).YAML(), nil
}
