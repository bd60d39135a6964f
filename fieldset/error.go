package fieldset

import (
	"fmt"
	"strconv"
	"strings"
)

// SyntaxError says where and why a path or a set could not be read.
type SyntaxError struct {
	// What was to be read: a field set, or a path, with its text.
	What string
	// At is where the problem is, in bytes from 0.
	At int
	// Err says what was expected and what was received.
	Err error
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("%s: at byte %d: %v", e.What, e.At, e.Err) }

// Unwrap returns the error without the place.
func (e *SyntaxError) Unwrap() error { return e.Err }

// shorten quotes what was received, so that hostile input makes no huge errors.
func shorten(s string) string {
	const most = 100
	if len(s) <= most {
		return strconv.Quote(s)
	}
	return strconv.Quote(strings.ToValidUTF8(s[:most], "")) + "…"
}
