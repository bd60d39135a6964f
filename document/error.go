package document

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// SyntaxError is returned for text that can't be parsed.
type SyntaxError struct {
	// Line and Column count from 1; Column counts characters.
	Line, Column int
	// Path is the position in the document, such as .spec.containers[2].image; it is empty at the root.
	Path string
	// Problem has the expected and the received text.
	Problem string

	first place // where the first of two fields stands, if that is the problem
}

// place is a line and a column, both from 1.
type place struct{ line, column int }

// twice makes the error about a field that occurs twice.
func twice(first, second place, name string) *SyntaxError {
	e := &SyntaxError{Line: second.line, Column: second.column, first: first}
	e.shift(0)
	return e.in("." + name)
}

// shift moves an error down, into the text that the document is a part of.
func (e *SyntaxError) shift(lines int) {
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
	return fmt.Sprintf("line %d, column %d: %s: %s", e.Line, e.Column, e.shownPath(), e.Problem)
}

// shownPath is the path, without its middle if it is very long.
func (e *SyntaxError) shownPath() string {
	const most = 400
	if len(e.Path) <= most {
		return e.Path
	}
	start, end := e.Path[:most/2], e.Path[len(e.Path)-most/2:]
	return strings.ToValidUTF8(start, "") + "…" + strings.ToValidUTF8(end, "")
}

// Limits bounds the input of a parser. The zero value means the defaults.
type Limits struct {
	// MaxBytes is the maximum size of one document; 0 means DefaultMaxBytes, a negative number means no limit.
	MaxBytes int
	// MaxDepth is the maximum nesting of lists and maps; 0 means DefaultMaxDepth, which is also the largest.
	MaxDepth int
}

const (
	// DefaultMaxBytes is the request size limit of kube-apiserver.
	DefaultMaxBytes = 3 << 20
	// DefaultMaxDepth is far beyond any real object and safe to recurse over.
	DefaultMaxDepth = 10_000 - sealedDepth
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

// checkSize refuses a text that is larger than the limit.
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

// position turns an offset into a line and a column.
func position(text string, offset int) place {
	before := text[:min(offset, len(text))]
	return place{
		line:   1 + strings.Count(before, "\n"),
		column: 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]),
	}
}

// errorAt makes an error about the place i.
func (p *parser) errorAt(i int, format string, args ...any) *SyntaxError {
	at := position(p.text, i)
	return &SyntaxError{Line: at.line, Column: at.column, Problem: fmt.Sprintf(format, args...)}
}

// in puts a path element before an error's path, on the way out of a container.
func (e *SyntaxError) in(element string) *SyntaxError {
	if len(element) > maxErrorPath {
		element = strings.ToValidUTF8(element[:maxErrorPath], "") + "…"
	}
	if len(e.Path) < maxErrorPath {
		e.Path = element + e.Path
	}
	return e
}

// maxErrorPath bounds what hostile nesting and names can make an error cost.
const maxErrorPath = 1000

// word returns what stands at i up to where another value could begin.
func (p *parser) word(i int) string {
	word := p.text[i:]
	if end := strings.IndexAny(word, " \t\r\n,:[]{}\""); end >= 0 {
		word = word[:end]
	}
	return shorten(word)
}

// received describes what stands at i.
func (p *parser) received(i int) string {
	if i >= len(p.text) {
		return "the end of the document"
	}
	r, size := utf8.DecodeRuneInString(p.text[i:])
	if r == utf8.RuneError && size <= 1 {
		return fmt.Sprintf("the byte 0x%02x", p.text[i])
	}
	return strconv.QuoteRune(r)
}
