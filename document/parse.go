package document

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/cadastre/cadastre/internal/lib/access"
	"github.com/cadastre/cadastre/internal/lib/scan"
)

// The JSON reader is a recursive descent over the text. What it keeps:
//
//	stack    the fields and items of the containers that are still open; they move
//	         to nodes, next to each other, when their container closes
//	nodes    the fields and items of the containers that are closed
//	extra    the contents of the strings that had escapes
//	untidy   grows with everything that canonical JSON would write differently;
//	         a container during which it did not grow is canonical
//
// All of them are scratch memory that is used again and again; the document gets copies of
// the right size when all is read. With a memory the nodes are put together where they
// stay. string.go parses strings and sorts names.
type parser struct {
	text   string
	depth  int
	untidy int
	stack  []node
	nodes  []node
	extra  []byte
	limits Limits
	seal   seal
	beside beside
}

// Text is the input of a parser. A document keeps a string alive and copies bytes; passing a string saves the copy.
type Text interface{ string | []byte }

// ParseJSON parses one JSON document with the default limits.
func ParseJSON[T Text](text T) (Value, error) { return ParseJSONLimited(text, Limits{}) }

// ParseJSONLimited parses one JSON document.
func ParseJSONLimited[T Text](text T, limits Limits) (Value, error) {
	return parseJSON(nil, string(text), limits, nil, Value{})
}

func parseJSON(reader *memory, text string, limits Limits, sealed []string, other Value) (Value, error) {
	limits = limits.withDefaults()
	if err := limits.checkSize(len(text)); err != nil {
		return Value{}, err
	}
	p := newParser(text, limits)
	defer p.release()
	if reader != nil {
		defer func(scratch []node) { p.nodes = scratch }(p.nodes)
		p.nodes = reader.room()
	}
	p.seal = newSeal(sealed)
	p.beside = newBeside(other)
	v, end, err := p.first(reader)
	if err != nil {
		return Value{}, err
	}
	if end = skipSpace(p.text, end); end < len(p.text) {
		return Value{}, p.errorAt(end, "expected the end of the document, received %s", p.received(end))
	}
	return v, nil
}

// first reads the value that the text starts with.
func (p *parser) first(reader *memory) (v Value, end int, err *SyntaxError) {
	start := skipSpace(p.text, 0)
	p.push().pos = uint32(start)
	if end, err = p.value(0, start); err != nil {
		return Value{}, 0, err
	}
	p.nodes = append(p.nodes, p.stack[0])
	d := reader.newDoc()
	d.text, d.extra, d.nodes, d.shared = p.text, string(p.extra), reader.keep(p.nodes), p.beside.shared
	return Value{d, uint32(len(d.nodes) - 1)}, end, nil
}

var parsers = sync.Pool{New: func() any { return new(parser) }}

func newParser(text string, limits Limits) *parser {
	p := parsers.Get().(*parser)
	p.text, p.limits = text, limits
	p.seal = newSeal(nil)
	p.beside = newBeside(Value{})
	return p
}

// maxScratch is how many nodes of scratch memory are kept for the next text.
const maxScratch = 1 << 18

// release gives the parser back, so that it keeps no document alive.
func (p *parser) release() {
	if cap(p.stack) > maxScratch || cap(p.nodes) > maxScratch || cap(p.extra) > maxScratch {
		return
	}
	*p = parser{stack: p.stack[:0], nodes: p.nodes[:0], extra: p.extra[:0]}
	parsers.Put(p)
}

// value reads the value that starts at i to a place on the stack, where its
// position and name are already. Like all that reads, it returns where it ends.
func (p *parser) value(at, i int) (end int, err *SyntaxError) {
	s := p.text
	if i >= len(s) {
		return i, p.errorAt(i, "expected a value, received the end of the document")
	}
	switch c := s[i]; c {
	case '"':
		end = scan.Ordinary(s, i+1)
		if end >= len(s) || s[end] != '"' {
			return p.hardValue(at, i, end)
		}
		p.span(at, String, i+1, end).form |= plain
		return end + 1, nil
	case '{':
		return p.mapValue(at, i)
	case '[':
		return p.listValue(at, i)
	case 't':
		return p.literal(at, i, Bool, "true")
	case 'f':
		return p.literal(at, i, Bool, "false")
	case 'n':
		return p.literal(at, i, Null, "null")
	default:
		if c != '-' && (c < '0' || c > '9') {
			return i, p.errorAt(i, "expected a value, received %s", p.received(i))
		}
		return p.number(at, i)
	}
}

func (p *parser) literal(at, i int, kind Kind, spelling string) (end int, err *SyntaxError) {
	if !strings.HasPrefix(p.text[i:], spelling) {
		return i, p.errorAt(i, "expected %s, received %q", spelling, p.word(i))
	}
	end = i + len(spelling)
	p.span(at, kind, i, end)
	return end, nil
}

func (p *parser) number(at, i int) (end int, err *SyntaxError) {
	if end = scanNumber(p.text, i); end == i {
		return i, p.errorAt(i, "expected a number, received %q", p.word(i))
	}
	p.span(at, Number, i, end)
	return end, nil
}

// push makes room for a node on the stack. It is written without append, which
// would also store the pointer that does not change, at the price of a write
// barrier.
func (p *parser) push() *node {
	if len(p.stack) == cap(p.stack) {
		p.stack = slices.Grow(p.stack, 64)
	}
	p.stack = p.stack[:len(p.stack)+1]
	n := &p.stack[len(p.stack)-1]
	*n = node{}
	return n
}

// span notes which part of the text a value is.
func (p *parser) span(at int, kind Kind, start, end int) *node {
	n := &p.stack[at]
	n.kind = kind
	n.text, n.size = uint32(start), uint32(end-start)
	return n
}

func (p *parser) listValue(at, start int) (i int, err *SyntaxError) {
	mark, untidy := len(p.stack), p.untidy
	if i, err = p.open(start); err != nil {
		return i, err
	}
	if byteAt(p.text, i) == ']' {
		i++
	} else if i, err = p.items(mark, i); err != nil {
		return i, err
	}
	p.close(at, List, start, i, mark, untidy)
	return i, nil
}

func (p *parser) items(mark, i int) (end int, err *SyntaxError) {
	s := p.text
	for {
		at := len(p.stack)
		p.push().pos = uint32(i)
		switch {
		case p.beside.depth == p.depth:
			i, err = p.besideItem(at, i, at-mark)
		case p.seal.inside == p.depth-1:
			i, err = p.sealable(at, i, access.AnyItem)
		default:
			i, err = p.value(at, i)
		}
		if err != nil {
			return i, err.in("[" + strconv.Itoa(at-mark) + "]")
		}
		if byteAt(s, i) <= ' ' {
			i = p.untidySpace(i)
		}
		switch byteAt(s, i) {
		case ',':
			if i++; byteAt(s, i) <= ' ' {
				i = p.untidySpace(i)
			}
		case ']':
			return i + 1, nil
		default:
			return i, p.errorAt(i, "expected , or ] after a list item, received %s", p.received(i)).in("[" + strconv.Itoa(at-mark) + "]")
		}
	}
}

func (p *parser) mapValue(at, start int) (i int, err *SyntaxError) {
	mark, untidy := len(p.stack), p.untidy
	if byteAt(p.text, start+1) == '}' && p.depth < p.limits.MaxDepth {
		p.span(at, Map, start, start+2).form |= canonical // field sets are full of these
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
	p.close(at, Map, start, i, mark, untidy)
	return i, nil
}

// fields reads the fields of a map up to its end, and puts them in order.
func (p *parser) fields(mark, i int) (end int, err *SyntaxError) {
	s := p.text
	sorted := true
	last, key := uint64(0), uint64(0)
	for at := mark; ; at++ {
		if i, key, err = p.field(at, i); err != nil {
			return i, err
		}
		if (key <= last || key == noKey) && at > mark && !p.inOrder(&p.stack[at-1], &p.stack[at]) {
			sorted = false
		}
		last = key
		if byteAt(s, i) <= ' ' {
			i = p.untidySpace(i)
		}
		switch byteAt(s, i) {
		case ',':
			if i++; byteAt(s, i) <= ' ' {
				i = p.untidySpace(i)
			}
		case '}':
			if !sorted {
				p.untidy++
				err = p.sortFields(p.stack[mark:])
			}
			return i + 1, err
		default:
			return i, p.errorAt(i, "expected , or } after a field, received %s", p.received(i)).in("." + p.name(at))
		}
	}
}

// field reads one field onto the stack. It also returns the sort key of its name.
func (p *parser) field(at, start int) (i int, key uint64, err *SyntaxError) {
	s := p.text
	if byteAt(s, start) != '"' {
		return start, 0, p.errorAt(start, "expected a field name in quotes, received %s", p.received(start))
	}
	i, key = scanName(s, start+1)
	n := p.push()
	n.name, n.nameSize, n.pos = uint32(start+1), uint32(i-start-1), uint32(start)
	if i+1 < len(s) && s[i] == '"' && s[i+1] == ':' {
		i += 2
	} else {
		key = noKey
		if i, err = p.hardName(at, start, i); err != nil {
			return i, 0, err
		}
	}
	if byteAt(s, i) <= ' ' {
		i = p.untidySpace(i)
	}
	switch {
	case p.beside.depth == p.depth && opensContainer(byteAt(s, i)): // a scalar has nothing to share
		i, err = p.besideField(at, i)
	case p.seal.inside == p.depth-1:
		i, err = p.sealable(at, i, p.name(at))
	default:
		i, err = p.value(at, i)
	}
	if err != nil {
		return i, 0, err.in("." + p.name(at))
	}
	return i, key, nil
}

// opensContainer reports whether a map or a list starts with a byte.
func opensContainer(c byte) bool { return c == '{' || c == '[' }

// open steps into the container that starts at i.
func (p *parser) open(i int) (inside int, err *SyntaxError) {
	if p.depth++; p.depth > p.limits.MaxDepth {
		return i, p.errorAt(i, "lists and maps are nested more than %d deep", p.limits.MaxDepth)
	}
	if i++; byteAt(p.text, i) <= ' ' {
		i = p.untidySpace(i)
	}
	return i, nil
}

// close finishes the container whose fields or items are on the stack from mark on.
func (p *parser) close(at int, kind Kind, start, end, mark, untidy int) {
	p.depth--
	count := len(p.stack) - mark
	n := p.span(at, kind, start, end)
	n.first, n.count = uint32(len(p.nodes)), uint32(count)
	if p.untidy == untidy {
		n.form |= canonical
	}
	if cap(p.nodes)-len(p.nodes) < count {
		p.nodes = slices.Grow(p.nodes, count+64)
	}
	p.nodes = p.nodes[:len(p.nodes)+count]
	copy(p.nodes[len(p.nodes)-count:], p.stack[mark:])
	p.stack = p.stack[:mark]
}

// untidySpace skips white space, which canonical JSON has none of. It is called
// where there is some, or where the text ends.
func (p *parser) untidySpace(i int) int {
	p.untidy++
	return skipSpace(p.text, i)
}
