package fieldset

import (
	"fmt"
	"strconv"
	"strings"
)

// SyntaxError is the error for a path or set that can't be parsed.
type SyntaxError struct {
	// What is the kind of the text: "field set", or "path" and the path.
	What string
	// At is the byte offset of the problem.
	At int
	// Err has the expected and the received input.
	Err error
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("%s: at byte %d: %v", e.What, e.At, e.Err) }

// Unwrap returns Err.
func (e *SyntaxError) Unwrap() error { return e.Err }

// shorten quotes text for an error message, truncated to limit the size of errors for hostile input.
func shorten(s string) string {
	const maxShown = 100
	if len(s) <= maxShown {
		return strconv.Quote(s)
	}
	return strconv.Quote(strings.ToValidUTF8(s[:maxShown], "")) + "…"
}
