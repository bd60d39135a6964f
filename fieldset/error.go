package fieldset

import (
	"fmt"
	"strconv"
	"strings"
)

// SyntaxError is the error of ParseFieldsV1 and ParsePath for text that can't be parsed.
type SyntaxError struct {
	// What names the text in the error message: "field set", or "path" followed by the quoted path.
	What string
	// At is the byte offset of the problem in the text.
	At int
	// Err describes the expected and the received input.
	Err error
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("%s: at byte %d: %v", e.What, e.At, e.Err) }

// Unwrap returns Err.
func (e *SyntaxError) Unwrap() error { return e.Err }

// shorten quotes a text for an error message. It truncates the text, so that hostile input does not cause large errors.
func shorten(s string) string {
	const maxShown = 100
	if len(s) <= maxShown {
		return strconv.Quote(s)
	}
	return strconv.Quote(strings.ToValidUTF8(s[:maxShown], "")) + "…"
}
