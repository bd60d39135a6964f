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

// Error is a problem in a schema. A loader returns one Error for each problem, joined; errors.As finds the first.
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

// maxProblems is the maximum number of problems that one load reports, which limits the size of the error for a hostile
// schema.
const maxProblems = 20

// problems collects the problems of a schema during a load, so that the author gets all of them at once.
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

// err returns nil if no problem was found.
func (p *problems) err() error {
	if p.more > 0 {
		return errors.Join(append(p.found, fmt.Errorf("and %d more problems", p.more))...)
	}
	return errors.Join(p.found...)
}

// location is a reader's position in a schema. It is a linked list from the leaf to the root, so that a step costs one
// small allocation and the text is built only for problems.
type location struct {
	parent *location
	step   string
}

func rootLocation(step string) *location { return &location{step: step} }

func (p *location) field(name string) *location { return &location{p, name} }

func (p *location) index(i int) *location { return &location{p, "[" + strconv.Itoa(i) + "]"} }

// maxLocationSteps is the maximum number of steps in the text of a location, because a hostile schema may nest deeply.
const maxLocationSteps = 64

func (p *location) String() string {
	var steps []string
	for ; p != nil && len(steps) < maxLocationSteps; p = p.parent {
		steps = append(steps, p.step)
	}
	if p != nil {
		steps = append(steps, "…")
	}
	slices.Reverse(steps)
	return strings.ReplaceAll(strings.Join(steps, "."), ".[", "[")
}

// maxShown is the maximum size of received text in an error.
const maxShown = 60

// describe describes a value for an error message.
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

// clip truncates a text to maxShown bytes, between two characters.
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
