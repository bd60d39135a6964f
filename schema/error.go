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

// Error is a problem in a schema. A loader returns one for each problem, joined; errors.As finds the first.
type Error struct {
	// Place is the path in the schema, such as definitions.io.example.Foo.properties.bar.
	Place string
	// Expected and Received describe the required and the actual content.
	Expected, Received string
	// Advice is what to do. It is empty if Expected implies it.
	Advice string
}

func (e *Error) Error() string {
	var b strings.Builder
	if e.Place != "" {
		b.WriteString(e.Place)
		b.WriteString(": ")
	}
	fmt.Fprintf(&b, "expected %s, received %s", e.Expected, e.Received)
	if e.Advice != "" {
		b.WriteString("; ")
		b.WriteString(e.Advice)
	}
	return b.String()
}

// maxProblems bounds how many problems one load reports, so that a hostile schema
// can not make the answer larger than the question.
const maxProblems = 20

// problems collects what is wrong with a schema while it is being loaded, so that
// its author sees all mistakes at once.
type problems struct {
	found []error
	more  int
}

func (p *problems) add(at *place, expected, received, advice string) {
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

// place is where a loader is in a schema. It is a list from the leaf to the root,
// so that walking costs one small allocation a step and text is made only for
// problems.
type place struct {
	parent *place
	step   string
}

func rootPlace(step string) *place { return &place{step: step} }

func (p *place) field(name string) *place { return &place{p, name} }

func (p *place) index(i int) *place { return &place{p, "[" + strconv.Itoa(i) + "]"} }

// maxPlaceSteps is how many steps of a place are shown: what is deeper does not
// help a reader, and the depth may be a hostile schema's choice.
const maxPlaceSteps = 64

func (p *place) String() string {
	var steps []string
	for ; p != nil && len(steps) < maxPlaceSteps; p = p.parent {
		steps = append(steps, p.step)
	}
	if p != nil {
		steps = append(steps, "…")
	}
	slices.Reverse(steps)
	return strings.ReplaceAll(strings.Join(steps, "."), ".[", "[")
}

// maxShown is how much of a received text an error repeats.
const maxShown = 60

// describe says what a value is, in the words of an error message.
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

// clip shortens a text, between two characters, to what an error repeats.
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
