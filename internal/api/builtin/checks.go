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

// checkFactory returns a check that is configured by the arguments after its name in a rule, or an error if the arguments are
// invalid.
type checkFactory func(args []string) (check, error)

// checkFactories returns a map from the names of all checks to their factories.
func (book *rulebook) checkFactories() map[string]checkFactory {
	all := valueChecks()
	for _, more := range []map[string]checkFactory{contextChecks(), quantityChecks(), reportChecks(), whitespaceChecks(), warningChecks()} {
		maps.Copy(all, more)
	}
	all["union"] = book.makeUnion
	all["items"] = book.makeItems
	all["stateful-template"] = book.makeStatefulTemplate
	all["event-namespace"] = makeEventNamespace
	all["old"] = book.makeOld
	for name, f := range formats {
		all[name] = newPlainCheck(func(c *checker, value, _ document.Value) bool {
			c.invalidFormat(f, value.Text())
			return true
		})
	}
	for _, irregular := range []map[string]func(c *checker, value, old document.Value){
		goChecks(), expressionChecks(), statusChecks(), certificateChecks(), deviceChecks(), goWarnings(),
	} {
		for name, f := range irregular {
			all[name] = newPlainCheck(func(c *checker, value, old document.Value) bool {
				f(c, value, old)
				return true
			})
		}
	}
	return all
}

// valueChecks returns the factories of the checks that depend only on the checked value and, in an update, on its old value.
func valueChecks() map[string]checkFactory {
	return map[string]checkFactory{
		// The checks that call guard report no error, but can skip the remaining checks of the statement.
		"optional": guard(func(v document.Value) bool { return !isEmpty(v) }),
		"changed":  newPlainCheck(func(c *checker, v, _ document.Value) bool { return !c.updating || !c.isUnchanged(v) }),
		"nullable": guard(func(v document.Value) bool { return !isAbsentOrNull(v) }),

		"required": newDetailCheck("", func(c *checker, v document.Value, detail string) bool {
			if isEmpty(v) {
				c.required(detail)
				return false
			}
			return true
		}),
		"set": newDetailCheck("", func(c *checker, v document.Value, detail string) bool {
			if isAbsentOrNull(v) {
				c.required(detail)
				return false
			}
			return true
		}),
		"forbidden": newDetailCheck("", func(c *checker, v document.Value, detail string) bool {
			if isSetByClient(v) {
				c.forbidden(detail)
			}
			return true
		}),
		"invalid": newDetailCheck("", func(c *checker, v document.Value, detail string) bool {
			if isSetByClient(v) {
				c.invalid(errorValue(v), detail)
			}
			return true
		}),
		"invalid-empty": newDetailCheck("", func(c *checker, _ document.Value, detail string) bool {
			c.invalid("", detail)
			return true
		}),
		"immutable": newDetailCheck("field is immutable", checkImmutable),
		"set-once": newPlainCheck(func(c *checker, v, old document.Value) bool {
			if c.updating && !isEmpty(old) && isEmpty(v) {
				c.invalidBy(originUpdate, nil, updateConstraints["NoUnset"].detail)
			} else if c.updating && !isEmpty(old) && v.Text() != old.Text() {
				c.invalidBy(originUpdate, nil, updateConstraints["NoModify"].detail)
			}
			return true
		}),
		"frozen": newDetailCheck("", func(c *checker, v document.Value, detail string) bool {
			if c.updating && !c.isUnchanged(v) {
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

func newPlainCheck(made check) checkFactory {
	return func(args []string) (check, error) {
		if len(args) > 0 {
			return nil, fmt.Errorf("expected no arguments, received %q", args)
		}
		return made, nil
	}
}

func guard(passes func(document.Value) bool) checkFactory {
	return newPlainCheck(func(_ *checker, value, _ document.Value) bool { return passes(value) })
}

// newDetailCheck returns a checkFactory for checks whose only argument is the detail of their error. run is the check; it
// receives the argument or, if that is omitted, defaultDetail.
func newDetailCheck(defaultDetail string, run func(*checker, document.Value, string) bool) checkFactory {
	return func(args []string) (check, error) {
		detail, err := parseDetail(args, defaultDetail)
		return func(c *checker, value, _ document.Value) bool { return run(c, value, detail) }, err
	}
}

func parseDetail(args []string, defaultDetail string) (string, error) {
	switch len(args) {
	case 0:
		return defaultDetail, nil
	case 1:
		return args[0], nil
	}
	return "", fmt.Errorf("expected at most one detail, received %q", args)
}

// isSetByClient reports whether a value is set. An empty list or string counts as not set, because Go decodes it like an
// absent value.
func isSetByClient(v document.Value) bool {
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

// makeEnum returns a check that requires one of the strings in args.
func makeEnum(args []string) (check, error) {
	if len(args) == 0 {
		return nil, fmt.Errorf("expected the allowed strings")
	}
	return func(c *checker, value, _ document.Value) bool {
		if text := value.Text(); !slices.Contains(args, text) {
			c.unsupported(text, args)
			return false
		}
		return true
	}, nil
}

// intValue returns v as an integer; 0 if v is absent.
func intValue(v document.Value) int64 {
	i, _ := v.Int64()
	return i
}

func makeMin(args []string) (check, error) {
	return makeBound(args, originMinimum, "must be greater than or equal to %d", func(n, limit int64) bool { return n >= limit })
}

func makeMax(args []string) (check, error) {
	return makeBound(args, originMaximum, "must be less than or equal to %d", func(n, limit int64) bool { return n <= limit })
}

func makeBound(args []string, origin, defaultDetail string, within func(n, limit int64) bool) (check, error) {
	if len(args) == 0 {
		return nil, fmt.Errorf("expected a number")
	}
	limit, err := strconv.ParseInt(args[0], 10, 64)
	if err != nil {
		return nil, err
	}
	detail, err := parseDetail(args[1:], fmt.Sprintf(defaultDetail, limit))
	return func(c *checker, value, _ document.Value) bool {
		if n := intValue(value); !within(n, limit) {
			c.invalidBy(origin, n, detail)
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
	detail, err := parseDetail(args[2:], validation.InclusiveRangeError(int(low), int(high)))
	return func(c *checker, value, _ document.Value) bool {
		if n := intValue(value); n < low || n > high {
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
	maximum, err := oneNumber(args)
	return func(c *checker, value, _ document.Value) bool {
		if len(value.Text()) > maximum {
			c.tooLong(maximum)
		}
		return true
	}, err
}

func makeMaxItems(args []string) (check, error) {
	maximum, err := oneNumber(args)
	return func(c *checker, value, _ document.Value) bool {
		if value.Len() > maximum {
			e := field.TooMany(nil, value.Len(), maximum)
			c.fail(e.Type, e.BadValue, e.Detail)
		}
		return true
	}, err
}

// makeKey returns a check that requires that a map key has the format that the argument names.
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

// makeValue returns a check that requires one of the strings in args; the last argument is the error detail. Unlike makeEnum,
// the error is of type Invalid instead of NotSupported.
func makeValue(args []string) (check, error) {
	if len(args) < 2 {
		return nil, fmt.Errorf("expected the allowed strings and the error detail")
	}
	allowed, detail := args[:len(args)-1], args[len(args)-1]
	return func(c *checker, value, _ document.Value) bool {
		if !slices.Contains(allowed, scalarText(value)) {
			c.invalid(errorValue(value), detail)
			return false
		}
		return true
	}, nil
}

// makeUnique returns a check that rejects a field of a list item if an earlier item has an equal value in that field. If the
// rule's path ends at the items, which then are scalars, the check compares the items themselves. With the argument
// among-valid, earlier items with errors are ignored.
func makeUnique(args []string) (check, error) {
	validOnly := slices.Equal(args, []string{"among-valid"})
	if len(args) > 0 && !validOnly {
		return nil, fmt.Errorf("expected among-valid or no argument, received %q", args)
	}
	return func(c *checker, value, _ document.Value) bool {
		name := ""
		if last := c.path[len(c.path)-1]; last.kind == stepField {
			name = last.name
		}
		if i := c.firstIndex(c.list, name, value.Text(), validOnly); i >= 0 && i < c.item {
			c.duplicate(errorValue(value))
			return false
		}
		return true
	}, nil
}

// makeAmong returns a check that requires that a string equals a field of an item in a list of an enclosing block. The
// arguments are BLOCK LIST FIELD, repeated for each list.
func makeAmong(args []string) (check, error) {
	if len(args) == 0 || len(args)%3 != 0 {
		return nil, fmt.Errorf("expected TYPE LIST FIELD, received %q", args)
	}
	return func(c *checker, value, _ document.Value) bool {
		for a := args; len(a) > 0; a = a[3:] {
			if outer, _, ok := c.enclosing(a[0]); ok && c.firstIndex(outer.Get(a[1]), a[2], value.Text(), true) >= 0 {
				return true
			}
		}
		c.fail(field.ErrorTypeNotFound, value.Text(), "")
		return true
	}, nil
}

// makeOnly returns a check that forbids all fields of a map except those in args; the last argument is the error detail.
func makeOnly(args []string) (check, error) {
	if len(args) < 2 {
		return nil, fmt.Errorf("expected fields and the error detail")
	}
	allowed, detail := args[:len(args)-1], args[len(args)-1]
	return func(c *checker, current, _ document.Value) bool {
		for name, value := range current.Fields() {
			if !slices.Contains(allowed, name) && !isEmpty(value) {
				c.forbidden(detail, name)
			}
		}
		return true
	}, nil
}

// makeNotMoreThan returns a check that rejects a number that exceeds another field of the block's value. The arguments are
// that field and the error detail.
func makeNotMoreThan(args []string) (check, error) {
	if len(args) != 2 {
		return nil, fmt.Errorf("expected a sibling field and the error detail, received %q", args)
	}
	return func(c *checker, value, _ document.Value) bool {
		if beside := c.scopes[len(c.scopes)-1].value.Get(args[0]); intValue(value) > intValue(beside) {
			c.invalid(intValue(value), args[1])
		}
		return true
	}, nil
}
