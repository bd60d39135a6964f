package builtin

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
)

// maker makes a check from the arguments that are written after its name.
type maker func(args []string) (check, error)

// makers returns the makers of all checks that rules name.
func (book *rulebook) makers() map[string]maker {
	all := plainChecks()
	for _, more := range []map[string]maker{relatedChecks(), amountChecks(), certainRefusals(), blankChecks(), warningChecks()} {
		maps.Copy(all, more)
	}
	all["union"] = book.makeUnion
	all["items"] = book.makeItems
	all["stateful-template"] = book.makeStatefulTemplate
	all["event-namespace"] = makeEventNamespace
	all["was"] = book.makeWas
	for name, f := range formats {
		all[name] = simple(func(c *checker, now, _ document.Value) bool {
			for _, detail := range f.check(now.Text()) {
				c.invalid(now.Text(), detail) // invalidAll would allocate for texts that are right, too
			}
			return true
		})
	}
	for _, irregular := range []map[string]func(c *checker, now, old document.Value){irregularChecks(), expressionChecks(), statusChecks(), deviceChecks(), irregularWarnings()} {
		for name, f := range irregular {
			all[name] = simple(func(c *checker, now, old document.Value) bool {
				f(c, now, old)
				return true
			})
		}
	}
	return all
}

// plainChecks look at a value alone, or at what it was.
func plainChecks() map[string]maker {
	return map[string]maker{
		// Guards: they find nothing wrong, but what comes after them on the line may be left out.
		"optional": guard(func(v document.Value) bool { return !isEmpty(v) }),
		"changed":  simple(func(c *checker, v, _ document.Value) bool { return !c.updating || !c.isAsBefore(v) }),
		"nullable": guard(func(v document.Value) bool { return !isNothing(v) }),

		"required": detailed("", func(c *checker, v document.Value, detail string) bool {
			if isEmpty(v) {
				c.required(detail)
				return false
			}
			return true
		}),
		"set": detailed("", func(c *checker, v document.Value, detail string) bool {
			if isNothing(v) {
				c.required(detail)
				return false
			}
			return true
		}),
		"forbidden": detailed("", func(c *checker, v document.Value, detail string) bool {
			if isGiven(v) {
				c.forbidden(detail)
			}
			return true
		}),
		"invalid": detailed("", func(c *checker, v document.Value, detail string) bool {
			if isGiven(v) {
				c.invalid(shown(v), detail)
			}
			return true
		}),
		"invalid-empty": detailed("", func(c *checker, _ document.Value, detail string) bool {
			c.invalid("", detail)
			return true
		}),
		"immutable": detailed("field is immutable", immutable),
		"frozen": detailed("", func(c *checker, v document.Value, detail string) bool {
			if c.updating && !c.isAsBefore(v) {
				c.forbidden(detail)
			}
			return true
		}),

		"enum":          makeEnum,
		"min":           makeMin,
		"max":           makeMax,
		"range":         makeRange,
		"max-length":    makeMaxLength,
		"max-items":     makeMaxItems,
		"key":           makeKey,
		"value":         makeValue,
		"unique":        makeUnique,
		"among":         makeAmong,
		"only":          makeOnly,
		"object-meta":   makeObjectMeta,
		"not-more-than": makeNotMoreThan,
	}
}

func simple(made check) maker {
	return func(args []string) (check, error) {
		if len(args) > 0 {
			return nil, fmt.Errorf("expected nothing after it, received %q", args)
		}
		return made, nil
	}
}

func guard(passes func(document.Value) bool) maker {
	return simple(func(_ *checker, now, _ document.Value) bool { return passes(now) })
}

// detailed makes a check that can be given the words for what is wrong.
func detailed(usual string, made func(*checker, document.Value, string) bool) maker {
	return func(args []string) (check, error) {
		detail, err := detailOf(args, usual)
		return func(c *checker, now, _ document.Value) bool { return made(c, now, detail) }, err
	}
}

func detailOf(args []string, usual string) (string, error) {
	switch len(args) {
	case 0:
		return usual, nil
	case 1:
		return args[0], nil
	}
	return "", fmt.Errorf("expected one text at most, received %q", args)
}

// isGiven reports whether there is a value that a client gave: an empty list is none, and neither
// is an empty string, for Go can not tell them from nothing.
func isGiven(v document.Value) bool {
	switch v.Kind() {
	case document.Absent, document.Null:
		return false
	case document.List:
		return v.Len() > 0
	case document.String:
		return v.Text() != ""
	}
	return true
}

// makeEnum refuses all but some texts.
func makeEnum(args []string) (check, error) {
	if len(args) == 0 {
		return nil, fmt.Errorf("expected the texts that are allowed")
	}
	return func(c *checker, now, _ document.Value) bool {
		if text := now.Text(); !slices.Contains(args, text) {
			c.unsupported(text, args)
			return false
		}
		return true
	}, nil
}

// number returns a value as an integer; one that is not there is 0.
func number(v document.Value) int64 {
	i, _ := v.Int64()
	return i
}

func makeMin(args []string) (check, error) {
	return bound(args, "must be greater than or equal to %d", func(n, limit int64) bool { return n >= limit })
}

func makeMax(args []string) (check, error) {
	return bound(args, "must be less than or equal to %d", func(n, limit int64) bool { return n <= limit })
}

func bound(args []string, usual string, within func(n, limit int64) bool) (check, error) {
	if len(args) == 0 {
		return nil, fmt.Errorf("expected a number")
	}
	limit, err := strconv.ParseInt(args[0], 10, 64)
	if err != nil {
		return nil, err
	}
	detail, err := detailOf(args[1:], fmt.Sprintf(usual, limit))
	return func(c *checker, now, _ document.Value) bool {
		if n := number(now); !within(n, limit) {
			c.invalid(n, detail)
		}
		return true
	}, err
}

func makeRange(args []string) (check, error) {
	if len(args) < 2 {
		return nil, fmt.Errorf("expected two numbers")
	}
	low, err := strconv.ParseInt(args[0], 10, 64)
	if err != nil {
		return nil, err
	}
	high, err := strconv.ParseInt(args[1], 10, 64)
	if err != nil {
		return nil, err
	}
	detail, err := detailOf(args[2:], validation.InclusiveRangeError(int(low), int(high)))
	return func(c *checker, now, _ document.Value) bool {
		if n := number(now); n < low || n > high {
			c.invalid(n, detail)
		}
		return true
	}, err
}

func oneNumber(args []string) (int, error) {
	if len(args) != 1 {
		return 0, fmt.Errorf("expected a number, received %q", args)
	}
	return strconv.Atoi(args[0])
}

func makeMaxLength(args []string) (check, error) {
	most, err := oneNumber(args)
	return func(c *checker, now, _ document.Value) bool {
		if len(now.Text()) > most {
			c.tooLong(most)
		}
		return true
	}, err
}

func makeMaxItems(args []string) (check, error) {
	most, err := oneNumber(args)
	return func(c *checker, now, _ document.Value) bool {
		if now.Len() > most {
			e := field.TooMany(nil, now.Len(), most)
			c.fail(e.Type, e.BadValue, e.Detail)
		}
		return true
	}, err
}

// makeKey checks how the last name of the path is written: the key of a map.
func makeKey(args []string) (check, error) {
	if len(args) != 1 {
		return nil, fmt.Errorf("expected a format, received %q", args)
	}
	f, ok := formats[args[0]]
	if !ok {
		return nil, fmt.Errorf("expected a format, received %q", args[0])
	}
	return func(c *checker, _, _ document.Value) bool {
		c.invalidAll(c.key(), f.check(c.key()))
		return true
	}, nil
}

// makeValue refuses all but one text, as an invalid value rather than an unsupported one.
func makeValue(args []string) (check, error) {
	if len(args) < 2 {
		return nil, fmt.Errorf("expected the texts that are allowed and the words for what is wrong")
	}
	allowed, detail := args[:len(args)-1], args[len(args)-1]
	return func(c *checker, now, _ document.Value) bool {
		if !slices.Contains(allowed, scalarText(now)) {
			c.invalid(shown(now), detail)
			return false
		}
		return true
	}, nil
}

// makeUnique refuses a field's text that an item before this one in the list has too; a scalar
// item is told apart by itself.
func makeUnique(args []string) (check, error) {
	sound := slices.Equal(args, []string{"among-sound"})
	if len(args) > 0 && !sound {
		return nil, fmt.Errorf("expected among-sound or nothing after it, received %q", args)
	}
	return func(c *checker, now, _ document.Value) bool {
		name := ""
		if last := c.where[len(c.where)-1]; last.kind == stepField {
			name = last.name
		}
		if i := c.first(c.list, name, now.Text(), sound); i >= 0 && i < c.item {
			c.duplicate(shown(now))
			return false
		}
		return true
	}, nil
}

// makeAmong refuses a text that no item of a list of a type around has. Several lists may be
// named: TYPE LIST FIELD…
func makeAmong(args []string) (check, error) {
	if len(args) == 0 || len(args)%3 != 0 {
		return nil, fmt.Errorf("expected TYPE LIST FIELD, received %q", args)
	}
	return func(c *checker, now, _ document.Value) bool {
		for a := args; len(a) > 0; a = a[3:] {
			if around, _, ok := c.enclosing(a[0]); ok && c.first(around.Get(a[1]), a[2], now.Text(), true) >= 0 {
				return true
			}
		}
		c.fail(field.ErrorTypeNotFound, now.Text(), "")
		return true
	}, nil
}

// makeOnly refuses all fields but some.
func makeOnly(args []string) (check, error) {
	if len(args) < 2 {
		return nil, fmt.Errorf("expected fields and the words for what is wrong")
	}
	allowed, detail := args[:len(args)-1], args[len(args)-1]
	return func(c *checker, now, _ document.Value) bool {
		for name, value := range now.Fields() {
			if !slices.Contains(allowed, name) && !isEmpty(value) {
				c.forbidden(detail, name)
			}
		}
		return true
	}, nil
}

// makeNotMoreThan refuses a number that is greater than a neighbour's.
func makeNotMoreThan(args []string) (check, error) {
	if len(args) != 2 {
		return nil, fmt.Errorf("expected a field beside it and the words for what is wrong, received %q", args)
	}
	return func(c *checker, now, _ document.Value) bool {
		if beside := c.scopes[len(c.scopes)-1].now.Get(args[0]); number(now) > number(beside) {
			c.invalid(number(now), args[1])
		}
		return true
	}, nil
}
