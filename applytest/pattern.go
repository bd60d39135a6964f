package applytest

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
)

// A pattern is a value of an expectation. Strings in it may have variables and these words:
const (
	anyWord    = "<any>"    // as a value, any; in a string, any text
	absentWord = "<absent>" // the field must not be there
	moreWord   = "<more>"   // the last item of a list: others may follow
	nowWord    = "<now>"    // as a value, a time within nowRange of our own
)

// nowRange is wide: the clocks of a server and of who asks it may differ.
const nowRange = time.Hour

// words are those that stand for a part of a string.
var words = map[string]string{
	anyWord:     `(?s:.*)`,
	"<uid>":     `[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}`,
	"<version>": `[0-9]+`,
	"<time>":    `\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z`,
}

var wordIn = regexp.MustCompile(`<(?:any|uid|version|time)>`)

// A matcher compares what was received with what is expected.
type matcher struct {
	expand func(string) (string, error)
	// subset is for expectations that name only some fields of maps.
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

// match compares at a path.
func (m *matcher) match(path fieldset.Path, expected, received document.Value) {
	switch {
	case expected.Kind() == document.String:
		m.matchString(path, expected.Text(), received)
	case expected.Kind() == document.Map && received.Kind() == document.Map:
		m.matchMap(path, expected, received)
	case expected.Kind() == document.List && received.Kind() == document.List:
		m.matchList(path, expected, received)
	case !document.Equal(expected, received):
		m.complain(path, shown(expected), shown(received))
	}
}

func (m *matcher) matchString(path fieldset.Path, expected string, received document.Value) {
	if expected == anyWord && !received.IsAbsent() || expected == absentWord && received.IsAbsent() {
		return
	}
	if expected == absentWord {
		m.complain(path, "nothing", shown(received))
		return
	}
	if expected == nowWord {
		if at, err := time.Parse(time.RFC3339, received.Text()); err != nil || time.Since(at).Abs() > nowRange {
			m.complain(path, "the time now", shown(received))
		}
		return
	}
	text, err := m.expand(expected)
	if err != nil {
		m.complaints = append(m.complaints, fmt.Sprintf("%s: %v", path.Quoted(), err))
		return
	}
	if received.Kind() != document.String || !matchText(text, received.Text()) {
		m.complain(path, shown(document.NewString(text)), shown(received))
	}
}

func (m *matcher) matchMap(path fieldset.Path, expected, received document.Value) {
	expected = m.named(path, expected)
	for name, value := range expected.Fields() {
		m.match(append(path, fieldset.NameElement(name)), value, received.Get(name))
	}
	if m.subset {
		return
	}
	for name, value := range received.Fields() {
		if expected.Get(name).IsAbsent() {
			m.complain(append(path, fieldset.NameElement(name)), "nothing", shown(value))
		}
	}
}

// named replaces the variables in the names of fields.
func (m *matcher) named(path fieldset.Path, expected document.Value) document.Value {
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
	if n > 0 && expected.At(n-1).Text() == moreWord {
		n, open = n-1, true
	}
	for i := range max(n, received.Len()) {
		at := append(path, fieldset.IndexElement(i))
		switch {
		case i >= n && open:
			return
		case i >= n:
			m.complain(at, "no more items", shown(received.At(i)))
		case i >= received.Len():
			m.complain(at, shown(expected.At(i)), "no more items")
		default:
			m.match(at, expected.At(i), received.At(i))
		}
	}
}

// matchText compares a text that may have words with one that has not.
func matchText(pattern, text string) bool {
	if !wordIn.MatchString(pattern) {
		return pattern == text
	}
	var expression strings.Builder
	rest := pattern
	for at := wordIn.FindStringIndex(rest); at != nil; at = wordIn.FindStringIndex(rest) {
		expression.WriteString(regexp.QuoteMeta(rest[:at[0]]))
		expression.WriteString(words[rest[at[0]:at[1]]])
		rest = rest[at[1]:]
	}
	expression.WriteString(regexp.QuoteMeta(rest))
	return regexp.MustCompile(`^` + expression.String() + `$`).MatchString(text)
}

// plain undoes the escapes that JSON has for the sake of HTML.
var plain = strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&")

// shown is a value for people.
func shown(v document.Value) string {
	const limit = 400
	switch text := plain.Replace(v.String()); {
	case v.IsAbsent():
		return "nothing"
	case len(text) > limit:
		return text[:limit] + "…"
	default:
		return text
	}
}

// refreshed returns the expectation as it should be, given what was received: what holds stays as it is
// written, words and variables included, and of maps of which some fields are named only these.
func (m *matcher) refreshed(expected, received document.Value) document.Value {
	probe := matcher{expand: m.expand, subset: m.subset}
	if probe.match(nil, expected, received); len(probe.complaints) == 0 {
		return expected
	}
	switch {
	case received.IsAbsent():
		return document.NewString(absentWord)
	case expected.Kind() == document.Map && received.Kind() == document.Map:
		return m.refreshedMap(expected, received)
	case expected.Kind() == document.List && received.Kind() == document.List && expected.Len() == received.Len():
		items := make([]document.Value, received.Len())
		for i, item := range received.Items() {
			items[i] = m.refreshed(expected.At(i), item)
		}
		return document.NewList(items...)
	}
	return received
}

func (m *matcher) refreshedMap(expected, received document.Value) document.Value {
	from := received
	if m.subset {
		from = expected
	}
	var fields []document.Field
	for name := range from.Fields() {
		value := received.Get(name)
		if old := expected.Get(name); !old.IsAbsent() {
			value = m.refreshed(old, value)
		}
		fields = append(fields, document.Field{Name: name, Value: value})
	}
	return document.NewMap(fields...)
}
