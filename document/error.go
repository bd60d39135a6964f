package document

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// SyntaxError is the error of the JSON and YAML parsers for text that is malformed or exceeds a limit.
type SyntaxError struct {
	// Line and Column count from 1; Column counts characters.
	Line, Column int
	// Path is the position in the document, such as .spec.containers[2].image; it is empty at the root.
	Path string
	// Problem describes the expected and the received input.
	Problem string

	first lineColumn // position of the first of two duplicate fields; zero for other problems
	cause error      // ErrNumberRange, or nil for other problems
}

// lineColumn is a position in a text; line and column count from 1.
type lineColumn struct{ line, column int }

// duplicateField returns the error for a field name that occurs twice in one map; the error is reported at the second
// occurrence.
func duplicateField(first, second lineColumn, name string) *SyntaxError {
	e := &SyntaxError{Line: second.line, Column: second.column, first: first}
	e.addLines(0)
	return e.prefixPath("." + name)
}

// addLines adds lines to the line numbers of an error in a document that is a part of a larger text.
func (e *SyntaxError) addLines(lines int) {
	e.Line += lines
	if e.first.line > 0 {
		e.first.line += lines
		e.Problem = fmt.Sprintf("the field occurs twice in one map, first on line %d, column %d; remove one of them",
			e.first.line, e.first.column)
	}
}

func (e *SyntaxError) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Problem)
	}
	return fmt.Sprintf("line %d, column %d: %s: %s", e.Line, e.Column, e.displayPath(), e.Problem)
}

// Unwrap returns ErrNumberRange for a number that Limits.FiniteNumbers rejects, and nil for other problems.
func (e *SyntaxError) Unwrap() error { return e.cause }

// displayPath returns the path for the error message; the middle of a very long path is left out.
func (e *SyntaxError) displayPath() string {
	const maxShown = 400
	if len(e.Path) <= maxShown {
		return e.Path
	}
	start, end := e.Path[:maxShown/2], e.Path[len(e.Path)-maxShown/2:]
	return strings.ToValidUTF8(start, "") + "…" + strings.ToValidUTF8(end, "")
}

// Limits bounds the input of a parser. The zero value means the defaults.
type Limits struct {
	// MaxBytes is the maximum size of one document; 0 means DefaultMaxBytes, a negative number means no limit.
	MaxBytes int
	// MaxDepth is the maximum nesting of lists and maps. 0 and values above DefaultMaxDepth mean DefaultMaxDepth.
	MaxDepth int
	// FiniteNumbers rejects numbers outside of the range of float64, such as 1e400, with ErrNumberRange. Most JSON clients
	// cannot decode them.
	FiniteNumbers bool
}

// ErrNumberRange is wrapped by the SyntaxError for a number outside of the range of float64; see Limits.FiniteNumbers.
var ErrNumberRange = errors.New("number outside of the range of float64")

const (
	// DefaultMaxBytes is the default size limit of a document, which is the request size limit of kube-apiserver.
	DefaultMaxBytes = 3 << 20
	// DefaultMaxDepth is the default and the maximum of Limits.MaxDepth. No real object nests this deep, and the
	// recursion of the parser is safe up to this depth.
	DefaultMaxDepth = 10_000 - unparsedDepth
)

func (l Limits) withDefaults() Limits {
	if l.MaxBytes == 0 {
		l.MaxBytes = DefaultMaxBytes
	}
	if l.MaxDepth <= 0 || l.MaxDepth > DefaultMaxDepth {
		l.MaxDepth = DefaultMaxDepth
	}
	return l
}

// checkSize returns an error if size, the length of a text in bytes, exceeds MaxBytes or the 4 GiB that nodes can
// address.
func (l Limits) checkSize(size int) error {
	if l.MaxBytes >= 0 && size > l.MaxBytes {
		return &SyntaxError{Line: 1, Column: 1, Problem: fmt.Sprintf(
			"the document has %d bytes, more than the limit of %d; split it or raise the limit", size, l.MaxBytes)}
	}
	if uint64(size) > 1<<32-1 {
		return &SyntaxError{Line: 1, Column: 1, Problem: "the document has 4 GiB or more; split it"}
	}
	return nil
}

// position converts a byte offset in a text to a line and a column.
func position(text string, offset int) lineColumn {
	before := text[:min(offset, len(text))]
	return lineColumn{
		line:   1 + strings.Count(before, "\n"),
		column: 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]),
	}
}

// errorAt returns a SyntaxError at byte offset i of the text; callers add its path with prefixPath.
func (p *parser) errorAt(i int, format string, args ...any) *SyntaxError {
	at := position(p.text, i)
	return &SyntaxError{Line: at.line, Column: at.column, Problem: fmt.Sprintf(format, args...)}
}

// prefixPath prepends a path element to the error's path. Each open container calls it while the parser returns from
// the recursion.
func (e *SyntaxError) prefixPath(element string) *SyntaxError {
	if len(element) > maxErrorPath {
		element = strings.ToValidUTF8(element[:maxErrorPath], "") + "…"
	}
	if len(e.Path) < maxErrorPath {
		e.Path = element + e.Path
	}
	return e
}

// maxErrorPath is the approximate maximum size, in bytes, of an error's path, which deep nesting and long names could
// make as large as the document.
const maxErrorPath = 1000

// tokenAt returns the text from offset i until before the next delimiter, shortened for an error message.
func (p *parser) tokenAt(i int) string {
	token := p.text[i:]
	if end := strings.IndexAny(token, " \t\r\n,:[]{}\""); end >= 0 {
		token = token[:end]
	}
	return shorten(token)
}

// describeAt describes the character at offset i for an error message.
func (p *parser) describeAt(i int) string {
	if i >= len(p.text) {
		return "the end of the document"
	}
	r, size := utf8.DecodeRuneInString(p.text[i:])
	if r == utf8.RuneError && size <= 1 {
		return fmt.Sprintf("the byte 0x%02x", p.text[i])
	}
	return strconv.QuoteRune(r)
}
