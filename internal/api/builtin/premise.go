package builtin

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// readPremise reads one of
//
//	creating | updating         which write it is
//	respecified                 the object is new, or has a new generation
//	within TYPE                 rules of that type are being run around these
//	[old] PATH TEST             a test of a value; a path may start at a type around: PodSpec.os
//
// where TEST is one of is TEXT…, not TEXT…, set, unset, empty, nonempty, or readable
// for a selector that is written as it must be.
func (book *rulebook) readPremise(words []word) (*premise, error) {
	texts := textsOf(words)
	switch {
	case slices.Equal(texts, []string{"creating"}):
		return &premise{test: func(c *checker, _ document.Value) bool { return !c.updating }}, nil
	case slices.Equal(texts, []string{"updating"}):
		return &premise{test: func(c *checker, _ document.Value) bool { return c.updating }}, nil
	case slices.Equal(texts, []string{"respecified"}):
		return &premise{test: func(c *checker, _ document.Value) bool { return !c.updating || c.hasNewGeneration() }}, nil
	case len(texts) == 2 && texts[0] == "within":
		if book.blocks[texts[1]] == nil {
			return nil, fmt.Errorf("expected a type after within, received %q", texts[1])
		}
		return &premise{scope: texts[1], test: func(*checker, document.Value) bool { return true }}, nil
	}
	cond := &premise{}
	if len(texts) > 0 && texts[0] == "old" {
		cond.was, texts = true, texts[1:]
	}
	if len(texts) < 2 {
		return nil, fmt.Errorf("expected creating, updating, respecified, within TYPE or [old] PATH TEST")
	}
	at := texts[0]
	if name, rest, ok := strings.Cut(at, "."); ok && book.blocks[name] != nil {
		cond.scope, at = name, rest
	}
	var err error
	if cond.of, err = readPath(at); err != nil {
		return nil, err
	}
	cond.test, err = readTest(texts[1], texts[2:])
	return cond, err
}

func (c *checker) hasNewGeneration() bool {
	whole := &c.scopes[0]
	return !document.Equal(whole.now.Lookup("metadata", "generation"), whole.old.Lookup("metadata", "generation"))
}

func readTest(name string, args []string) (func(*checker, document.Value) bool, error) {
	if (len(args) > 0) != (name == "is" || name == "not") {
		return nil, fmt.Errorf("expected texts after is and not and nowhere else, received %q after %s", args, name)
	}
	switch name {
	case "is":
		return func(_ *checker, v document.Value) bool { return slices.Contains(args, scalarText(v)) }, nil
	case "not":
		return func(_ *checker, v document.Value) bool { return !slices.Contains(args, scalarText(v)) }, nil
	case "set":
		return func(_ *checker, v document.Value) bool { return !isNothing(v) }, nil
	case "unset":
		return func(_ *checker, v document.Value) bool { return isNothing(v) }, nil
	case "empty":
		return func(_ *checker, v document.Value) bool { return isEmpty(v) }, nil
	case "nonempty":
		return func(_ *checker, v document.Value) bool { return !isEmpty(v) }, nil
	}
	if name == "readable" {
		return func(_ *checker, v document.Value) bool {
			return matchSelector(v, document.Value{}) != unreadable
		}, nil
	}
	return nil, fmt.Errorf("expected is, not, set, unset, empty, nonempty or readable, received %q", name)
}

// scalarText returns a scalar as rules spell it: true and false for booleans.
func scalarText(v document.Value) string {
	if v.Kind() == document.Bool {
		if v.Bool() {
			return "true"
		}
		return "false"
	}
	return v.Text()
}
