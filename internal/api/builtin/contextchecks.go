package builtin

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
)

// contextChecks are the checks that involve other fields, or whose errors differ from those of valueChecks.
func contextChecks() map[string]checkFactory {
	return map[string]checkFactory{
		"unsupported":   makeUnsupported,
		"not-equal":     makeNotEqual,
		"frozen-except": makeFrozenExcept,
		"selected-by":   makeSelectedBy,
		"alone":         makeAlone,
		"not-both":      makeNotBoth,
		"at-most":       makeAtMost,
		"starts-with":   makeStartsWith,
		"longest":       makeLongest,

		// kube-apiserver validates the format of an empty string even after reporting it as required.
		"required-and-continue": withDetail("", func(c *checker, v document.Value, detail string) bool {
			if isEmpty(v) {
				c.required(detail)
			}
			return true
		}),
		"flag-forbidden": withDetail("", func(c *checker, v document.Value, detail string) bool {
			if v.Bool() {
				c.forbidden(detail)
			}
			return true
		}),
		"invalid-given": withDetail("", func(c *checker, v document.Value, detail string) bool {
			if !isAbsentOrNull(v) {
				c.invalid(errorValue(c.innermost()), detail)
			}
			return true
		}),
		"nonempty-selector": withDetail("", func(c *checker, v document.Value, detail string) bool {
			if !isAbsentOrNull(v) && v.Get("matchLabels").Len()+v.Get("matchExpressions").Len() == 0 {
				c.invalid(errorValue(v), detail)
			}
			return true
		}),
		"valid-selector": withDetail("", func(c *checker, v document.Value, detail string) bool {
			if matchSelector(v, document.Value{}) == selectorInvalid {
				c.invalid(errorValue(v), detail)
			}
			return true
		}),
		"no-slash": withDetail("", func(c *checker, v document.Value, detail string) bool {
			if strings.Contains(v.Text(), "/") {
				c.invalid(v.Text(), detail)
			}
			return true
		}),
	}
}

// innermost returns the value of the innermost block.
func (c *checker) innermost() document.Value { return c.scopes[len(c.scopes)-1].now }

// makeUnion requires exactly one of several fields. The arguments are the error detail for more than one, the error
// detail for none, and the members (see unionMember). Only the first member that is set is validated.
func (book *rulebook) makeUnion(args []string) (check, error) {
	if len(args) < 3 {
		return nil, fmt.Errorf("expected the error details for more than one and for none, and fields")
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
			if isAbsentOrNull(value) {
				continue
			}
			if found && !m.always {
				c.forbidden(args[0], m.conflictName)
				continue
			}
			found = true
			if m.rules != nil {
				c.push(m.errorName)
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

// unionMember is a member of a union.
type unionMember struct {
	name  string
	rules *block
	// errorName is the name of the field in errors, conflictName its name in the error for a second member.
	errorName, conflictName string
	// always validates the member even if another one is set, as kube-apiserver does for some.
	always bool
}

// unionMember parses FIELD[!][/CONFLICT-NAME][:TYPE[@ERROR-NAME]].
func (book *rulebook) unionMember(text string) (m unionMember, err error) {
	name, rules, has := strings.Cut(text, ":")
	rules, errorName, hasErrorName := strings.Cut(rules, "@")
	if has && book.blocks[rules] == nil {
		return m, fmt.Errorf("expected a type after %s:, received %q", name, rules)
	}
	name, conflictName, hasConflictName := strings.Cut(name, "/")
	m.name, m.always = strings.CutSuffix(name, "!")
	m.rules, m.errorName, m.conflictName = book.blocks[rules], m.name, m.name
	if hasErrorName {
		m.errorName = errorName
	}
	if hasConflictName {
		m.conflictName = conflictName
	}
	return m, nil
}

// makeUnsupported rejects any value.
func makeUnsupported(args []string) (check, error) {
	return func(c *checker, now, _ document.Value) bool {
		c.unsupported(errorValue(now), args)
		return true
	}, nil
}

// makeNotEqual rejects the given string.
func makeNotEqual(args []string) (check, error) {
	if len(args) != 2 {
		return nil, fmt.Errorf("expected a string and the error detail, received %q", args)
	}
	return func(c *checker, now, _ document.Value) bool {
		if now.Text() == args[0] {
			c.invalid(now.Text(), args[1])
		}
		return true
	}, nil
}

// makeFrozenExcept forbids changes of all fields except those listed.
func makeFrozenExcept(args []string) (check, error) {
	if len(args) < 2 {
		return nil, fmt.Errorf("expected the error detail and fields")
	}
	return func(c *checker, now, old document.Value) bool {
		if c.updating && !equalExcept(c.currentType(), now, old, args[1:]) {
			c.forbidden(args[0])
		}
		return true
	}, nil
}

// equalExcept reports whether all fields except those listed are semantically equal.
func equalExcept(t *Type, now, old document.Value, except []string) bool {
	differs := func(from, other document.Value) bool {
		for name, value := range from.Fields() {
			if slices.Contains(except, name) {
				continue
			}
			if ft, fp := fieldType(t, name); !semanticEqual(ft, fp, value, other.Get(name)) {
				return true
			}
		}
		return false
	}
	return !differs(now, old) && !differs(old, now)
}

// currentType returns the type of the value at the current path; nil if it is unknown.
func (c *checker) currentType() *Type {
	t := c.kind
	for _, s := range c.path {
		switch {
		case t == nil:
			return nil
		case s.kind == stepItem:
			t = t.Elem
		default:
			t, _ = fieldType(t, s.name)
		}
	}
	return t
}

// makeSelectedBy requires labels that the selector in a sibling field matches.
func makeSelectedBy(args []string) (check, error) {
	if len(args) != 2 {
		return nil, fmt.Errorf("expected the field of the selector and the error detail, received %q", args)
	}
	return func(c *checker, now, _ document.Value) bool {
		if matchSelector(c.innermost().Get(args[0]), now) == selectorDiffers {
			c.invalid(errorMap(now), args[1])
		}
		return true
	}, nil
}

func (c *checker) notFound(bad any, below ...string) {
	c.fail(field.ErrorTypeNotFound, bad, "", below...)
}

// quantityChecks are the checks of numbers and quantities.
func quantityChecks() map[string]checkFactory {
	return map[string]checkFactory{
		"not-zero": withDetail("", func(c *checker, v document.Value, detail string) bool {
			if intOrPercent(v) == 0 {
				c.invalid(errorValue(v), detail)
			}
			return true
		}),
		"quantity-forbidden": withDetail("", func(c *checker, v document.Value, detail string) bool {
			if strings.HasPrefix(v.Text(), "-") {
				c.forbidden(detail)
			}
			return true
		}),
		"positive-quantity": withDetail("must be greater than zero", func(c *checker, v document.Value, detail string) bool {
			// Quantities that ParseQuantity rejects as too long count as positive.
			if q, err := ParseQuantity(v.Text()); err == nil && q.Sign() <= 0 {
				c.invalid(q.String(), detail)
			}
			return true
		}),
		"quantity-not-negative": withDetail("must be greater than or equal to 0", func(c *checker, v document.Value, detail string) bool {
			if q := quantityValue(v); q.Sign() < 0 {
				c.invalid(q.String(), detail)
			}
			return true
		}),
	}
}

// reportChecks report an error for any value; conditions determine when.
func reportChecks() map[string]checkFactory {
	return map[string]checkFactory{
		"report-required": withDetail("", func(c *checker, _ document.Value, detail string) bool {
			c.required(detail)
			return true
		}),
		"report-forbidden": withDetail("", func(c *checker, _ document.Value, detail string) bool {
			c.forbidden(detail)
			return true
		}),
		"report-invalid": withDetail("", func(c *checker, v document.Value, detail string) bool {
			c.invalid(errorValue(v), detail)
			return true
		}),
	}
}
