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

// An expectation is one file that says what an answer must be like.
type expectation struct {
	kind string
	of   string // the implementation that answers so on purpose; empty for Kubernetes and all that answer as it does
	from string // of events, the watch; the last one if empty
	file int
	text string
}

// none is what is written where there are no warnings or events.
const none = "none"

// A judge knows one kind of expectation.
type judge struct {
	// check says what is wrong with the text of an expectation.
	check func(text string) error
	// compare tells how the answer differs.
	compare func(p *play, e *expectation, a *answer) []string
	// record writes what was received in the form that the expectation has. The error says why that can't be.
	record func(p *play, e *expectation, a *answer) (string, error)
}

// judges are the kinds, by their names. They are filled by init: what they do leads back to them.
var judges map[string]judge

func init() {
	judges = map[string]judge{
		"answer":          {checkAnswer, compareAnswer, recordAnswer},
		"object":          {reads(parseYAML), compareObject, recordObject},
		"object has":      {reads(parseYAML), compareObject, recordObject},
		"owners":          {reads(parseOwners), compareOwners, recordOwners},
		"owners in order": {reads(parseOwners), compareOwners, recordOwners},
		"times":           {reads(parseTimes), compareTimes, recordTimes},
		"error":           {reads(parseYAML), compareError, recordError},
		"warnings":        {nil, compareWarnings, recordWarnings},
		"events":          {reads(parseEvents), compareEvents, recordEvents},
		"headers":         {reads(parseHeaders), compareHeaders, recordHeaders},
		"body":            {nil, compareBody, recordBody},
	}
}

// reads checks a text by reading it.
func reads[T any](parse func(text string) (T, error)) func(text string) error {
	return func(text string) error {
		_, err := parse(text)
		return err
	}
}

// newExpectation tells the name of an expectation from that of a step.
func newExpectation(name string) (*expectation, bool) {
	e := &expectation{}
	if rest, of, ok := strings.Cut(name, " of "); ok {
		name, e.of = rest, of
	}
	if rest, from, ok := strings.Cut(name, " from "); ok && rest == "events" {
		name, e.from = rest, from
	}
	e.kind = name
	_, known := judges[name]
	return e, known
}

func expectationNames() string {
	return strings.Join(slices.Sorted(maps.Keys(judges)), ", ")
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

// isEmpty is for expectations that are yet to be recorded.
func (e *expectation) isEmpty() bool { return strings.TrimSpace(e.text) == "" }

func (e *expectation) check() error {
	if check := judges[e.kind].check; check != nil && !e.isEmpty() {
		return check(e.text)
	}
	return nil
}

func (e *expectation) compare(p *play, a *answer) []string {
	if e.isEmpty() {
		return []string{"nothing is expected yet: record it"}
	}
	return judges[e.kind].compare(p, e, a)
}

// record returns the text that the expectation should have.
func (e *expectation) record(p *play, a *answer) (string, error) {
	text, err := judges[e.kind].record(p, e, a)
	if err == nil && strings.TrimSpace(text) == "" {
		err = errors.New("the answer has none")
	}
	return text, err
}

// The answer: its status, and whether the object has changed.

const changed, unchanged = "changed", "unchanged"

func checkAnswer(text string) error {
	words := strings.Fields(text)
	if code, err := strconv.Atoi(words[0]); err != nil || code < 100 || code > 599 {
		return fmt.Errorf("expected a status such as 200, received %q", words[0])
	}
	if len(words) > 2 || len(words) == 2 && words[1] != changed && words[1] != unchanged {
		return fmt.Errorf("expected a status, and perhaps changed or unchanged, received %q", strings.TrimSpace(text))
	}
	return nil
}

func compareAnswer(p *play, e *expectation, a *answer) []string {
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
		return []string{"expected the object to be " + words[1] + ", but no answer before had it"}
	case words[1] == unchanged && a.revision() != before.revision():
		return []string{fmt.Sprintf("expected the object to be unchanged, but its resourceVersion was %s and is %s", before.revision(), a.revision())}
	case words[1] == changed && a.revision() == before.revision():
		return []string{fmt.Sprintf("expected the object to be changed, but its resourceVersion is %s as before", a.revision())}
	}
	return nil
}

func recordAnswer(p *play, e *expectation, a *answer) (string, error) {
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

// The object, whole or in part.

func parseYAML(text string) (document.Value, error) { return document.ParseYAML([]byte(text)) }

// pattern is the expectation's text as a value, which check has read before.
func (e *expectation) pattern() document.Value {
	value, err := parseYAML(e.text)
	if err != nil || e.isEmpty() {
		return document.Value{}
	}
	return value
}

func (e *expectation) isSubset() bool { return e.kind != "object" }

func compareObject(p *play, e *expectation, a *answer) []string {
	expected, received := e.pattern(), a.body
	if !e.isSubset() {
		received = hidden(received, expected)
	}
	return p.compareValues(expected, e.isSubset(), received)
}

func (p *play) compareValues(expected document.Value, subset bool, received document.Value) []string {
	m := matcher{expand: p.variables.expand, subset: subset}
	m.match(nil, expected, received)
	return m.complaints
}

func recordObject(p *play, e *expectation, a *answer) (string, error) {
	expected := e.pattern()
	received := hidden(a.body, expected)
	if expected.IsAbsent() {
		return objectYAML(p.masked(received)), nil
	}
	if e.isSubset() {
		received = a.body
	}
	m := matcher{expand: p.variables.expand, subset: e.isSubset()}
	return objectYAML(p.masked(m.refreshed(expected, received))), nil
}

// firstFields come first in objects that are written for people.
var firstFields = []string{"apiVersion", "kind", "metadata", "spec"}

// objectYAML writes an object with its fields in the order that people expect.
func objectYAML(object document.Value) string {
	if object.Kind() != document.Map || object.Len() == 0 {
		return object.YAML()
	}
	return orderedYAML(object, firstFields)
}

// orderedYAML writes a map with some fields before the others.
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
