package document

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// SyntaxError is the error for text that can't be parsed.
type SyntaxError struct {
	// Line and Column count from 1; Column counts characters.
	Line, Column int
	// Path is the position in the document, such as .spec.containers[2].image; it is empty at the root.
	Path string
	// Problem has the expected and the received input.
	Problem string

	first lineColumn // position of the first of two duplicate fields; zero for other problems
}

// lineColumn is a position in a text; line and column count from 1.
type lineColumn struct{ line, column int }

// duplicateField returns the error for a field that occurs twice.
func duplicateField(first, second lineColumn, name string) *SyntaxError {
	e := &SyntaxError{Line: second.line, Column: second.column, first: first}
	e.addLines(0)
	return e.prefixPath("." + name)
}

// addLines adds to the line numbers of an error, for a document that is a part of a larger text.
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

// displayPath returns the path, with its middle left out if it is very long.
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
}

const (
	// DefaultMaxBytes is the request size limit of kube-apiserver.
	DefaultMaxBytes = 3 << 20
	// DefaultMaxDepth is far beyond any real object, and recursion to this depth is safe.
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

// checkSize returns an error if the text is larger than the limit.
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

// position converts an offset to a line and a column.
func position(text string, offset int) lineColumn {
	before := text[:min(offset, len(text))]
	return lineColumn{
		line:   1 + strings.Count(before, "\n"),
		column: 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]),
	}
}

// errorAt returns an error at offset i.
func (p *parser) errorAt(i int, format string, args ...any) *SyntaxError {
	at := position(p.text, i)
	return &SyntaxError{Line: at.line, Column: at.column, Problem: fmt.Sprintf(format, args...)}
}

// prefixPath prepends a path element to the error's path, while the parser unwinds.
func (e *SyntaxError) prefixPath(element string) *SyntaxError {
	if len(element) > maxErrorPath {
		element = strings.ToValidUTF8(element[:maxErrorPath], "") + "…"
	}
	if len(e.Path) < maxErrorPath {
		e.Path = element + e.Path
	}
	return e
}

// maxErrorPath limits the size of errors for hostile nesting and names.
const maxErrorPath = 1000

// tokenAt returns the text at i up to the next delimiter.
func (p *parser) tokenAt(i int) string {
	token := p.text[i:]
	if end := strings.IndexAny(token, " \t\r\n,:[]{}\""); end >= 0 {
		token = token[:end]
	}
	return shorten(token)
}

// describeAt describes the character at i for an error message.
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
