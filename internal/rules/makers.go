package rules

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
)

// relatedChecks are told about other fields, or differ from the plain ones in what they say.
func relatedChecks() map[string]maker {
	return map[string]maker{
		"unsupported":   makeUnsupported,
		"not-text":      makeNotText,
		"frozen-except": makeFrozenExcept,
		"selected-by":   makeSelectedBy,

		// kube-apiserver looks at how an empty text is written even after it has said that there
		// must be one.
		"required-but-go-on": detailed("", func(c *checker, v document.Value, detail string) bool {
			if isEmpty(v) {
				c.required(detail)
			}
			return true
		}),
		"missing": detailed("", func(c *checker, _ document.Value, detail string) bool {
			c.required(detail)
			return true
		}),
		"flag-forbidden": detailed("", func(c *checker, v document.Value, detail string) bool {
			if v.Bool() {
				c.forbidden(detail)
			}
			return true
		}),
		"invalid-given": detailed("", func(c *checker, v document.Value, detail string) bool {
			if !isNothing(v) {
				c.invalid(shown(c.innermost()), detail)
			}
			return true
		}),
		"some-selector": detailed("", func(c *checker, v document.Value, detail string) bool {
			if !isNothing(v) && v.Get("matchLabels").Len()+v.Get("matchExpressions").Len() == 0 {
				c.invalid(shown(v), detail)
			}
			return true
		}),
		"not-zero": detailed("", func(c *checker, v document.Value, detail string) bool {
			if intOrPercent(v) == 0 {
				c.invalid(shown(v), detail)
			}
			return true
		}),
		"quantity-forbidden": detailed("", func(c *checker, v document.Value, detail string) bool {
			if strings.HasPrefix(v.Text(), "-") {
				c.forbidden(detail)
			}
			return true
		}),
		"no-rules": detailed("", func(c *checker, v document.Value, detail string) bool {
			c.invalid(shown(v), detail)
			return true
		}),
	}
}

// innermost returns what the innermost block is being run on.
func (c *checker) innermost() document.Value { return c.scopes[len(c.scopes)-1].now }

// makeUnion wants exactly one of some fields: MORE NONE FIELD[:TYPE]… says what is wrong with
// more and with none, and what the rules of each are. Only the first one found is looked at.
func (book *rulebook) makeUnion(args []string) (check, error) {
	if len(args) < 3 {
		return nil, fmt.Errorf("expected words for more than one, words for none, and fields")
	}
	type member struct {
		name  string
		rules *block
	}
	var members []member
	for _, arg := range args[2:] {
		name, rules, has := strings.Cut(arg, ":")
		if has && book.blocks[rules] == nil {
			return nil, fmt.Errorf("expected a type after %s:, received %q", name, rules)
		}
		members = append(members, member{name, book.blocks[rules]})
	}
	return func(c *checker, now, old document.Value) bool {
		found := false
		for _, m := range members {
			value := now.Get(m.name)
			if isNothing(value) {
				continue
			}
			if found {
				c.forbidden(args[0], m.name)
				continue
			}
			found = true
			if m.rules != nil {
				c.push(m.name)
				c.run(m.rules, value, old.Get(m.name))
				c.pop()
			}
		}
		if !found {
			c.required(args[1])
		}
		return true
	}, nil
}

// makeUnsupported refuses whatever is there.
func makeUnsupported(args []string) (check, error) {
	return func(c *checker, now, _ document.Value) bool {
		c.unsupported(shown(now), args)
		return true
	}, nil
}

// makeNotText refuses one text.
func makeNotText(args []string) (check, error) {
	if len(args) != 2 {
		return nil, fmt.Errorf("expected a text and the words for what is wrong, received %q", args)
	}
	return func(c *checker, now, _ document.Value) bool {
		if now.Text() == args[0] {
			c.invalid(now.Text(), args[1])
		}
		return true
	}, nil
}

// makeFrozenExcept refuses a change of all fields but some.
func makeFrozenExcept(args []string) (check, error) {
	if len(args) < 2 {
		return nil, fmt.Errorf("expected the words for what is wrong and fields")
	}
	return func(c *checker, now, old document.Value) bool {
		if c.updating && !sameExcept(c.typeHere(), now, old, args[1:]) {
			c.forbidden(args[0])
		}
		return true
	}, nil
}

// sameExcept compares all fields but some.
func sameExcept(t *Type, now, old document.Value, except []string) bool {
	differs := func(from, other document.Value) bool {
		for name, value := range from.Fields() {
			if slices.Contains(except, name) {
				continue
			}
			if ft, fp := below(t, name); !same(ft, fp, value, other.Get(name)) {
				return true
			}
		}
		return false
	}
	return !differs(now, old) && !differs(old, now)
}

// typeHere returns the type of the value where the checker is.
func (c *checker) typeHere() *Type {
	t := c.kind
	for _, s := range c.where {
		switch {
		case t == nil:
			return nil
		case s.kind == stepItem:
			t = t.Elem
		default:
			t, _ = below(t, s.name)
		}
	}
	return t
}

// makeSelectedBy refuses labels that a selector beside them does not match.
func makeSelectedBy(args []string) (check, error) {
	if len(args) != 2 {
		return nil, fmt.Errorf("expected the field of the selector and the words for what is wrong, received %q", args)
	}
	return func(c *checker, now, _ document.Value) bool {
		if matchSelector(c.innermost().Get(args[0]), now) == differs {
			c.invalid(shownMap(now), args[1])
		}
		return true
	}, nil
}

func (c *checker) notFound(bad any, below ...string) {
	c.fail(field.ErrorTypeNotFound, bad, "", below...)
}
