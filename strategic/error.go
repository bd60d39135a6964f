package strategic

import (
	"errors"
	"strconv"
	"unicode/utf8"

	"github.com/cadastre/cadastre/document"
)

// Reason is the category of an [Error]. It determines the HTTP status with which Kubernetes responds.
type Reason uint8

// The reasons of errors.
const (
	// Malformed: the document is not a valid patch.
	Malformed Reason = iota
	// Unprocessable: the patch can't be applied to the object.
	Unprocessable
	// TooLarge: the patch exceeds a limit.
	TooLarge
	// TestFailed: a test operation of a JSON patch found another value.
	TestFailed
)

// Status returns the HTTP status code: 400 for Malformed, 422 for Unprocessable and TestFailed, 413 for
// TooLarge.
func (r Reason) Status() int {
	switch r {
	case Unprocessable, TestFailed:
		return 422
	case TooLarge:
		return 413
	}
	return 400
}

// Error is the error for a patch that can't be applied or computed.
type Error struct {
	Reason Reason
	// Path is the path in the patch, such as .spec.containers[name="web"].ports, or [2].path in a JSON patch. It is
	// empty at the root.
	Path string
	// Expected and Received describe the required and the actual content.
	Expected, Received string
	// Advice is the suggested correction. It is empty if Expected implies it.
	Advice string
}

func (e *Error) Error() string {
	text := "expected " + e.Expected + ", received " + e.Received
	if e.Path != "" {
		text = e.Path + ": " + text
	}
	if e.Advice != "" {
		text += "; " + e.Advice
	}
	return text
}

func malformed(expected, received, advice string) error {
	return &Error{Reason: Malformed, Expected: expected, Received: received, Advice: advice}
}

func unprocessable(expected, received, advice string) error {
	return &Error{Reason: Unprocessable, Expected: expected, Received: received, Advice: advice}
}

// maxPath is the approximate maximum length of the path in an error, which a hostile patch could otherwise make
// arbitrarily long.
const maxPath = 1000

// prefixPath prepends a path element (step) to the path of err. Paths are built while errors are returned, so they
// cost nothing for valid patches.
func prefixPath(err error, step string) error {
	var e *Error
	if errors.As(err, &e) && len(e.Path) < maxPath {
		e.Path = step + e.Path
	}
	return err
}

func prefixField(err error, name string) error { return prefixPath(err, "."+name) }

func prefixIndex(err error, i int) error { return prefixPath(err, indexStep(i)) }

func indexStep(i int) string { return "[" + strconv.Itoa(i) + "]" }

func keyStep(key string, value document.Value) string {
	return "[" + key + "=" + clip(value.JSON()) + "]"
}

// describe describes a received value for an error message: its kind, and the beginning of a scalar.
func describe(v document.Value) string {
	switch v.Kind() {
	case document.String:
		return "the string " + strconv.Quote(clip(v.Text()))
	case document.Number, document.Bool:
		return "the " + v.Kind().String() + " " + clip(v.JSON())
	case document.List, document.Map:
		return "a " + v.Kind().String()
	}
	return v.Kind().String()
}

// show returns the beginning of a value's JSON for an error message.
func show(v document.Value) string { return clip(v.JSON()) }

// clip truncates a text for an error message without splitting a character.
func clip(s string) string {
	const maxBytes = 120
	if len(s) <= maxBytes {
		return s
	}
	end := maxBytes
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}
