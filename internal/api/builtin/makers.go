package builtin

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
		"alone":         makeAlone,
		"not-both":      makeNotBoth,
		"at-most":       makeAtMost,
		"starts-with":   makeStartsWith,
		"longest":       makeLongest,

		// kube-apiserver looks at how an empty text is written even after it has said that there
		// must be one.
		"required-but-go-on": detailed("", func(c *checker, v document.Value, detail string) bool {
			if isEmpty(v) {
				c.required(detail)
			}
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
		"readable": detailed("", func(c *checker, v document.Value, detail string) bool {
			if matchSelector(v, document.Value{}) == unreadable {
				c.invalid(shown(v), detail)
			}
			return true
		}),
		"no-slash": detailed("", func(c *checker, v document.Value, detail string) bool {
			if strings.Contains(v.Text(), "/") {
				c.invalid(v.Text(), detail)
			}
			return true
		}),
	}
}

// innermost returns what the innermost block is being run on.
func (c *checker) innermost() document.Value { return c.scopes[len(c.scopes)-1].now }

// makeUnion wants exactly one of some fields: MORE NONE FIELD[:TYPE]… says what is wrong with
// more and with none, and what the rules of each are: see unionMember. Only the first one found is
// looked at.
func (book *rulebook) makeUnion(args []string) (check, error) {
	if len(args) < 3 {
		return nil, fmt.Errorf("expected words for more than one, words for none, and fields")
	}
	var members []unionMember
	for _, arg := range args[2:] {
		m, err := book.unionMember(arg)
		if err != nil {
			return nil, err
		}
		members = append(members, m)
	}
	return func(c *checker, now, old document.Value) bool {
		found := false
		for _, m := range members {
			value := now.Get(m.name)
			if isNothing(value) {
				continue
			}
			if found && !m.always {
				c.forbidden(args[0], m.refusedAt)
				continue
			}
			found = true
			if m.rules != nil {
				c.push(m.place)
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

// unionMember is one field of a union.
type unionMember struct {
	name  string
	rules *block
	// place is what errors call the field, refusedAt what they call it when it is one too many.
	place, refusedAt string
	// always says that kube-apiserver forgets to refuse it beside others.
	always bool
}

// unionMember reads FIELD[!][/REFUSED-AT][:TYPE[@PLACE]].
func (book *rulebook) unionMember(text string) (m unionMember, err error) {
	name, rules, has := strings.Cut(text, ":")
	rules, place, hasPlace := strings.Cut(rules, "@")
	if has && book.blocks[rules] == nil {
		return m, fmt.Errorf("expected a type after %s:, received %q", name, rules)
	}
	name, refusedAt, hasRefused := strings.Cut(name, "/")
	m.name, m.always = strings.CutSuffix(name, "!")
	m.rules, m.place, m.refusedAt = book.blocks[rules], m.name, m.name
	if hasPlace {
		m.place = place
	}
	if hasRefused {
		m.refusedAt = refusedAt
	}
	return m, nil
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

// amountChecks look at numbers and quantities.
func amountChecks() map[string]maker {
	return map[string]maker{
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
		"positive-quantity": detailed("must be greater than zero", func(c *checker, v document.Value, detail string) bool {
			// What takes too long to read is not read, and is more than nothing.
			if q, err := ParseQuantity(v.Text()); err == nil && q.Sign() <= 0 {
				c.invalid(q.String(), detail)
			}
			return true
		}),
		"quantity-not-negative": detailed("must be greater than or equal to 0", func(c *checker, v document.Value, detail string) bool {
			if q := amount(v); q.Sign() < 0 {
				c.invalid(q.String(), detail)
			}
			return true
		}),
	}
}

// certainRefusals refuse whatever there is: conditions say when.
func certainRefusals() map[string]maker {
	return map[string]maker{
		"missing": detailed("", func(c *checker, _ document.Value, detail string) bool {
			c.required(detail)
			return true
		}),
		"refused": detailed("", func(c *checker, _ document.Value, detail string) bool {
			c.forbidden(detail)
			return true
		}),
		"denied": detailed("", func(c *checker, _ document.Value, detail string) bool {
			c.errs = append(c.errs, field.Forbidden(field.NewPath(""), detail)) // kube-apiserver reports it at no field
			return true
		}),
		"wrong": detailed("", func(c *checker, v document.Value, detail string) bool {
			c.invalid(shown(v), detail)
			return true
		}),
	}
}
