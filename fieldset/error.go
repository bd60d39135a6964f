package fieldset

import (
	"fmt"
	"strconv"
	"strings"
)

// SyntaxError is returned for a path or set that can't be parsed.
type SyntaxError struct {
	// What is the parsed text: "field set", or the path.
	What string
	// At is the byte offset of the problem.
	At int
	// Err has the expected and the received text.
	Err error
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("%s: at byte %d: %v", e.What, e.At, e.Err) }

// Unwrap returns Err.
func (e *SyntaxError) Unwrap() error { return e.Err }

// shorten quotes what was received, so that hostile input makes no huge errors.
func shorten(s string) string {
	const most = 100
	if len(s) <= most {
		return strconv.Quote(s)
	}
	return strconv.Quote(strings.ToValidUTF8(s[:most], "")) + "…"
}
