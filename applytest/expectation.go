package applytest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// expectation is one file of a script archive. It states an expected property of the response to a step.
type expectation struct {
	kind string
	// of is the implementation to which the expectation applies, if that implementation deliberately differs from
	// Kubernetes; empty for the general expectation of Kubernetes and of all other implementations.
	of string
	// from is, for events, the name of the step that started the watch; empty means the last watch.
	from string
	file int
	text string
}

// none is the text of an expectation that there are no warnings or no events.
const none = "none"

// expectationKind implements one kind of expectation, such as answer or object.
type expectationKind struct {
	// check returns an error if the text of an expectation has a syntax error.
	check func(text string) error
	// compare returns the differences between the expectation and the response, as texts for the report.
	compare func(p *scriptRun, e *expectation, a *serverResponse) []string
	// record returns the received value in the syntax of the expectation, or an error if it cannot be recorded.
	record func(p *scriptRun, e *expectation, a *serverResponse) (string, error)
}

// expectationKinds maps the names of expectations to their implementations. It is filled by init, because the functions refer
// to the map.
var expectationKinds map[string]expectationKind

func init() {
	expectationKinds = map[string]expectationKind{
		"answer":          {checkAnswer, compareAnswer, recordAnswer},
		"object":          {parses(parseYAML), compareObject, recordObject},
		"object has":      {parses(parseYAML), compareObject, recordObject},
		"owners":          {parses(parseOwners), compareOwners, recordOwners},
		"owners in order": {parses(parseOwners), compareOwners, recordOwners},
		"times":           {parses(parseTimes), compareTimes, recordTimes},
		"error":           {parses(parseYAML), compareError, recordError},
		"warnings":        {nil, compareWarnings, recordWarnings},
		"events":          {parses(parseEvents), compareEvents, recordEvents},
		"headers":         {parses(parseHeaders), compareHeaders, recordHeaders},
		"body":            {nil, compareBody, recordBody},
	}
}

// parses returns a check function that calls parse and returns its error.
func parses[T any](parse func(text string) (T, error)) func(text string) error {
	return func(text string) error {
		_, err := parse(text)
		return err
	}
}

// newExpectation parses the name of a file of a script. It returns false if the file is not an expectation but a step.
func newExpectation(name string) (*expectation, bool) {
	e := &expectation{}
	if rest, of, ok := strings.Cut(name, " of "); ok {
		name, e.of = rest, of
	}
	if rest, from, ok := strings.Cut(name, " from "); ok && rest == "events" {
		name, e.from = rest, from
	}
	e.kind = name
	_, known := expectationKinds[name]
	return e, known
}

func expectationNames() string {
	return strings.Join(slices.Sorted(maps.Keys(expectationKinds)), ", ")
}

func (e *expectation) name() string {
	name := e.kind
	if e.from != "" {
		name += " from " + e.from
	}
	if e.of != "" {
		name += " of " + e.of
	}
	return name
}

// isEmpty reports whether the expectation has no text, so that a recording run fills it in from the response.
func (e *expectation) isEmpty() bool { return strings.TrimSpace(e.text) == "" }

func (e *expectation) check() error {
	if check := expectationKinds[e.kind].check; check != nil && !e.isEmpty() {
		return check(e.text)
	}
	return nil
}

func (e *expectation) compare(p *scriptRun, a *serverResponse) []string {
	if e.isEmpty() {
		return []string{"the expectation is empty; record it"}
	}
	return expectationKinds[e.kind].compare(p, e, a)
}

// record returns the new text of the expectation, with the values of the response.
func (e *expectation) record(p *scriptRun, a *serverResponse) (string, error) {
	text, err := expectationKinds[e.kind].record(p, e, a)
	if err == nil && strings.TrimSpace(text) == "" {
		err = errors.New("the response does not contain the value to record")
	}
	return text, err
}

// The expectation "answer" states the status code, and whether the object has changed.

const changed, unchanged = "changed", "unchanged"

func checkAnswer(text string) error {
	words := strings.Fields(text)
	if code, err := strconv.Atoi(words[0]); err != nil || code < 100 || code > 599 {
		return fmt.Errorf("expected a status such as 200, received %q", words[0])
	}
	if len(words) > 2 || len(words) == 2 && words[1] != changed && words[1] != unchanged {
		return fmt.Errorf("expected a status, optionally with changed or unchanged, received %q", strings.TrimSpace(text))
	}
	return nil
}

func compareAnswer(p *scriptRun, e *expectation, a *serverResponse) []string {
	words := strings.Fields(e.text)
	if received := strconv.Itoa(a.code); received != words[0] {
		return []string{fmt.Sprintf("expected status %s, received %s", words[0], a.summary())}
	}
	if len(words) == 1 {
		return nil
	}
	before, ok := p.seen[a.uid()]
	switch {
	case !ok:
		return []string{"expected the object to be " + words[1] + ", but no earlier response has the object"}
	case words[1] == unchanged && a.revision() != before.revision():
		return []string{fmt.Sprintf("expected the object to be unchanged, but its resourceVersion was %s and is %s", before.revision(), a.revision())}
	case words[1] == changed && a.revision() == before.revision():
		return []string{fmt.Sprintf("expected the object to be changed, but its resourceVersion is still %s", a.revision())}
	}
	return nil
}

func recordAnswer(p *scriptRun, e *expectation, a *serverResponse) (string, error) {
	code := strconv.Itoa(a.code)
	before, ok := p.seen[a.uid()]
	switch {
	case !ok || !a.succeeded() || !e.isEmpty() && len(strings.Fields(e.text)) == 1:
		return code + "\n", nil
	case a.revision() == before.revision():
		return code + " " + unchanged + "\n", nil
	}
	return code + " " + changed + "\n", nil
}

// The expectations "object" and "object has" state the object, as a whole or in part.

func parseYAML(text string) (document.Value, error) { return document.ParseYAML([]byte(text)) }

// pattern returns the text of the expectation, parsed as YAML. It cannot fail, because check has validated the text.
func (e *expectation) pattern() document.Value {
	value, err := parseYAML(e.text)
	if err != nil || e.isEmpty() {
		return document.Value{}
	}
	return value
}

func (e *expectation) isSubset() bool { return e.kind != "object" }

func compareObject(p *scriptRun, e *expectation, a *serverResponse) []string {
	expected, received := e.pattern(), a.body
	if !e.isSubset() {
		received = withoutVolatile(received, expected)
	}
	return p.compareValues(expected, e.isSubset(), received)
}

func (p *scriptRun) compareValues(expected document.Value, subset bool, received document.Value) []string {
	m := matcher{expand: p.variables.expand, subset: subset}
	m.match(nil, expected, received)
	return m.complaints
}

func recordObject(p *scriptRun, e *expectation, a *serverResponse) (string, error) {
	expected := e.pattern()
	received := withoutVolatile(a.body, expected)
	if expected.IsAbsent() {
		return objectYAML(p.masked(received)), nil
	}
	if e.isSubset() {
		received = a.body
	}
	m := matcher{expand: p.variables.expand, subset: e.isSubset()}
	return objectYAML(p.masked(m.updated(expected, received))), nil
}

// firstFields are the fields that come first in recorded objects.
var firstFields = []string{"apiVersion", "kind", "metadata", "spec"}

// objectYAML encodes an object as YAML with its fields in the usual order: apiVersion, kind, metadata, spec, and then
// all other fields.
func objectYAML(object document.Value) string {
	if object.Kind() != document.Map || object.Len() == 0 {
		return object.YAML()
	}
	return orderedYAML(object, firstFields)
}

// orderedYAML encodes a map as YAML. The fields in first precede all other fields.
func orderedYAML(object document.Value, first []string) string {
	names := slices.Clone(first)
	for name := range object.Fields() {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	var text []byte
	for _, name := range names {
		if value := object.Get(name); !value.IsAbsent() {
			text = document.NewMap(document.Field{Name: name, Value: value}).AppendYAML(text)
		}
	}
	return string(text)
}
