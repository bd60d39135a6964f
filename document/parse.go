package document

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/cadastre/cadastre/internal/lib/access"
	"github.com/cadastre/cadastre/internal/lib/scan"
)

// parser is a recursive-descent parser of JSON. Its state:
//
//	stack        the fields and items of the containers that are still open; they move
//	             to nodes, as one contiguous range, when their container closes
//	nodes        the fields and items of the containers that are closed
//	extra        the contents of the strings that had escapes
//	deviations   the number of deviations from canonical JSON so far; a container is
//	             canonical if the number did not grow between its start and its end
//
// Parsers are pooled, and stack, nodes and extra are scratch memory: a finished document gets copies of the right size.
// With a reusableParser the nodes are assembled in the memory of that parser and are not copied. The methods that parse
// strings and sort names are in string.go.
type parser struct {
	text       string
	depth      int
	deviations int
	stack      []node
	nodes      []node
	extra      []byte
	limits     Limits
	skip       skipPath
	base       baseCursor
}

// Text is the input of a parser. A document keeps a reference to a string but copies a byte slice, so passing a string
// saves the copy.
type Text interface{ string | []byte }

// ParseJSON parses one JSON document with the default limits.
func ParseJSON[T Text](text T) (Value, error) { return ParseJSONLimited(text, Limits{}) }

// ParseJSONLimited parses one JSON document with the given limits.
func ParseJSONLimited[T Text](text T, limits Limits) (Value, error) {
	return parseJSON(nil, string(text), limits, nil, Value{})
}

// parseJSON parses one JSON document. If reuse is nil, the document gets memory of its own. Containers at unparsedPath
// stay unparsed; unchanged containers are shared with base, which may be absent.
func parseJSON(reuse *reusableParser, text string, limits Limits, unparsedPath []string, base Value) (Value, error) {
	limits = limits.withDefaults()
	if err := limits.checkSize(len(text)); err != nil {
		return Value{}, err
	}
	p := newParser(text, limits)
	defer p.release()
	if reuse != nil {
		defer func(scratch []node) { p.nodes = scratch }(p.nodes)
		p.nodes = reuse.spareNodes()
	}
	p.skip = newSkipPath(unparsedPath)
	p.base = newBaseCursor(base)
	v, end, err := p.parseFirst(reuse)
	if err != nil {
		return Value{}, err
	}
	if end = skipSpace(p.text, end); end < len(p.text) {
		return Value{}, p.errorAt(end, "expected the end of the document, received %s", p.describeAt(end))
	}
	return v, nil
}

// parseFirst parses the value at the start of the text and returns end, the offset after the value; more text may
// follow.
func (p *parser) parseFirst(reuse *reusableParser) (v Value, end int, err *SyntaxError) {
	start := skipSpace(p.text, 0)
	p.push().pos = uint32(start)
	if end, err = p.value(0, start); err != nil {
		return Value{}, 0, err
	}
	p.nodes = append(p.nodes, p.stack[0])
	d := reuse.newDoc()
	d.text, d.extra, d.nodes, d.shared = p.text, string(p.extra), reuse.keepNodes(p.nodes), p.base.shared
	return Value{d, uint32(len(d.nodes) - 1)}, end, nil
}

var parsers = sync.Pool{New: func() any { return new(parser) }}

func newParser(text string, limits Limits) *parser {
	p := parsers.Get().(*parser)
	p.text, p.limits = text, limits
	p.skip = newSkipPath(nil)
	p.base = newBaseCursor(Value{})
	return p
}

// maxScratch is the maximum capacity, in nodes or bytes, of scratch memory that a pooled parser keeps for the next
// text.
const maxScratch = 1 << 18

// release returns the parser to the pool, without references to the parsed document.
func (p *parser) release() {
	if cap(p.stack) > maxScratch || cap(p.nodes) > maxScratch || cap(p.extra) > maxScratch {
		return
	}
	*p = parser{stack: p.stack[:0], nodes: p.nodes[:0], extra: p.extra[:0]}
	parsers.Put(p)
}

// value parses the value that starts at offset i into p.stack[slot], whose position and name are already set. Like all
// parsing methods it returns the offset after the value.
func (p *parser) value(slot, i int) (end int, err *SyntaxError) {
	s := p.text
	if i >= len(s) {
		return i, p.errorAt(i, "expected a value, received the end of the document")
	}
	switch c := s[i]; c {
	case '"':
		end = scan.PlainEnd(s, i+1)
		if end >= len(s) || s[end] != '"' {
			return p.slowValue(slot, i, end)
		}
		p.setSpan(slot, String, i+1, end).form |= plain
		return end + 1, nil
	case '{':
		return p.mapValue(slot, i)
	case '[':
		return p.listValue(slot, i)
	case 't':
		return p.literal(slot, i, Bool, "true")
	case 'f':
		return p.literal(slot, i, Bool, "false")
	case 'n':
		return p.literal(slot, i, Null, "null")
	default:
		if c != '-' && (c < '0' || c > '9') {
			return i, p.errorAt(i, "expected a value, received %s", p.describeAt(i))
		}
		return p.number(slot, i)
	}
}

func (p *parser) literal(slot, i int, kind Kind, spelling string) (end int, err *SyntaxError) {
	if !strings.HasPrefix(p.text[i:], spelling) {
		return i, p.errorAt(i, "expected %s, received %q", spelling, p.tokenAt(i))
	}
	end = i + len(spelling)
	p.setSpan(slot, kind, i, end)
	return end, nil
}

func (p *parser) number(slot, i int) (end int, err *SyntaxError) {
	if end = scanNumber(p.text, i); end == i {
		return i, p.errorAt(i, "expected a number, received %q", p.tokenAt(i))
	}
	if p.limits.FiniteNumbers && !isFinite(p.text[i:end]) {
		err = p.errorAt(i, "%s", rangeProblem(p.text[i:end]))
		err.cause = ErrNumberRange
		return i, err
	}
	p.setSpan(slot, Number, i, end)
	return end, nil
}

// isFinite reports whether a JSON number is in the range of float64. A number that is too small counts as 0.
func isFinite(literal string) bool {
	const (
		shortestInfinite = len("1e309")
		maxFiniteDigits  = 308 // of numbers without exponent
	)
	if len(literal) < shortestInfinite || len(literal) <= maxFiniteDigits && !strings.ContainsAny(literal, "eE") {
		return true
	}
	_, err := strconv.ParseFloat(literal, 64)
	return err == nil
}

// rangeProblem describes a number that is not finite.
func rangeProblem(literal string) string {
	return "expected a number in the range of float64, received " + shorten(literal)
}

// push adds an empty node to the stack and returns it. It does not use append, which would also store the unchanged
// slice pointer and thereby cost a write barrier.
func (p *parser) push() *node {
	if len(p.stack) == cap(p.stack) {
		p.stack = slices.Grow(p.stack, 64)
	}
	p.stack = p.stack[:len(p.stack)+1]
	n := &p.stack[len(p.stack)-1]
	*n = node{}
	return n
}

// setSpan sets the kind of the node at slot and its span in the text.
func (p *parser) setSpan(slot int, kind Kind, start, end int) *node {
	n := &p.stack[slot]
	n.kind = kind
	n.text, n.size = uint32(start), uint32(end-start)
	return n
}

func (p *parser) listValue(slot, start int) (i int, err *SyntaxError) {
	mark, deviations := len(p.stack), p.deviations
	if i, err = p.open(start); err != nil {
		return i, err
	}
	if byteAt(p.text, i) == ']' {
		i++
	} else if i, err = p.items(mark, i); err != nil {
		return i, err
	}
	p.close(slot, List, start, i, mark, deviations)
	return i, nil
}

func (p *parser) items(mark, i int) (end int, err *SyntaxError) {
	s := p.text
	for {
		slot := len(p.stack)
		p.push().pos = uint32(i)
		switch {
		case p.base.depth == p.depth:
			i, err = p.itemWithBase(slot, i, slot-mark)
		case p.skip.matched == p.depth-1:
			i, err = p.skippableValue(slot, i, access.AnyItem)
		default:
			i, err = p.value(slot, i)
		}
		if err != nil {
			return i, err.prefixPath("[" + strconv.Itoa(slot-mark) + "]")
		}
		if byteAt(s, i) <= ' ' {
			i = p.skipInsignificantSpace(i)
		}
		switch byteAt(s, i) {
		case ',':
			if i++; byteAt(s, i) <= ' ' {
				i = p.skipInsignificantSpace(i)
			}
		case ']':
			return i + 1, nil
		default:
			return i, p.errorAt(i, "expected , or ] after a list item, received %s", p.describeAt(i)).prefixPath("[" + strconv.Itoa(slot-mark) + "]")
		}
	}
}

func (p *parser) mapValue(slot, start int) (i int, err *SyntaxError) {
	mark, deviations := len(p.stack), p.deviations
	if byteAt(p.text, start+1) == '}' && p.depth < p.limits.MaxDepth {
		p.setSpan(slot, Map, start, start+2).form |= canonical // {} is frequent in field sets
		return start + 2, nil
	}
	if i, err = p.open(start); err != nil {
		return i, err
	}
	if byteAt(p.text, i) == '}' {
		i++
	} else if i, err = p.fields(mark, i); err != nil {
		return i, err
	}
	p.close(slot, Map, start, i, mark, deviations)
	return i, nil
}

// fields parses the fields of a map and its closing brace, and sorts the fields.
func (p *parser) fields(mark, i int) (end int, err *SyntaxError) {
	s := p.text
	sorted := true
	last, key := uint64(0), uint64(0)
	for slot := mark; ; slot++ {
		if i, key, err = p.field(slot, i); err != nil {
			return i, err
		}
		if (key <= last || key == noKey) && slot > mark && !p.nameLess(&p.stack[slot-1], &p.stack[slot]) {
			sorted = false
		}
		last = key
		if byteAt(s, i) <= ' ' {
			i = p.skipInsignificantSpace(i)
		}
		switch byteAt(s, i) {
		case ',':
			if i++; byteAt(s, i) <= ' ' {
				i = p.skipInsignificantSpace(i)
			}
		case '}':
			if !sorted {
				p.deviations++
				err = p.sortFields(p.stack[mark:])
			}
			return i + 1, err
		default:
			return i, p.errorAt(i, "expected , or } after a field, received %s", p.describeAt(i)).prefixPath("." + p.name(slot))
		}
	}
}

// field parses one field, pushes it onto the stack, and returns the sort key of its name; see scanName.
func (p *parser) field(slot, start int) (i int, key uint64, err *SyntaxError) {
	s := p.text
	if byteAt(s, start) != '"' {
		return start, 0, p.errorAt(start, "expected a field name in quotes, received %s", p.describeAt(start))
	}
	i, key = scanName(s, start+1)
	n := p.push()
	n.name, n.nameSize, n.pos = uint32(start+1), uint32(i-start-1), uint32(start)
	if i+1 < len(s) && s[i] == '"' && s[i+1] == ':' {
		i += 2
	} else {
		key = noKey
		if i, err = p.slowName(slot, start, i); err != nil {
			return i, 0, err
		}
	}
	if byteAt(s, i) <= ' ' {
		i = p.skipInsignificantSpace(i)
	}
	switch {
	case p.base.depth == p.depth && opensContainer(byteAt(s, i)): // scalars are never shared with the base
		i, err = p.fieldWithBase(slot, i)
	case p.skip.matched == p.depth-1:
		i, err = p.skippableValue(slot, i, p.name(slot))
	default:
		i, err = p.value(slot, i)
	}
	if err != nil {
		return i, 0, err.prefixPath("." + p.name(slot))
	}
	return i, key, nil
}

// opensContainer reports whether c is the first byte of a map or a list.
func opensContainer(c byte) bool { return c == '{' || c == '[' }

// open enters the container that starts at offset i and returns the offset of its first field or item. It returns an
// error beyond the maximum depth.
func (p *parser) open(i int) (inside int, err *SyntaxError) {
	if p.depth++; p.depth > p.limits.MaxDepth {
		return i, p.errorAt(i, "lists and maps are nested more than %d deep", p.limits.MaxDepth)
	}
	if i++; byteAt(p.text, i) <= ' ' {
		i = p.skipInsignificantSpace(i)
	}
	return i, nil
}

// close finishes the container at p.stack[slot]. Its fields or items are on the stack from index mark on and move to
// p.nodes; deviations is the value of p.deviations at the start of the container.
func (p *parser) close(slot int, kind Kind, start, end, mark, deviations int) {
	p.depth--
	count := len(p.stack) - mark
	n := p.setSpan(slot, kind, start, end)
	n.first, n.count = uint32(len(p.nodes)), uint32(count)
	if p.deviations == deviations {
		n.form |= canonical
	}
	if cap(p.nodes)-len(p.nodes) < count {
		p.nodes = slices.Grow(p.nodes, count+64)
	}
	p.nodes = p.nodes[:len(p.nodes)+count]
	copy(p.nodes[len(p.nodes)-count:], p.stack[mark:])
	p.stack = p.stack[:mark]
}

// skipInsignificantSpace skips the white space at offset i and counts it as a deviation from canonical JSON. It must
// only be called if i is at white space or at the end of the text.
func (p *parser) skipInsignificantSpace(i int) int {
	p.deviations++
	return skipSpace(p.text, i)
}
