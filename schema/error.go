package schema

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cadastre/cadastre/document"
)

// Error is one problem of a schema. A loader returns an error that joins one Error per problem; errors.As finds the
// first.
type Error struct {
	// Path is the path of the problem in the schema, such as definitions.io.example.Foo.properties.bar.
	Path string
	// Expected and Received describe the required and the actual content.
	Expected, Received string
	// Advice is the suggested correction. It is empty if Expected implies it.
	Advice string
}

func (e *Error) Error() string {
	var b strings.Builder
	if e.Path != "" {
		b.WriteString(e.Path)
		b.WriteString(": ")
	}
	fmt.Fprintf(&b, "expected %s, received %s", e.Expected, e.Received)
	if e.Advice != "" {
		b.WriteString("; ")
		b.WriteString(e.Advice)
	}
	return b.String()
}

// maxProblems is the maximum number of problems that one load reports. It limits the size of the error for a hostile
// schema.
const maxProblems = 20

// problems collects the problems of a schema during a load, so that the author of the schema sees all of them at once.
type problems struct {
	found []error
	more  int
}

func (p *problems) add(at *location, expected, received, advice string) {
	if len(p.found) == maxProblems {
		p.more++
		return
	}
	p.found = append(p.found, &Error{at.String(), expected, received, advice})
}

// err returns the problems as one joined error, nil if there are none.
func (p *problems) err() error {
	if p.more > 0 {
		return errors.Join(append(p.found, fmt.Errorf("and %d more problems", p.more))...)
	}
	return errors.Join(p.found...)
}

// location is a position in a schema. It is a linked list from the leaf to the root: entering a nested object costs
// one small allocation, and the path is formatted only for errors.
type location struct {
	parent *location
	step   string
}

func rootLocation(step string) *location { return &location{step: step} }

func (l *location) field(name string) *location { return &location{l, name} }

func (l *location) index(i int) *location { return &location{l, "[" + strconv.Itoa(i) + "]"} }

// maxLocationSteps is the maximum number of path elements in the text of a location, because a hostile schema may be
// deeply nested.
const maxLocationSteps = 64

func (l *location) String() string {
	var steps []string
	for ; l != nil && len(steps) < maxLocationSteps; l = l.parent {
		steps = append(steps, l.step)
	}
	if l != nil {
		steps = append(steps, "…")
	}
	slices.Reverse(steps)
	return strings.ReplaceAll(strings.Join(steps, "."), ".[", "[")
}

// maxShown is the maximum size, in bytes, of a received text that an error quotes.
const maxShown = 60

// describe describes a received value for an error message, such as the string "x" or a list.
func describe(v document.Value) string {
	switch v.Kind() {
	case document.String:
		return "the string " + quote(v.Text())
	case document.Number, document.Bool:
		return "the " + v.Kind().String() + " " + clip(v.JSON())
	case document.List, document.Map:
		return "a " + v.Kind().String()
	default:
		return v.Kind().String()
	}
}

func quote(s string) string { return strconv.Quote(clip(s)) }

// clip truncates a text to at most maxShown bytes without splitting a character.
func clip(s string) string {
	if len(s) <= maxShown {
		return s
	}
	end := maxShown
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}
