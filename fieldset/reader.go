package fieldset

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/lib/scan"
)

// reader is a recursive-descent parser of FieldsV1. The nodes of a JSON object ("level") that is still open are on the
// stack; when the level closes, they move to the arena as one contiguous range. A name in the spelling that Kubernetes
// usually writes becomes an element in one pass and without a copy (see element); other names are decoded.
//
//	highWater <= cap(stack)    the maximum length of the stack so far
type reader struct {
	text      string
	pos       int
	depth     int
	stack     []node
	highWater int
	arena     []node
	pooled    *[]node // the pool entry of stack
}

// ParseFieldsV1 parses the FieldsV1 of a managed fields entry. Elements with unknown prefixes are ignored. Elements
// with malformed values, and text that does not consist of nested JSON objects, are errors of type [*SyntaxError]. The
// set keeps the text in memory.
func ParseFieldsV1(text string) (Set, error) {
	pooled := stacks.Get().(*[]node)
	r := reader{text: text, stack: *pooled, arena: make([]node, estimateNodes(text)), pooled: pooled}
	defer r.release()
	r.space()
	children, _, err := r.level()
	if r.space(); err == nil && r.pos < len(text) {
		err = r.errorf("expected the end, received %q", text[r.pos])
	}
	if err != nil {
		return Set{}, err
	}
	return Set{children}, nil
}

// maxDepth is the maximum nesting depth of FieldsV1, the same as in Kubernetes.
const maxDepth = 10_000

var stacks = sync.Pool{New: func() any { s := make([]node, 0, 64); return &s }}

// release returns the stack to the pool after dropping its references to sets.
func (r *reader) release() {
	if cap(r.stack) > 1<<14 {
		return
	}
	r.highWater = max(r.highWater, len(r.stack)) // after an error, nodes of open levels are still on the stack
	clear(r.stack[:r.highWater])
	*r.pooled = r.stack[:0]
	stacks.Put(r.pooled)
}

// estimateNodes estimates the number of nodes of a FieldsV1 text by counting opening braces. Each node has one, but so
// does each "." and each key. Braces in names make the count too large, so it is limited by the length of the text.
func estimateNodes(text string) int {
	return min(strings.Count(text, "{")*3/4, len(text)/16+4)
}

// level parses one JSON object, which is the value of an element. It returns the nodes of the elements in the object as
// children, and whether the element with this value is a member. It reads null as {}.
func (r *reader) level() (children []node, member bool, err error) {
	if r.depth == maxDepth {
		return nil, false, r.errorf("nested more than %d deep", maxDepth)
	}
	if strings.HasPrefix(r.text[r.pos:], "null") {
		r.pos += len("null")
		return nil, true, nil
	}
	if err := r.expect('{'); err != nil {
		return nil, false, err
	}
	r.depth++
	r.space()
	mark := len(r.stack)
	for more := !r.accept('}'); more; {
		isDot, err := r.entry()
		if err != nil {
			return nil, false, err
		}
		member = member || isDot
		r.space()
		if more = r.accept(','); more {
			r.space()
		} else if err := r.expect('}'); err != nil {
			return nil, false, err
		}
	}
	r.depth--
	children = r.closeLevel(mark)
	return children, member || len(children) == 0, nil
}

// entry parses a name and its value, and pushes the node of the element onto the stack. It reports whether the name is
// ".".
func (r *reader) entry() (isDot bool, err error) {
	e, err := r.element()
	if err != nil {
		return false, err
	}
	r.space()
	if err := r.expect(':'); err != nil {
		return false, err
	}
	r.space()
	if e.kind == 0 {
		return e == dot, r.skip()
	}
	n := newNode(e, false, Set{})
	if r.depth < maxDepth && strings.HasPrefix(r.text[r.pos:], "{}") {
		r.pos += 2
		n.member = true
	} else if n.children, n.member, err = r.level(); err != nil {
		return false, err
	}
	r.stack = append(r.stack, n)
	return false, nil
}

// closeLevel moves the nodes of the innermost level, which start at index mark of the stack, to the arena, and returns
// them sorted.
func (r *reader) closeLevel(mark int) []node {
	r.highWater = max(r.highWater, len(r.stack))
	level := r.stack[mark:]
	r.stack = r.stack[:mark]
	if len(level) == 0 {
		return nil
	}
	if !isSorted(level) {
		level = sortAndMerge(level)
	}
	if len(r.arena) < len(level) {
		r.arena = make([]node, max(len(level), estimateNodes(r.text[r.pos:]), 8))
	}
	children := r.arena[:len(level):len(level)]
	r.arena = r.arena[len(level):]
	copy(children, level)
	return children
}

// isSorted reports whether the nodes are sorted and no element occurs twice.
func isSorted(level []node) bool {
	for i := 1; i < len(level); i++ {
		if level[i-1].compare(&level[i]) >= 0 {
			return false
		}
	}
	return true
}

// sortAndMerge sorts the nodes of a level and merges nodes with the same element: the merged node is a member if any of
// these nodes is a member, and its children are those of the last node with children.
func sortAndMerge(level []node) []node {
	slices.SortStableFunc(level, compareNodes)
	last := 0
	for _, n := range level[1:] {
		if n.element() != level[last].element() {
			last++
			level[last] = n
			continue
		}
		level[last].member = level[last].member || n.member
		if len(n.children) > 0 {
			level[last].children = n.children
		}
	}
	return level[:last+1]
}

// skip skips a value that has no meaning in a set, such as the value of ".". It returns an error if the value is not
// valid JSON.
func (r *reader) skip() error {
	rest := r.text[r.pos:]
	if strings.HasPrefix(rest, "{}") {
		r.pos += 2
		return nil
	}
	value := rest[:valueEnd(rest)]
	if !json.Valid([]byte(value)) {
		return r.errorf("expected a JSON value, received %s", shorten(value))
	}
	r.pos += len(value)
	return nil
}

// valueEnd returns the size in bytes of the JSON value at the start of s. It does not detect invalid JSON.
func valueEnd(s string) int { return valueEndFrom(s, 0) }

// valueEndFrom returns the size in bytes of the rest of a JSON value; s starts inside of depth nested maps and lists of
// that value.
func valueEndFrom(s string, depth int) int {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			if i = closingQuote(s, i+1); i >= len(s) {
				return len(s)
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
		case ',':
			if depth == 0 {
				return i
			}
		}
	}
	return len(s)
}

// closingQuote returns the offset of the quote that closes the string whose content starts at i, or an offset of at
// least len(s) if the string is not closed.
func closingQuote(s string, i int) int {
	for i = scan.PlainEnd(s, i); i < len(s) && s[i] != '"'; i = scan.PlainEnd(s, i+1) {
		if s[i] == '\\' {
			i++
		}
	}
	return i
}

// accept skips the next byte and returns true if that byte is c.
func (r *reader) accept(c byte) bool {
	if r.pos < len(r.text) && r.text[r.pos] == c {
		r.pos++
		return true
	}
	return false
}

func (r *reader) expect(c byte) error {
	if r.accept(c) {
		return nil
	}
	return r.expected(c)
}

func (r *reader) expected(c byte) error {
	if r.pos >= len(r.text) {
		return r.errorf("expected %q, received the end", c)
	}
	return r.errorf("expected %q, received %q", c, r.text[r.pos])
}

// space skips white space. It is small enough to be inlined, because FieldsV1 rarely contains any.
func (r *reader) space() {
	if r.pos < len(r.text) && r.text[r.pos] <= ' ' {
		r.skipSpace()
	}
}

func (r *reader) skipSpace() {
	for r.pos < len(r.text) && strings.IndexByte(" \t\r\n", r.text[r.pos]) >= 0 {
		r.pos++
	}
}

func (r *reader) errorf(format string, args ...any) error {
	return &SyntaxError{What: "field set", At: r.pos, Err: fmt.Errorf(format, args...)}
}

// The functions below convert names in FieldsV1 to elements. The text of an element is the spelling that Kubernetes
// writes. A name that already has this spelling is not copied.

// dot is the result of element for the name ".", which makes the parent element a member. It has no kind, like an
// element with an unknown prefix.
var dot = Element{text: "."}

// element parses a name in quotes. It returns dot for ".", and the zero Element for an unknown prefix.
func (r *reader) element() (Element, error) {
	s, pos := r.text, r.pos
	if len(s)-pos < len(`"f:"`) || s[pos] != '"' {
		return r.decodedElement()
	}
	kind, start, end := ElementKind(0), pos+len(`"f:`), 0
	switch s[pos+1 : start] {
	case "f:":
		kind, end = FieldName, scan.PlainEnd(s, start)
	case "k:":
		kind, end = Key, skipSimpleKey(s, start)
	case "v:":
		kind, end = SetValue, skipSimpleString(s, start)
	case `."`:
		r.pos = start
		return dot, nil
	}
	if kind == 0 || end >= len(s) || s[end] != '"' {
		return r.decodedElement()
	}
	r.pos = end + 1
	return Element{kind, s[start:end]}, nil
}

// decodedElement is the slow path of element: it decodes a name with any valid spelling.
func (r *reader) decodedElement() (Element, error) {
	if err := r.expect('"'); err != nil {
		return Element{}, err
	}
	start, end := r.pos, r.pos
	for end < len(r.text) && r.text[end] != '"' {
		if r.text[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(r.text) {
		return Element{}, r.errorf("expected a closing quote, received the end")
	}
	name, err := document.ParseJSON([]byte(r.text[start-1 : end+1]))
	if err != nil {
		return Element{}, r.errorf("expected a path element: %w", err)
	}
	if name.Text() == dot.text {
		r.pos = end + 1
		return dot, nil
	}
	e, err := ParseElement(name.Text())
	if err != nil {
		return Element{}, r.errorf("%w", err)
	}
	r.pos = end + 1
	return e, nil
}

func skipDigits(s string, i int) int {
	for i < len(s) && '0' <= s[i] && s[i] <= '9' {
		i++
	}
	return i
}

// skipSimpleString returns the end of the simple string at i, such as \"app\", or len(s) if there is no simple string.
// spelling.go defines the term.
func skipSimpleString(s string, i int) int {
	if len(s)-i < len(`\"\"`) || s[i] != '\\' || s[i+1] != '"' {
		return len(s)
	}
	i = scan.PlainEnd(s, i+2)
	if len(s)-i < 2 || s[i] != '\\' || s[i+1] != '"' {
		return len(s)
	}
	return i + 2
}

// skipSimpleInteger returns the end of the integer at i, or len(s) if there is none. It accepts non-negative integers
// without leading zeros and with at most 15 digits, which Kubernetes does not round.
func skipSimpleInteger(s string, i int) int {
	end := skipDigits(s, i)
	if size := end - i; size == 0 || size > 15 || size > 1 && s[i] == '0' {
		return len(s)
	}
	return end
}

// skipSimpleKey returns the end of the key object at i, or len(s) if the object is not simple. A simple object has
// sorted names, and its names and values are simple strings and simple integers.
func skipSimpleKey(s string, i int) int {
	if i >= len(s) || s[i] != '{' {
		return len(s)
	}
	last := ""
	for {
		start := i + 1 // the offset after the brace or the comma
		i = skipSimpleString(s, start)
		if i >= len(s) || s[i] != ':' {
			return len(s)
		}
		name := s[start:i]
		if last != "" && compareSimpleStrings(last, name) >= 0 {
			return len(s)
		}
		last = name
		if i++; i < len(s) && s[i] == '\\' {
			i = skipSimpleString(s, i)
		} else {
			i = skipSimpleInteger(s, i)
		}
		switch {
		case i >= len(s):
			return len(s)
		case s[i] == '}':
			return i + 1
		case s[i] != ',':
			return len(s)
		}
	}
}
