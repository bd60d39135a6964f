package builtin

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// makeAlone returns a check of a list that contains a given string, such as *: the list must not contain any other items. The
// arguments are the string and the error detail.
func makeAlone(args []string) (check, error) {
	if len(args) != 2 {
		return nil, fmt.Errorf("expected a string and the error detail, received %q", args)
	}
	return func(c *checker, list, _ document.Value) bool {
		if list.Len() > 1 && c.firstIndex(list, "", args[0], false) >= 0 {
			c.invalid(errorValue(list), args[1])
		}
		return true
	}, nil
}

// makeNotBoth returns a check that rejects a list that contains both of two strings. The arguments are the strings and the
// error detail.
func makeNotBoth(args []string) (check, error) {
	if len(args) != 3 {
		return nil, fmt.Errorf("expected two strings and the error detail, received %q", args)
	}
	return func(c *checker, list, _ document.Value) bool {
		if c.firstIndex(list, "", args[0], false) >= 0 && c.firstIndex(list, "", args[1], false) >= 0 {
			c.invalid(errorValue(list), args[2])
		}
		return true
	}, nil
}

// parseLimit parses the arguments of a check that has a maximum: the maximum and the error detail.
func parseLimit(args []string) (maximum int, detail string, err error) {
	if len(args) != 2 {
		return 0, "", fmt.Errorf("expected a number and the error detail, received %q", args)
	}
	maximum, err = strconv.Atoi(args[0])
	return maximum, args[1], err
}

// makeAtMost returns a check that limits the number of items of a list. Unlike makeMaxItems, the error is of type Invalid with
// a detail from the arguments.
func makeAtMost(args []string) (check, error) {
	maximum, detail, err := parseLimit(args)
	return func(c *checker, list, _ document.Value) bool {
		if list.Len() > maximum {
			c.invalid(errorValue(list), detail)
		}
		return true
	}, err
}

// makeLongest returns a check that limits the length of a string. Unlike makeMaxLength, the error is of type Invalid with a
// detail from the arguments.
func makeLongest(args []string) (check, error) {
	maximum, detail, err := parseLimit(args)
	return func(c *checker, value, _ document.Value) bool {
		if len(value.Text()) > maximum {
			c.invalid(value.Text(), detail)
		}
		return true
	}, err
}

// makeStartsWith returns a check that requires that a string has a prefix. The arguments are the prefix and the supported
// value that the error shows.
func makeStartsWith(args []string) (check, error) {
	if len(args) != 2 {
		return nil, fmt.Errorf("expected a prefix and the supported value, received %q", args)
	}
	return func(c *checker, value, _ document.Value) bool {
		if !strings.HasPrefix(value.Text(), args[0]) {
			c.unsupported(value.Text(), args[1:])
		}
		return true
	}, nil
}

// whitespaceChecks returns the factories of the checks of whitespace in strings.
func whitespaceChecks() map[string]checkFactory {
	isBlank := func(v document.Value) bool { return strings.TrimSpace(v.Text()) == "" }
	return map[string]checkFactory{
		"not-blank": newDetailCheck("", func(c *checker, v document.Value, detail string) bool {
			if isBlank(v) {
				c.required(detail)
				return false
			}
			return true
		}),
		"not-only-whitespace": newDetailCheck("", func(c *checker, v document.Value, detail string) bool {
			if v.Text() != "" && isBlank(v) {
				c.invalid(v.Text(), detail)
				return false
			}
			return true
		}),
		"one-line": newDetailCheck("", func(c *checker, v document.Value, detail string) bool {
			if strings.ContainsAny(strings.TrimSpace(v.Text()), "\n\r") {
				c.invalid(v.Text(), detail)
			}
			return true
		}),
	}
}
