package builtin

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// parseCondition parses the condition of an if statement, which is one of
//
//	creating | updating         the operation
//	generation-changed          the object is new, or its metadata.generation changes
//	within BLOCK                the rules of the block BLOCK are being applied to an enclosing value
//	[old] PATH TEST             a test of a value; a path may start at an enclosing block: PodSpec.os
//
// where TEST is one of is TEXT…, not TEXT…, set, unset, empty, nonempty, or valid-selector for a label selector.
func (book *rulebook) parseCondition(words []word) (*ruleCondition, error) {
	texts := wordTexts(words)
	switch {
	case slices.Equal(texts, []string{"creating"}):
		return &ruleCondition{test: func(c *checker, _ document.Value) bool { return !c.updating }}, nil
	case slices.Equal(texts, []string{"updating"}):
		return &ruleCondition{test: func(c *checker, _ document.Value) bool { return c.updating }}, nil
	case slices.Equal(texts, []string{"generation-changed"}):
		return &ruleCondition{test: func(c *checker, _ document.Value) bool { return !c.updating || c.hasNewGeneration() }}, nil
	case len(texts) == 2 && texts[0] == "within":
		if book.blocks[texts[1]] == nil {
			return nil, fmt.Errorf("expected a type after within, received %q", texts[1])
		}
		return &ruleCondition{scope: texts[1], test: func(*checker, document.Value) bool { return true }}, nil
	}
	cond := &ruleCondition{}
	if len(texts) > 0 && texts[0] == "old" {
		cond.useOld, texts = true, texts[1:]
	}
	if len(texts) < 2 {
		return nil, fmt.Errorf("expected creating, updating, generation-changed, within TYPE or [old] PATH TEST")
	}
	at := texts[0]
	if name, rest, ok := strings.Cut(at, "."); ok && book.blocks[name] != nil {
		cond.scope, at = name, rest
	}
	var err error
	if cond.path, err = readPath(at); err != nil {
		return nil, err
	}
	cond.test, err = parseTest(texts[1], texts[2:])
	return cond, err
}

func (c *checker) hasNewGeneration() bool {
	whole := &c.scopes[0]
	return !document.Equal(whole.value.Lookup("metadata", "generation"), whole.old.Lookup("metadata", "generation"))
}

func parseTest(name string, args []string) (func(*checker, document.Value) bool, error) {
	if (len(args) > 0) != (name == "is" || name == "not") {
		return nil, fmt.Errorf("expected at least one argument after \"is\" or \"not\", and none after other tests, received %q after %q", args, name)
	}
	switch name {
	case "is":
		return func(_ *checker, v document.Value) bool { return slices.Contains(args, scalarText(v)) }, nil
	case "not":
		return func(_ *checker, v document.Value) bool { return !slices.Contains(args, scalarText(v)) }, nil
	case "set":
		return func(_ *checker, v document.Value) bool { return !isAbsentOrNull(v) }, nil
	case "unset":
		return func(_ *checker, v document.Value) bool { return isAbsentOrNull(v) }, nil
	case "empty":
		return func(_ *checker, v document.Value) bool { return isEmpty(v) }, nil
	case "nonempty":
		return func(_ *checker, v document.Value) bool { return !isEmpty(v) }, nil
	}
	if name == "valid-selector" {
		return func(_ *checker, v document.Value) bool {
			return matchSelector(v, document.Value{}) != selectorInvalid
		}, nil
	}
	return nil, fmt.Errorf("expected is, not, set, unset, empty, nonempty or valid-selector, received %q", name)
}

// scalarText returns the text of v, a scalar; "true" or "false" if v is a boolean.
func scalarText(v document.Value) string {
	if v.Kind() == document.Bool {
		if v.Bool() {
			return "true"
		}
		return "false"
	}
	return v.Text()
}
