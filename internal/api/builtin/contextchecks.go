package builtin

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
)

// contextChecks returns the factories of checks that depend on other fields, and of variants of valueChecks with different
// errors.
func contextChecks() map[string]checkFactory {
	return map[string]checkFactory{
		"unsupported": makeUnsupported,
		"not-equal":   makeNotEqual,
		"selected-by": makeSelectedBy,
		"alone":       makeAlone,
		"not-both":    makeNotBoth,
		"at-most":     makeAtMost,
		"starts-with": makeStartsWith,
		"longest":     makeLongest,

		// Unlike the check "required", this check does not skip the remaining checks of the statement, because kube-apiserver
		// reports their errors for some empty strings as well.
		"required-and-continue": newDetailCheck("", func(c *checker, v document.Value, detail string) bool {
			if isEmpty(v) {
				c.required(detail)
			}
			return true
		}),
		"flag-forbidden": newDetailCheck("", func(c *checker, v document.Value, detail string) bool {
			if v.Bool() {
				c.forbidden(detail)
			}
			return true
		}),
		"invalid-given": newDetailCheck("", func(c *checker, v document.Value, detail string) bool {
			if !isAbsentOrNull(v) {
				c.invalid(errorValue(c.innermostValue()), detail)
			}
			return true
		}),
		"nonempty-selector": newDetailCheck("", func(c *checker, v document.Value, detail string) bool {
			if !isAbsentOrNull(v) && v.Get("matchLabels").Len()+v.Get("matchExpressions").Len() == 0 {
				c.invalid(errorValue(v), detail)
			}
			return true
		}),
		"valid-selector": newDetailCheck("", func(c *checker, v document.Value, detail string) bool {
			if matchSelector(v, document.Value{}) == selectorInvalid {
				c.invalid(errorValue(v), detail)
			}
			return true
		}),
		"no-slash": newDetailCheck("", func(c *checker, v document.Value, detail string) bool {
			if strings.Contains(v.Text(), "/") {
				c.invalid(v.Text(), detail)
			}
			return true
		}),
	}
}

// innermostValue returns the value of the block whose statement is running.
func (c *checker) innermostValue() document.Value { return c.scopes[len(c.scopes)-1].value }

// makeUnion returns a check that requires exactly one of several fields. The arguments are the error detail for more than one
// field, the error detail for no field, and the members (see parseUnionMember). Only the first member that is set is
// validated, except for members marked with always.
func (book *rulebook) makeUnion(args []string) (check, error) {
	if len(args) < 3 {
		return nil, fmt.Errorf("expected the error details for more than one and for none, and fields")
	}
	var members []unionMember
	for _, arg := range args[2:] {
		m, err := book.parseUnionMember(arg)
		if err != nil {
			return nil, err
		}
		members = append(members, m)
	}
	return func(c *checker, current, old document.Value) bool {
		found := false
		for _, m := range members {
			value := current.Get(m.name)
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

// unionMember is a field that is a member of a union, with the rules for its value. Exactly one member of a union must be set.
type unionMember struct {
	name  string
	rules *block
	// errorName is the name of the field in errors of its value. conflictName is its name in the error that is reported if
	// another member is set, too.
	errorName, conflictName string
	// always makes the check validate the member even if another member is set, as kube-apiserver does for some fields.
	always bool
}

// parseUnionMember parses a member of a union, whose syntax is FIELD[!][/CONFLICT-NAME][:BLOCK[@ERROR-NAME]]; ! sets always.
func (book *rulebook) parseUnionMember(text string) (m unionMember, err error) {
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

// makeUnsupported returns a check that rejects every value with an error of type NotSupported; args are the supported values.
func makeUnsupported(args []string) (check, error) {
	return func(c *checker, value, _ document.Value) bool {
		c.unsupported(errorValue(value), args)
		return true
	}, nil
}

// makeNotEqual returns a check that rejects one string. The arguments are the string and the error detail.
func makeNotEqual(args []string) (check, error) {
	if len(args) != 2 {
		return nil, fmt.Errorf("expected a string and the error detail, received %q", args)
	}
	return func(c *checker, value, _ document.Value) bool {
		if value.Text() == args[0] {
			c.invalid(value.Text(), args[1])
		}
		return true
	}, nil
}

// equalExcept reports whether value and old, both of type t, are semantically equal in all fields whose names are not in
// except.
func equalExcept(t *Type, current, old document.Value, except []string) bool {
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
	return !differs(current, old) && !differs(old, current)
}

// currentType returns the type of the value at the current path; nil if the path is not in the kind's type.
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

// makeSelectedBy returns a check that requires labels that a label selector matches. The arguments are the name of the field
// that contains the selector, in the block's value, and the error detail.
func makeSelectedBy(args []string) (check, error) {
	if len(args) != 2 {
		return nil, fmt.Errorf("expected the field of the selector and the error detail, received %q", args)
	}
	return func(c *checker, value, _ document.Value) bool {
		if matchSelector(c.innermostValue().Get(args[0]), value) == selectorDiffers {
			c.invalid(errorMap(value), args[1])
		}
		return true
	}, nil
}

func (c *checker) notFound(bad any, below ...string) {
	c.fail(field.ErrorTypeNotFound, bad, "", below...)
}

// quantityChecks returns the factories of the checks of quantities and of integers or percentages.
func quantityChecks() map[string]checkFactory {
	return map[string]checkFactory{
		"not-zero": newDetailCheck("", func(c *checker, v document.Value, detail string) bool {
			if intOrPercent(v) == 0 {
				c.invalid(errorValue(v), detail)
			}
			return true
		}),
		"quantity-forbidden": newDetailCheck("", func(c *checker, v document.Value, detail string) bool {
			if strings.HasPrefix(v.Text(), "-") {
				c.forbidden(detail)
			}
			return true
		}),
		"positive-quantity": newDetailCheck("must be greater than zero", func(c *checker, v document.Value, detail string) bool {
			// Quantities that ParseQuantity rejects as too long are treated as positive.
			if q, err := ParseQuantity(v.Text()); err == nil && q.Sign() <= 0 {
				c.invalid(q.String(), detail)
			}
			return true
		}),
		"quantity-not-negative": newDetailCheck("must be greater than or equal to 0", func(c *checker, v document.Value, detail string) bool {
			if q := quantityValue(v); q.Sign() < 0 {
				c.invalid(q.String(), detail)
			}
			return true
		}),
	}
}

// reportChecks returns the factories of the checks that report an error for every value. Kind files use them below an if
// statement.
func reportChecks() map[string]checkFactory {
	return map[string]checkFactory{
		"report-required": newDetailCheck("", func(c *checker, _ document.Value, detail string) bool {
			c.required(detail)
			return true
		}),
		"report-forbidden": newDetailCheck("", func(c *checker, _ document.Value, detail string) bool {
			c.forbidden(detail)
			return true
		}),
		// The error of report-denied has no field, as in kube-apiserver.
		"report-denied": newDetailCheck("", func(c *checker, _ document.Value, detail string) bool {
			c.errs = append(c.errs, field.Forbidden(field.NewPath(""), detail))
			return true
		}),
		"report-invalid": newDetailCheck("", func(c *checker, v document.Value, detail string) bool {
			c.invalid(errorValue(v), detail)
			return true
		}),
	}
}
