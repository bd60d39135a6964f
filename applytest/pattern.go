package applytest

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
)

// A pattern is an expected value. Its strings may contain variables and the following placeholders.
const (
	anyPlaceholder    = "<any>"    // as a whole value it matches any value; in a string it matches any text
	absentPlaceholder = "<absent>" // matches if the field is absent
	morePlaceholder   = "<more>"   // as the last item of a list it matches zero or more further items
	nowPlaceholder    = "<now>"    // matches a time that differs from the current time by at most nowRange
)

// nowRange is the maximum difference between a time and the current time that <now> allows. It is large, because the clocks
// of server and client may differ.
const nowRange = time.Hour

// placeholders maps the placeholders that match a part of a string to their regular expressions.
var placeholders = map[string]string{
	anyPlaceholder: `(?s:.*)`,
	"<uid>":        `[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}`,
	"<version>":    `[0-9]+`,
	"<time>":       `\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z`,
}

var placeholderPattern = regexp.MustCompile(`<(?:any|uid|version|time)>`)

// matcher compares received values with patterns.
type matcher struct {
	expand func(string) (string, error)
	// subset makes the matcher ignore fields of the received maps that the pattern does not contain.
	subset     bool
	complaints []string
}

func (m *matcher) complain(path fieldset.Path, expected, received string) {
	where := path.Quoted()
	if where == "" {
		where = "."
	}
	m.complaints = append(m.complaints, fmt.Sprintf("%s: expected %s, received %s", where, expected, received))
}

// match compares received, the value at path, with the pattern expected, and appends the differences to m.complaints.
func (m *matcher) match(path fieldset.Path, expected, received document.Value) {
	switch {
	case expected.Kind() == document.String:
		m.matchString(path, expected.Text(), received)
	case expected.Kind() == document.Map && received.Kind() == document.Map:
		m.matchMap(path, expected, received)
	case expected.Kind() == document.List && received.Kind() == document.List:
		m.matchList(path, expected, received)
	case !document.Equal(expected, received):
		m.complain(path, displayValue(expected), displayValue(received))
	}
}

func (m *matcher) matchString(path fieldset.Path, expected string, received document.Value) {
	if expected == anyPlaceholder && !received.IsAbsent() || expected == absentPlaceholder && received.IsAbsent() {
		return
	}
	if expected == absentPlaceholder {
		m.complain(path, "nothing", displayValue(received))
		return
	}
	if expected == nowPlaceholder {
		if at, err := time.Parse(time.RFC3339, received.Text()); err != nil || time.Since(at).Abs() > nowRange {
			m.complain(path, "the current time", displayValue(received))
		}
		return
	}
	text, err := m.expand(expected)
	if err != nil {
		m.complaints = append(m.complaints, fmt.Sprintf("%s: %v", path.Quoted(), err))
		return
	}
	if received.Kind() != document.String || !matchText(text, received.Text()) {
		m.complain(path, displayValue(document.NewString(text)), displayValue(received))
	}
}

func (m *matcher) matchMap(path fieldset.Path, expected, received document.Value) {
	expected = m.expandNames(path, expected)
	for name, value := range expected.Fields() {
		m.match(append(path, fieldset.NameElement(name)), value, received.Get(name))
	}
	if m.subset {
		return
	}
	for name, value := range received.Fields() {
		if expected.Get(name).IsAbsent() {
			m.complain(append(path, fieldset.NameElement(name)), "nothing", displayValue(value))
		}
	}
}

// expandNames replaces the variables in the field names of a pattern.
func (m *matcher) expandNames(path fieldset.Path, expected document.Value) document.Value {
	for name, value := range expected.Fields() {
		text, err := m.expand(name)
		if err != nil {
			m.complaints = append(m.complaints, fmt.Sprintf("%s: %v", path.Quoted(), err))
			continue
		}
		if text != name {
			expected = expected.Without(name).With(text, value)
		}
	}
	return expected
}

func (m *matcher) matchList(path fieldset.Path, expected, received document.Value) {
	n, open := expected.Len(), false
	if n > 0 && expected.At(n-1).Text() == morePlaceholder {
		n, open = n-1, true
	}
	for i := range max(n, received.Len()) {
		at := append(path, fieldset.IndexElement(i))
		switch {
		case i >= n && open:
			return
		case i >= n:
			m.complain(at, "no more items", displayValue(received.At(i)))
		case i >= received.Len():
			m.complain(at, displayValue(expected.At(i)), "no more items")
		default:
			m.match(at, expected.At(i), received.At(i))
		}
	}
}

// matchText reports whether text matches pattern, which may contain placeholders.
func matchText(pattern, text string) bool {
	if !placeholderPattern.MatchString(pattern) {
		return pattern == text
	}
	var expression strings.Builder
	rest := pattern
	for at := placeholderPattern.FindStringIndex(rest); at != nil; at = placeholderPattern.FindStringIndex(rest) {
		expression.WriteString(regexp.QuoteMeta(rest[:at[0]]))
		expression.WriteString(placeholders[rest[at[0]:at[1]]])
		rest = rest[at[1]:]
	}
	expression.WriteString(regexp.QuoteMeta(rest))
	return regexp.MustCompile(`^` + expression.String() + `$`).MatchString(text)
}

// unescapeHTML reverses the escaping of <, > and & by encoding/json.
var unescapeHTML = strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&")

// displayValue returns v as JSON for reports, truncated if it is long.
func displayValue(v document.Value) string {
	const limit = 400
	switch text := unescapeHTML.Replace(v.String()); {
	case v.IsAbsent():
		return "nothing"
	case len(text) > limit:
		return text[:limit] + "…"
	default:
		return text
	}
}

// updatePattern returns a pattern that matches received. It consists of the parts of the pattern expected that match, with
// their placeholders and variables, and of received values in place of the parts that do not match. If m.subset is set, it
// contains no fields that expected does not contain.
func (m *matcher) updatePattern(expected, received document.Value) document.Value {
	probe := matcher{expand: m.expand, subset: m.subset}
	if probe.match(nil, expected, received); len(probe.complaints) == 0 {
		return expected
	}
	switch {
	case received.IsAbsent():
		return document.NewString(absentPlaceholder)
	case expected.Kind() == document.Map && received.Kind() == document.Map:
		return m.updateMap(expected, received)
	case expected.Kind() == document.List && received.Kind() == document.List && expected.Len() == received.Len():
		items := make([]document.Value, received.Len())
		for i, item := range received.Items() {
			items[i] = m.updatePattern(expected.At(i), item)
		}
		return document.NewList(items...)
	}
	return received
}

func (m *matcher) updateMap(expected, received document.Value) document.Value {
	from := received
	if m.subset {
		from = expected
	}
	var fields []document.Field
	for name := range from.Fields() {
		value := received.Get(name)
		if old := expected.Get(name); !old.IsAbsent() {
			value = m.updatePattern(old, value)
		}
		fields = append(fields, document.Field{Name: name, Value: value})
	}
	return document.NewMap(fields...)
}
