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
	// implementation is the only implementation to which the expectation applies, because it deliberately differs from
	// Kubernetes. It is empty for an expectation that applies to Kubernetes and to all implementations without their own.
	implementation string
	// watchStep is the name of the step that started the watch whose events are expected; empty means the last watch. Only
	// expectations of events use it.
	watchStep string
	file      int
	text      string
}

// none is the text of an expectation of warnings or events which states that there are none.
const none = "none"

// expectationKind implements one kind of expectation, such as answer or object.
type expectationKind struct {
	// check returns an error if text, the text of an expectation, has a syntax error.
	check func(text string) error
	// compare returns the differences between the expectation e and resp, as texts for the report.
	compare func(run *scriptRun, e *expectation, resp *serverResponse) []string
	// record returns the value in resp in the syntax of the expectation e, or an error if resp does not contain such a value.
	record func(run *scriptRun, e *expectation, resp *serverResponse) (string, error)
}

// expectationKinds maps the names of expectations to their implementations. It is filled by init, because the functions refer
// to the map.
var expectationKinds map[string]expectationKind

func init() {
	expectationKinds = map[string]expectationKind{
		"answer":          {checkAnswer, compareAnswer, recordAnswer},
		"object":          {checkWith(parseYAML), compareObject, recordObject},
		"object has":      {checkWith(parseYAML), compareObject, recordObject},
		"owners":          {checkWith(parseOwners), compareOwners, recordOwners},
		"owners in order": {checkWith(parseOwners), compareOwners, recordOwners},
		"times":           {checkWith(parseTimes), compareTimes, recordTimes},
		"error":           {checkWith(parseYAML), compareError, recordError},
		"warnings":        {nil, compareWarnings, recordWarnings},
		"events":          {checkWith(parseEvents), compareEvents, recordEvents},
		"headers":         {checkWith(parseHeaders), compareHeaders, recordHeaders},
		"body":            {nil, compareBody, recordBody},
	}
}

// checkWith adapts parse to expectationKind.check: the returned function calls parse and returns only its error.
func checkWith[T any](parse func(text string) (T, error)) func(text string) error {
	return func(text string) error {
		_, err := parse(text)
		return err
	}
}

// newExpectation parses name, the name of a file of a script, such as "answer" or "events of cadastre". It returns false if
// the file is not an expectation but a step.
func newExpectation(name string) (*expectation, bool) {
	e := &expectation{}
	if rest, of, ok := strings.Cut(name, " of "); ok {
		name, e.implementation = rest, of
	}
	if rest, from, ok := strings.Cut(name, " from "); ok && rest == "events" {
		name, e.watchStep = rest, from
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
	if e.watchStep != "" {
		name += " from " + e.watchStep
	}
	if e.implementation != "" {
		name += " of " + e.implementation
	}
	return name
}

// isEmpty reports whether the expectation has no text. A run with Options.Record fills in such an expectation from the
// response.
func (e *expectation) isEmpty() bool { return strings.TrimSpace(e.text) == "" }

func (e *expectation) check() error {
	if check := expectationKinds[e.kind].check; check != nil && !e.isEmpty() {
		return check(e.text)
	}
	return nil
}

func (e *expectation) compare(run *scriptRun, resp *serverResponse) []string {
	if e.isEmpty() {
		return []string{"the expectation is empty; record it"}
	}
	return expectationKinds[e.kind].compare(run, e, resp)
}

// record returns the new text of the expectation, with the values of the response.
func (e *expectation) record(run *scriptRun, resp *serverResponse) (string, error) {
	text, err := expectationKinds[e.kind].record(run, e, resp)
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

func compareAnswer(run *scriptRun, e *expectation, resp *serverResponse) []string {
	words := strings.Fields(e.text)
	if received := strconv.Itoa(resp.code); received != words[0] {
		return []string{fmt.Sprintf("expected status %s, received %s", words[0], resp.summary())}
	}
	if len(words) == 1 {
		return nil
	}
	before, ok := run.seen[resp.uid()]
	switch {
	case !ok:
		return []string{"expected the object to be " + words[1] + ", but no earlier response has the object"}
	case words[1] == unchanged && resp.revision() != before.revision():
		return []string{fmt.Sprintf("expected the object to be unchanged, but its resourceVersion was %s and is %s", before.revision(), resp.revision())}
	case words[1] == changed && resp.revision() == before.revision():
		return []string{fmt.Sprintf("expected the object to be changed, but its resourceVersion is still %s", resp.revision())}
	}
	return nil
}

func recordAnswer(run *scriptRun, e *expectation, resp *serverResponse) (string, error) {
	code := strconv.Itoa(resp.code)
	before, ok := run.seen[resp.uid()]
	switch {
	case !ok || !resp.succeeded() || !e.isEmpty() && len(strings.Fields(e.text)) == 1:
		return code + "\n", nil
	case resp.revision() == before.revision():
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

func compareObject(run *scriptRun, e *expectation, resp *serverResponse) []string {
	expected, received := e.pattern(), resp.body
	if !e.isSubset() {
		received = withoutVolatile(received, expected)
	}
	return run.compareValues(expected, e.isSubset(), received)
}

func (run *scriptRun) compareValues(expected document.Value, subset bool, received document.Value) []string {
	m := matcher{expand: run.variables.expand, subset: subset}
	m.match(nil, expected, received)
	return m.complaints
}

func recordObject(run *scriptRun, e *expectation, resp *serverResponse) (string, error) {
	expected := e.pattern()
	received := withoutVolatile(resp.body, expected)
	if expected.IsAbsent() {
		return objectYAML(run.masked(received)), nil
	}
	if e.isSubset() {
		received = resp.body
	}
	m := matcher{expand: run.variables.expand, subset: e.isSubset()}
	return objectYAML(run.masked(m.updatePattern(expected, received))), nil
}

// firstFields are the fields that precede all other fields in recorded objects.
var firstFields = []string{"apiVersion", "kind", "metadata", "spec"}

// objectYAML encodes an object as YAML with its fields in the usual order: apiVersion, kind, metadata, spec, and then
// all other fields.
func objectYAML(object document.Value) string {
	if object.Kind() != document.Map || object.Len() == 0 {
		return object.YAML()
	}
	return orderedYAML(object, firstFields)
}

// orderedYAML encodes object as YAML. The fields that first names precede all other fields, in the order of first.
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
