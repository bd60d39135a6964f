package builtin

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// makeAlone refuses a text in a list that has others: * says all there is to say.
func makeAlone(args []string) (check, error) {
	if len(args) != 2 {
		return nil, fmt.Errorf("expected a text and the words for what is wrong, received %q", args)
	}
	return func(c *checker, list, _ document.Value) bool {
		if list.Len() > 1 && c.first(list, "", args[0], false) >= 0 {
			c.invalid(shown(list), args[1])
		}
		return true
	}, nil
}

// makeNotBoth refuses a list that has two texts.
func makeNotBoth(args []string) (check, error) {
	if len(args) != 3 {
		return nil, fmt.Errorf("expected two texts and the words for what is wrong, received %q", args)
	}
	return func(c *checker, list, _ document.Value) bool {
		if c.first(list, "", args[0], false) >= 0 && c.first(list, "", args[1], false) >= 0 {
			c.invalid(shown(list), args[2])
		}
		return true
	}, nil
}

// numberAndWords reads the arguments of a bound that has words of its own.
func numberAndWords(args []string) (n int, words string, err error) {
	if len(args) != 2 {
		return 0, "", fmt.Errorf("expected a number and the words for what is wrong, received %q", args)
	}
	n, err = strconv.Atoi(args[0])
	return n, args[1], err
}

// makeAtMost refuses a list with more items. Unlike max-items it says so in words of its own.
func makeAtMost(args []string) (check, error) {
	most, words, err := numberAndWords(args)
	return func(c *checker, list, _ document.Value) bool {
		if list.Len() > most {
			c.invalid(shown(list), words)
		}
		return true
	}, err
}

// makeLongest refuses a text with more bytes. Unlike max-length it says so in words of its own.
func makeLongest(args []string) (check, error) {
	most, words, err := numberAndWords(args)
	return func(c *checker, now, _ document.Value) bool {
		if len(now.Text()) > most {
			c.invalid(now.Text(), words)
		}
		return true
	}, err
}

// makeStartsWith refuses a text with another beginning, and says what is supported.
func makeStartsWith(args []string) (check, error) {
	if len(args) != 2 {
		return nil, fmt.Errorf("expected a beginning and what is supported, received %q", args)
	}
	return func(c *checker, now, _ document.Value) bool {
		if !strings.HasPrefix(now.Text(), args[0]) {
			c.unsupported(now.Text(), args[1:])
		}
		return true
	}, nil
}

// blankChecks look at texts in which spaces count for nothing.
func blankChecks() map[string]maker {
	isBlank := func(v document.Value) bool { return strings.TrimSpace(v.Text()) == "" }
	return map[string]maker{
		"not-blank": detailed("", func(c *checker, v document.Value, detail string) bool {
			if isBlank(v) {
				c.required(detail)
				return false
			}
			return true
		}),
		"not-only-space": detailed("", func(c *checker, v document.Value, detail string) bool {
			if v.Text() != "" && isBlank(v) {
				c.invalid(v.Text(), detail)
				return false
			}
			return true
		}),
		"one-line": detailed("", func(c *checker, v document.Value, detail string) bool {
			if strings.ContainsAny(strings.TrimSpace(v.Text()), "\n\r") {
				c.invalid(v.Text(), detail)
			}
			return true
		}),
	}
}
