package builtin

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// makeAlone requires that a list with the given string, such as *, has no other items.
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

// makeNotBoth rejects a list that has both of two strings.
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

// parseLimit parses the arguments of a limit with an error detail.
func parseLimit(args []string) (n int, words string, err error) {
	if len(args) != 2 {
		return 0, "", fmt.Errorf("expected a number and the error detail, received %q", args)
	}
	n, err = strconv.Atoi(args[0])
	return n, args[1], err
}

// makeAtMost limits the number of items. Unlike max-items, its error detail is an argument.
func makeAtMost(args []string) (check, error) {
	maximum, words, err := parseLimit(args)
	return func(c *checker, list, _ document.Value) bool {
		if list.Len() > maximum {
			c.invalid(errorValue(list), words)
		}
		return true
	}, err
}

// makeLongest limits the length of a string. Unlike max-length, its error detail is an argument.
func makeLongest(args []string) (check, error) {
	maximum, words, err := parseLimit(args)
	return func(c *checker, now, _ document.Value) bool {
		if len(now.Text()) > maximum {
			c.invalid(now.Text(), words)
		}
		return true
	}, err
}

// makeStartsWith requires a prefix; the error lists the supported values.
func makeStartsWith(args []string) (check, error) {
	if len(args) != 2 {
		return nil, fmt.Errorf("expected a prefix and the supported value, received %q", args)
	}
	return func(c *checker, now, _ document.Value) bool {
		if !strings.HasPrefix(now.Text(), args[0]) {
			c.unsupported(now.Text(), args[1:])
		}
		return true
	}, nil
}

// whitespaceChecks are the checks of whitespace in strings.
func whitespaceChecks() map[string]checkFactory {
	isBlank := func(v document.Value) bool { return strings.TrimSpace(v.Text()) == "" }
	return map[string]checkFactory{
		"not-blank": withDetail("", func(c *checker, v document.Value, detail string) bool {
			if isBlank(v) {
				c.required(detail)
				return false
			}
			return true
		}),
		"not-only-whitespace": withDetail("", func(c *checker, v document.Value, detail string) bool {
			if v.Text() != "" && isBlank(v) {
				c.invalid(v.Text(), detail)
				return false
			}
			return true
		}),
		"one-line": withDetail("", func(c *checker, v document.Value, detail string) bool {
			if strings.ContainsAny(strings.TrimSpace(v.Text()), "\n\r") {
				c.invalid(v.Text(), detail)
			}
			return true
		}),
	}
}
