package applytest

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// This file implements the expectations other than answer and object: error, warnings, headers, and a body that is not
// a document.

// errorOf returns the Status of a response, with its causes moved from details to the top level, next to reason and
// message.
func errorOf(a *serverResponse) (document.Value, error) {
	if a.body.Get("kind").Text() != "Status" {
		return document.Value{}, fmt.Errorf("expected a Status, received %s", a.summary())
	}
	return sortedCauses(a.body.With("causes", a.body.Lookup("details", "causes"))), nil
}

// sortedCauses returns a Status with sorted causes, because kube-apiserver returns them in random order.
func sortedCauses(status document.Value) document.Value {
	causes := status.Get("causes")
	if causes.Kind() != document.List {
		return status
	}
	var sorted []document.Value
	for _, cause := range causes.Items() {
		sorted = append(sorted, cause)
	}
	slices.SortStableFunc(sorted, func(a, b document.Value) int {
		return cmp.Or(cmp.Compare(a.Get("field").Text(), b.Get("field").Text()), cmp.Compare(a.Get("message").Text(), b.Get("message").Text()))
	})
	return status.With("causes", document.NewList(sorted...))
}

func compareError(p *scriptRun, e *expectation, a *serverResponse) []string {
	received, err := errorOf(a)
	if err != nil {
		return []string{err.Error()}
	}
	return p.compareValues(sortedCauses(e.pattern()), true, received)
}

func recordError(p *scriptRun, e *expectation, a *serverResponse) (string, error) {
	received, err := errorOf(a)
	if err != nil {
		return "", err
	}
	if expected := sortedCauses(e.pattern()); !expected.IsAbsent() {
		m := matcher{expand: p.variables.expand, subset: true}
		return errorYAML(p.masked(m.updated(expected, received))), nil
	}
	return errorYAML(p.masked(document.NewMap(
		document.Field{Name: "reason", Value: received.Get("reason")},
		document.Field{Name: "message", Value: received.Get("message")},
		document.Field{Name: "causes", Value: openCauses(received.Get("causes"))},
	))), nil
}

// openCauses appends a placeholder to the messages of conflict causes, after the name of the field manager, because
// servers may add more text there.
func openCauses(causes document.Value) document.Value {
	if causes.IsAbsent() {
		return causes
	}
	var open []document.Value
	for _, cause := range causes.Items() {
		if cause.Get("reason").Text() == "FieldManagerConflict" {
			message := cause.Get("message").Text()
			if end := indexOutside(message, ':'); end >= 0 {
				message = message[:end]
			}
			cause = cause.With("message", document.NewString(message+anyPlaceholder))
		}
		open = append(open, cause)
	}
	return document.NewList(open...)
}

func errorYAML(status document.Value) string {
	return timeIn.ReplaceAllString(orderedYAML(status, []string{"reason", "message", "causes"}), "<time>")
}

var timeIn = regexp.MustCompile(placeholders["<time>"])

func compareWarnings(p *scriptRun, e *expectation, a *serverResponse) []string {
	text, err := p.variables.expand(strings.TrimSpace(e.text))
	if err != nil {
		return []string{err.Error()}
	}
	expected := strings.Split(text, "\n")
	if text == none {
		expected = nil
	}
	received := a.warnings()
	if !slices.EqualFunc(expected, received, matchText) {
		return []string{fmt.Sprintf("expected %q, received %q", expected, received)}
	}
	return nil
}

func recordWarnings(p *scriptRun, e *expectation, a *serverResponse) (string, error) {
	if len(a.warnings()) == 0 {
		return none + "\n", nil
	}
	return p.maskedText(strings.Join(a.warnings(), "\n") + "\n"), nil
}

func compareHeaders(p *scriptRun, e *expectation, a *serverResponse) []string {
	headers, err := parseHeaders(e.text)
	if err != nil {
		return []string{err.Error()}
	}
	var complaints []string
	for _, h := range headers {
		var received document.Value
		if values := a.header.Values(h.name); len(values) > 0 {
			received = document.NewString(strings.Join(values, ", "))
		}
		m := matcher{expand: p.variables.expand}
		m.matchString(nil, h.value, received)
		for _, complaint := range m.complaints {
			complaints = append(complaints, h.name+strings.TrimPrefix(complaint, "."))
		}
	}
	return complaints
}

// recordHeaders records the headers that the expectation contains, or Content-Type if it contains none.
func recordHeaders(p *scriptRun, e *expectation, a *serverResponse) (string, error) {
	headers, err := parseHeaders(e.text)
	if err != nil {
		return "", err
	}
	if len(headers) == 0 {
		headers = []pair{{name: "Content-Type"}}
	}
	var text strings.Builder
	for _, h := range headers {
		value := absentPlaceholder
		if values := a.header.Values(h.name); len(values) > 0 {
			value = p.maskedText(strings.Join(values, ", "))
		}
		fmt.Fprintf(&text, "%s: %s\n", h.name, value)
	}
	return text.String(), nil
}

func compareBody(p *scriptRun, e *expectation, a *serverResponse) []string {
	expected, err := p.variables.expand(strings.TrimSpace(e.text))
	if err != nil {
		return []string{err.Error()}
	}
	if received := strings.TrimSpace(string(a.raw)); !matchText(expected, received) {
		return []string{fmt.Sprintf("expected %q, received %q", expected, received)}
	}
	return nil
}

func recordBody(p *scriptRun, e *expectation, a *serverResponse) (string, error) {
	return p.maskedText(strings.TrimSpace(string(a.raw)) + "\n"), nil
}
