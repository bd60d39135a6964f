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

// errorOf returns the Status in resp, with its causes moved from details to the top level, next to reason and message.
func errorOf(resp *serverResponse) (document.Value, error) {
	if resp.body.Get("kind").Text() != "Status" {
		return document.Value{}, fmt.Errorf("expected a Status, received %s", resp.summary())
	}
	return sortedCauses(resp.body.With("causes", resp.body.Lookup("details", "causes"))), nil
}

// sortedCauses returns status with its causes sorted, because kube-apiserver returns causes in random order.
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

func compareError(run *scriptRun, e *expectation, resp *serverResponse) []string {
	received, err := errorOf(resp)
	if err != nil {
		return []string{err.Error()}
	}
	return run.compareValues(sortedCauses(e.pattern()), true, received)
}

func recordError(run *scriptRun, e *expectation, resp *serverResponse) (string, error) {
	received, err := errorOf(resp)
	if err != nil {
		return "", err
	}
	if expected := sortedCauses(e.pattern()); !expected.IsAbsent() {
		m := matcher{expand: run.variables.expand, subset: true}
		return errorYAML(run.masked(m.updatePattern(expected, received))), nil
	}
	return errorYAML(run.masked(document.NewMap(
		document.Field{Name: "reason", Value: received.Get("reason")},
		document.Field{Name: "message", Value: received.Get("message")},
		document.Field{Name: "causes", Value: appendPlaceholders(received.Get("causes"))},
	))), nil
}

// appendPlaceholders appends the placeholder <any> to the messages of conflict causes, because servers may add text
// after the name of the field manager.
func appendPlaceholders(causes document.Value) document.Value {
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
	return timePattern.ReplaceAllString(orderedYAML(status, []string{"reason", "message", "causes"}), "<time>")
}

var timePattern = regexp.MustCompile(placeholders["<time>"])

func compareWarnings(run *scriptRun, e *expectation, resp *serverResponse) []string {
	text, err := run.variables.expand(strings.TrimSpace(e.text))
	if err != nil {
		return []string{err.Error()}
	}
	expected := strings.Split(text, "\n")
	if text == none {
		expected = nil
	}
	received := resp.warnings()
	if !slices.EqualFunc(expected, received, matchText) {
		return []string{fmt.Sprintf("expected %q, received %q", expected, received)}
	}
	return nil
}

func recordWarnings(run *scriptRun, e *expectation, resp *serverResponse) (string, error) {
	if len(resp.warnings()) == 0 {
		return none + "\n", nil
	}
	return run.maskedText(strings.Join(resp.warnings(), "\n") + "\n"), nil
}

func compareHeaders(run *scriptRun, e *expectation, resp *serverResponse) []string {
	headers, err := parseHeaders(e.text)
	if err != nil {
		return []string{err.Error()}
	}
	var complaints []string
	for _, h := range headers {
		var received document.Value
		if values := resp.header.Values(h.name); len(values) > 0 {
			received = document.NewString(strings.Join(values, ", "))
		}
		m := matcher{expand: run.variables.expand}
		m.matchString(nil, h.value, received)
		for _, complaint := range m.complaints {
			complaints = append(complaints, h.name+strings.TrimPrefix(complaint, "."))
		}
	}
	return complaints
}

// recordHeaders records the headers that the expectation e contains, or Content-Type if e contains no header.
func recordHeaders(run *scriptRun, e *expectation, resp *serverResponse) (string, error) {
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
		if values := resp.header.Values(h.name); len(values) > 0 {
			value = run.maskedText(strings.Join(values, ", "))
		}
		fmt.Fprintf(&text, "%s: %s\n", h.name, value)
	}
	return text.String(), nil
}

func compareBody(run *scriptRun, e *expectation, resp *serverResponse) []string {
	expected, err := run.variables.expand(strings.TrimSpace(e.text))
	if err != nil {
		return []string{err.Error()}
	}
	if received := strings.TrimSpace(string(resp.raw)); !matchText(expected, received) {
		return []string{fmt.Sprintf("expected %q, received %q", expected, received)}
	}
	return nil
}

func recordBody(run *scriptRun, e *expectation, resp *serverResponse) (string, error) {
	return run.maskedText(strings.TrimSpace(string(resp.raw)) + "\n"), nil
}
