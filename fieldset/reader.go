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

// The reader of FieldsV1 is a recursive descent over the text. Nodes of levels that
// are still open wait on the stack; they move to the arena, next to each other,
// when their level closes. Names that are spelled as Kubernetes spells nearly all
// of them become elements in one pass and without a copy (element); all others
// are decoded.
//
//	high <= cap(stack)    no more of the stack was used by levels that are closed
type reader struct {
	text   string
	pos    int
	depth  int
	stack  []node
	high   int
	arena  []node
	pooled *[]node // where the stack came from
}

// ParseFieldsV1 decodes a set. Elements with unknown prefixes are ignored; elements with malformed values, and text
// that is not nested JSON objects, are errors of type [*SyntaxError]. The set keeps the text alive.
func ParseFieldsV1(text string) (Set, error) {
	pooled := stacks.Get().(*[]node)
	r := reader{text: text, stack: *pooled, arena: make([]node, estimate(text)), pooled: pooled}
	defer r.release()
	r.space()
	kids, _, err := r.level()
	if r.space(); err == nil && r.pos < len(text) {
		err = r.errorf("expected the end, received %q", text[r.pos])
	}
	if err != nil {
		return Set{}, err
	}
	return Set{kids}, nil
}

// maxDepth is how deep a set may nest, in Kubernetes as well.
const maxDepth = 10_000

var stacks = sync.Pool{New: func() any { s := make([]node, 0, 64); return &s }}

// release gives the stack back, emptied so that it keeps no set alive.
func (r *reader) release() {
	if cap(r.stack) > 1<<14 {
		return
	}
	r.high = max(r.high, len(r.stack)) // an error leaves levels open
	clear(r.stack[:r.high])
	*r.pooled = r.stack[:0]
	stacks.Put(r.pooled)
}

// estimate guesses how many nodes a text has. There is a brace for each, but also
// for each "." and in each key. Braces in names make the guess too large, so that
// it is bounded by what is usual.
func estimate(text string) int {
	return min(strings.Count(text, "{")*3/4, len(text)/16+4)
}

// level reads one JSON object, or null in place of an empty one. It returns the
// nodes and whether the element above is a member.
func (r *reader) level() (kids []node, member bool, err error) {
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
	for more := !r.at('}'); more; {
		isDot, err := r.entry()
		if err != nil {
			return nil, false, err
		}
		member = member || isDot
		r.space()
		if more = r.at(','); more {
			r.space()
		} else if err := r.expect('}'); err != nil {
			return nil, false, err
		}
	}
	r.depth--
	kids = r.settle(mark)
	return kids, member || len(kids) == 0, nil
}

// entry reads a name and what it stands for. It tells whether that is ".".
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
	} else if n.kids, n.member, err = r.level(); err != nil {
		return false, err
	}
	r.stack = append(r.stack, n)
	return false, nil
}

// settle moves the level that starts at mark from the stack to the arena.
func (r *reader) settle(mark int) []node {
	r.high = max(r.high, len(r.stack))
	level := r.stack[mark:]
	r.stack = r.stack[:mark]
	if len(level) == 0 {
		return nil
	}
	if !ascending(level) {
		level = tidy(level)
	}
	if len(r.arena) < len(level) {
		r.arena = make([]node, max(len(level), estimate(r.text[r.pos:]), 8))
	}
	kids := r.arena[:len(level):len(level)]
	r.arena = r.arena[len(level):]
	copy(kids, level)
	return kids
}

func ascending(level []node) bool {
	for i := 1; i < len(level); i++ {
		if level[i-1].compare(&level[i]) >= 0 {
			return false
		}
	}
	return true
}

// tidy puts a level in order. An element that comes twice is a member if either
// is; what is below the later one counts.
func tidy(level []node) []node {
	slices.SortStableFunc(level, compareNodes)
	last := 0
	for _, n := range level[1:] {
		if n.element() != level[last].element() {
			last++
			level[last] = n
			continue
		}
		level[last].member = level[last].member || n.member
		if len(n.kids) > 0 {
			level[last].kids = n.kids
		}
	}
	return level[:last+1]
}

// skip steps over a value that does not matter, but must be JSON.
func (r *reader) skip() error {
	rest := r.text[r.pos:]
	if strings.HasPrefix(rest, "{}") {
		r.pos += 2
		return nil
	}
	value := rest[:extent(rest)]
	if !json.Valid([]byte(value)) {
		return r.errorf("expected a JSON value, received %s", shorten(value))
	}
	r.pos += len(value)
	return nil
}

// extent returns how far the value goes that s starts with, if it is JSON.
func extent(s string) int { return extentFrom(s, 0) }

// extentFrom returns how far a value goes of which s is the rest, from inside of a number of
// maps and lists.
func extentFrom(s string, depth int) int {
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

// closingQuote returns the place of the quote that ends the string whose content
// starts at i; the end of s or beyond if there is none.
func closingQuote(s string, i int) int {
	for i = scan.Ordinary(s, i); i < len(s) && s[i] != '"'; i = scan.Ordinary(s, i+1) {
		if s[i] == '\\' {
			i++
		}
	}
	return i
}

// at steps over c if it is next.
func (r *reader) at(c byte) bool {
	if r.pos < len(r.text) && r.text[r.pos] == c {
		r.pos++
		return true
	}
	return false
}

func (r *reader) expect(c byte) error {
	if r.at(c) {
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

// space skips white space, of which there is hardly ever any.
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

// This file makes elements of the names in FieldsV1. An element's text is the
// spelling that Kubernetes writes; a name that is surely spelled so already is
// taken as it stands.

// dot stands for the name "." that makes the element above a member. Like what an
// unknown prefix stands for, it is of no kind.
var dot = Element{text: "."}

// element reads a name. An unknown prefix gives the zero Element.
func (r *reader) element() (Element, error) {
	s, pos := r.text, r.pos
	if len(s)-pos < len(`"f:"`) || s[pos] != '"' {
		return r.decodedElement()
	}
	kind, start, end := ElementKind(0), pos+len(`"f:`), 0
	switch s[pos+1 : start] {
	case "f:":
		kind, end = FieldName, scan.Ordinary(s, start)
	case "k:":
		kind, end = Key, skipUsualKey(s, start)
	case "v:":
		kind, end = SetValue, skipUsualString(s, start)
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

// decodedElement reads a name whatever its spelling.
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

// skipUsualString returns the end of the string that starts at i, without escapes
// but for its quotes: \"app\". If there is no such string it returns len(s).
func skipUsualString(s string, i int) int {
	if len(s)-i < len(`\"\"`) || s[i] != '\\' || s[i+1] != '"' {
		return len(s)
	}
	i = scan.Ordinary(s, i+2)
	if len(s)-i < 2 || s[i] != '\\' || s[i+1] != '"' {
		return len(s)
	}
	return i + 2
}

// skipUsualInteger does the same for an integer that is not negative, has no
// leading zero and is small enough that Kubernetes keeps its digits.
func skipUsualInteger(s string, i int) int {
	end := skipDigits(s, i)
	if size := end - i; size == 0 || size > 15 || size > 1 && s[i] == '0' {
		return len(s)
	}
	return end
}

// skipUsualKey does the same for an object whose names are in order, whose strings
// have no escapes, and whose other values are integers.
func skipUsualKey(s string, i int) int {
	if i >= len(s) || s[i] != '{' {
		return len(s)
	}
	last := ""
	for {
		start := i + 1 // behind the brace or the comma
		i = skipUsualString(s, start)
		if i >= len(s) || s[i] != ':' {
			return len(s)
		}
		name := s[start:i]
		if last != "" && compareUsualStrings(last, name) >= 0 {
			return len(s)
		}
		last = name
		if i++; i < len(s) && s[i] == '\\' {
			i = skipUsualString(s, i)
		} else {
			i = skipUsualInteger(s, i)
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
