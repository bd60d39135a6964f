package document

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
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
// All of them are scratch memory that is used again and again; the document gets
// copies of the right size when all is read. Strings are read by string.go.
type parser struct {
	text   string
	pos    int
	depth  int
	untidy int
	stack  []node
	nodes  []node
	extra  []byte
	limits Limits
	seal   seal
}

// ParseJSON reads one JSON document with the default limits. The text is copied.
func ParseJSON(text []byte) (Value, error) { return ParseJSONLimited(text, Limits{}) }

// ParseJSONLimited reads one JSON document.
func ParseJSONLimited(text []byte, limits Limits) (Value, error) {
	return parseJSON(text, limits, nil)
}

func parseJSON(text []byte, limits Limits, sealed []string) (Value, error) {
	limits = limits.withDefaults()
	if err := limits.checkSize(len(text)); err != nil {
		return Value{}, err
	}
	p := newParser(string(text), limits)
	defer p.release()
	p.seal = newSeal(sealed)
	v, err := p.first()
	if err != nil {
		return Value{}, err
	}
	p.space()
	if p.pos < len(p.text) {
		return Value{}, p.errorf("expected the end of the document, received %s", p.received())
	}
	return v, nil
}

// first reads the value that the text starts with.
func (p *parser) first() (Value, *SyntaxError) {
	p.space()
	p.push().pos = uint32(p.pos)
	if err := p.value(0); err != nil {
		return Value{}, err
	}
	p.nodes = append(p.nodes, p.stack[0])
	d := &doc{text: p.text, extra: string(p.extra), nodes: append([]node(nil), p.nodes...)}
	return Value{d, uint32(len(d.nodes) - 1)}, nil
}

var parsers = sync.Pool{New: func() any { return new(parser) }}

func newParser(text string, limits Limits) *parser {
	p := parsers.Get().(*parser)
	p.text, p.limits = text, limits
	p.seal = newSeal(nil)
	return p
}

// maxScratch is how many nodes of scratch memory are kept for the next text.
const maxScratch = 1 << 16

// release gives the parser back, so that it keeps no document alive.
func (p *parser) release() {
	if cap(p.stack) > maxScratch || cap(p.nodes) > maxScratch || cap(p.extra) > maxScratch {
		return
	}
	*p = parser{stack: p.stack[:0], nodes: p.nodes[:0], extra: p.extra[:0]}
	parsers.Put(p)
}

// value reads a value to a place on the stack, where its position and name are
// already.
func (p *parser) value(at int) *SyntaxError {
	if p.pos >= len(p.text) {
		return p.errorf("expected a value, received the end of the document")
	}
	switch c := p.text[p.pos]; c {
	case '"':
		return p.stringValue(at)
	case '{':
		return p.mapValue(at)
	case '[':
		return p.listValue(at)
	case 't':
		return p.literal(at, Bool, "true")
	case 'f':
		return p.literal(at, Bool, "false")
	case 'n':
		return p.literal(at, Null, "null")
	default:
		if c != '-' && (c < '0' || c > '9') {
			return p.errorf("expected a value, received %s", p.received())
		}
		return p.number(at)
	}
}

func (p *parser) literal(at int, kind Kind, spelling string) *SyntaxError {
	if !strings.HasPrefix(p.text[p.pos:], spelling) {
		return p.errorf("expected %s, received %s", spelling, p.received())
	}
	p.span(at, kind, p.pos, p.pos+len(spelling))
	p.pos += len(spelling)
	return nil
}

func (p *parser) number(at int) *SyntaxError {
	end := scanNumber(p.text, p.pos)
	if end == p.pos {
		return p.errorf("expected a number, received %s", p.received())
	}
	p.span(at, Number, p.pos, end)
	p.pos = end
	return nil
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

func (p *parser) listValue(at int) *SyntaxError {
	start, mark, untidy := p.pos, len(p.stack), p.untidy
	if err := p.open(); err != nil {
		return err
	}
	if p.pos < len(p.text) && p.text[p.pos] == ']' {
		p.pos++
	} else if err := p.items(mark); err != nil {
		return err
	}
	p.close(at, List, start, mark, untidy)
	return nil
}

func (p *parser) items(mark int) (err *SyntaxError) {
	for {
		at := len(p.stack)
		p.push().pos = uint32(p.pos)
		if p.seal.inside == p.depth-1 {
			err = p.sealable(at, AnyItem)
		} else {
			err = p.value(at)
		}
		if err != nil {
			return err.in("[" + strconv.Itoa(at-mark) + "]")
		}
		switch p.delimiter() {
		case ',':
			p.tidySpace()
		case ']':
			return nil
		default:
			p.pos--
			return p.errorf("expected , or ] after a list item, received %s", p.received()).in("[" + strconv.Itoa(at-mark) + "]")
		}
	}
}

func (p *parser) mapValue(at int) *SyntaxError {
	start, mark, untidy := p.pos, len(p.stack), p.untidy
	if err := p.open(); err != nil {
		return err
	}
	if p.pos < len(p.text) && p.text[p.pos] == '}' {
		p.pos++
	} else if err := p.fields(mark); err != nil {
		return err
	}
	p.close(at, Map, start, mark, untidy)
	return nil
}

// fields reads the fields of a map up to its end, and puts them in order.
func (p *parser) fields(mark int) *SyntaxError {
	sorted := true
	var last, key uint64
	for at := mark; ; at++ {
		if err := p.field(at); err != nil {
			return err
		}
		if key = p.sortKey(&p.stack[at]); (key <= last || key == noKey) && at > mark && !p.inOrder(&p.stack[at-1], &p.stack[at]) {
			sorted = false
		}
		last = key
		switch p.delimiter() {
		case ',':
			p.tidySpace()
		case '}':
			if sorted {
				return nil
			}
			p.untidy++
			return p.sortFields(p.stack[mark:])
		default:
			p.pos--
			return p.errorf("expected , or } after a field, received %s", p.received()).in("." + p.name(at))
		}
	}
}

// field reads one field onto the stack.
func (p *parser) field(at int) (err *SyntaxError) {
	s, start := p.text, p.pos+1
	if start > len(s) || s[start-1] != '"' {
		return p.errorf("expected a field name in quotes, received %s", p.received())
	}
	end := skipOrdinary(s, start)
	n := p.push()
	n.name, n.nameSize, n.pos = uint32(start), uint32(end-start), uint32(p.pos)
	if end+1 < len(s) && s[end] == '"' && s[end+1] == ':' {
		p.pos = end + 2
	} else if err = p.hardName(at, end); err != nil {
		return err
	}
	p.tidySpace()
	if p.seal.inside == p.depth-1 {
		err = p.sealable(at, p.name(at))
	} else {
		err = p.value(at)
	}
	if err != nil {
		return err.in("." + p.name(at))
	}
	return nil
}

// hardName reads the rest of a name of which the bytes up to i are ordinary, and
// the colon.
func (p *parser) hardName(at, i int) *SyntaxError {
	s, err := p.hardString(p.pos+1, i)
	if err != nil {
		return err
	}
	n := &p.stack[at]
	n.name, n.nameSize = s.start, s.size
	if s.form&extraText != 0 {
		n.form |= extraName
	}
	p.tidySpace()
	if p.next() != ':' {
		p.pos--
		return p.errorf("expected : after a field name, received %s", p.received()).in("." + p.name(at))
	}
	return nil
}

// name returns the name of the field at a place on the stack.
func (p *parser) name(at int) string { return p.nameOf(&p.stack[at]) }

// sortKey returns the first eight bytes of a name as a number. Names are in the
// order of their keys; only where keys are equal must the names be compared.
func (p *parser) sortKey(n *node) uint64 {
	start := int(n.name)
	if n.form&extraName != 0 || start+8 > len(p.text) {
		return noKey
	}
	key := bits.ReverseBytes64(load8(p.text, start))
	if n.nameSize < 8 {
		key &^= ^uint64(0) >> (8 * n.nameSize)
	}
	return key
}

// noKey is the key of a name that has none; no UTF-8 yields it.
const noKey = ^uint64(0)

// inOrder tells whether the name of a comes before the name of b.
func (p *parser) inOrder(a, b *node) bool {
	if (a.form|b.form)&extraName != 0 {
		return p.extraInOrder(a, b)
	}
	return p.text[a.name:a.name+a.nameSize] < p.text[b.name:b.name+b.nameSize]
}

// extraInOrder is inOrder for names with escapes. Comparing makes no strings of
// bytes, as naming them would.
func (p *parser) extraInOrder(a, b *node) bool {
	switch {
	case a.form&extraName == 0:
		return p.text[a.name:a.name+a.nameSize] < string(p.extra[b.name:b.name+b.nameSize])
	case b.form&extraName == 0:
		return string(p.extra[a.name:a.name+a.nameSize]) < p.text[b.name:b.name+b.nameSize]
	}
	return string(p.extra[a.name:a.name+a.nameSize]) < string(p.extra[b.name:b.name+b.nameSize])
}

// nameOf returns the name of a node that is still in scratch memory.
func (p *parser) nameOf(n *node) string {
	if n.form&extraName != 0 {
		return string(p.extra[n.name : n.name+n.nameSize])
	}
	return p.text[n.name : n.name+n.nameSize]
}

// sortFields puts the fields of one map in order and refuses names that occur twice.
func (p *parser) sortFields(fields []node) *SyntaxError {
	slices.SortStableFunc(fields, func(a, b node) int { return strings.Compare(p.nameOf(&a), p.nameOf(&b)) })
	for i := 1; i < len(fields); i++ {
		if name := p.nameOf(&fields[i]); name == p.nameOf(&fields[i-1]) {
			first, second := int(fields[i-1].pos), int(fields[i].pos)
			return twice(position(p.text, first), position(p.text, second), name)
		}
	}
	return nil
}

// open steps into a container.
func (p *parser) open() *SyntaxError {
	if p.depth++; p.depth > p.limits.MaxDepth {
		return p.errorf("lists and maps are nested more than %d deep", p.limits.MaxDepth)
	}
	p.pos++
	p.tidySpace()
	return nil
}

// close finishes the container whose fields or items are on the stack from mark on.
func (p *parser) close(at int, kind Kind, start, mark, untidy int) {
	p.depth--
	n := p.span(at, kind, start, p.pos)
	n.first, n.count = uint32(len(p.nodes)), uint32(len(p.stack)-mark)
	if p.untidy == untidy {
		n.form |= canonical
	}
	count := len(p.stack) - mark
	if cap(p.nodes)-len(p.nodes) < count {
		p.nodes = slices.Grow(p.nodes, count+64)
	}
	p.nodes = p.nodes[:len(p.nodes)+count]
	copy(p.nodes[len(p.nodes)-count:], p.stack[mark:])
	p.stack = p.stack[:mark]
}

// delimiter steps over white space and the byte after it, which it returns.
func (p *parser) delimiter() byte {
	if p.pos < len(p.text) && p.text[p.pos] > ' ' {
		p.pos++
		return p.text[p.pos-1]
	}
	p.tidySpace()
	return p.next()
}

// next returns the byte at the position and steps over it; 0 at the end, where it
// steps as well.
func (p *parser) next() byte {
	p.pos++
	if p.pos > len(p.text) {
		return 0
	}
	return p.text[p.pos-1]
}

// space skips white space; tidySpace also notes that there was some.
func (p *parser) space() {
	for p.pos < len(p.text) && isSpace(p.text[p.pos]) {
		p.pos++
	}
}

func (p *parser) tidySpace() {
	if p.pos < len(p.text) && p.text[p.pos] <= ' ' {
		p.untidy++
		p.space()
	}
}

// errorf makes an error at the current position.
func (p *parser) errorf(format string, args ...any) *SyntaxError {
	at := position(p.text, p.pos)
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

// received describes what stands at the current position.
func (p *parser) received() string {
	if p.pos >= len(p.text) {
		return "the end of the document"
	}
	r, size := utf8.DecodeRuneInString(p.text[p.pos:])
	if r == utf8.RuneError && size <= 1 {
		return fmt.Sprintf("the byte 0x%02x", p.text[p.pos])
	}
	return strconv.QuoteRune(r)
}
