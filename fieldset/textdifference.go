package fieldset

import (
	"strings"

	"github.com/cadastre/cadastre/internal/lib/scan"
)

// textDifference returns the paths that are in the FieldsV1 text but not in the FieldsV1 other. It does not build sets
// of the common paths: most often the texts differ in one or two elements, so their common prefix and suffix are
// compared as bytes. Both texts must be as Kubernetes writes them; ok is false if the comparison finds text that it
// does not support.
func textDifference(text, other string) (only Set, ok bool) {
	prefix := commonPrefix(text, other)
	if prefix == len(text) && prefix == len(other) {
		return Set{}, true
	}
	a, b := cursor{reader: reader{text: text}}, cursor{reader: reader{text: other}}
	a.suffix = commonSuffix(text[prefix:], other[prefix:])
	open, ok := openLevels(text, prefix)
	if !ok {
		children, _, _, ok := subtractLevel(&a, &b)
		return Set{children}, ok
	}
	return subtractFrom(&a, &b, open)
}

// openLevel is a level (a JSON object of FieldsV1) that starts in the common prefix of two texts and ends after it.
//
//	name > 0     the offset of the name of the last element of the level that starts in
//	             the prefix
//	complete     the value of this element is in the prefix, too, and ends at end
type openLevel struct {
	brace     int // the offset of the opening brace of the level
	name, end int
	complete  bool
}

// openLevels returns the levels that are open after the first size bytes of a text. ok is false if the text is not
// FieldsV1 as Kubernetes writes it.
func openLevels(text string, size int) (open []openLevel, ok bool) {
	open = make([]openLevel, 0, 12)
	for i := 0; i < size; i++ {
		switch text[i] {
		case '{':
			open = append(open, openLevel{brace: i})
		case '}':
			if len(open) < 2 {
				return nil, false
			}
			open = open[:len(open)-1]
			top := &open[len(open)-1]
			top.complete, top.end = true, i+1
		case '"':
			end := closingQuote(text, i+1)
			if end+1 >= size {
				return open, len(open) > 0
			}
			if len(open) == 0 || text[end+1] != ':' {
				return nil, false
			}
			top := &open[len(open)-1]
			top.name, top.complete = i, false
			i = end + 1
		case ',':
		default:
			return nil, false
		}
	}
	return open, len(open) > 0
}

// subtractFrom computes the difference after the common prefix: first in the innermost of the open levels, then in the
// levels around it.
func subtractFrom(a, b *cursor, open []openLevel) (only Set, ok bool) {
	innermost := open[len(open)-1]
	var children []node
	var memberA, memberB bool
	if innermost.name == 0 || !innermost.complete {
		a.pos, b.pos = innermost.brace, innermost.brace
		children, memberA, memberB, ok = subtractLevel(a, b)
	} else {
		a.pos, b.pos = innermost.end, innermost.end
		a.next()
		b.next()
		children, ok = subtractRest(a, b, nil)
	}
	for i := len(open) - 2; i >= 0 && ok; i-- {
		above := reader{text: a.text, pos: open[i].name}
		e, err := above.element()
		if err != nil || e.kind == 0 {
			return Set{}, false
		}
		var level []node
		if memberA = memberA && !memberB; memberA || len(children) > 0 {
			level = append(level, newNode(e, memberA, Set{children}))
		}
		memberA, memberB = false, false // the membership of the enclosing elements is the same in both texts
		if children = level; !a.inSuffix {
			a.next()
			b.next()
			children, ok = subtractRest(a, b, level)
		}
	}
	return Set{children}, ok
}

// cursor iterates over the elements of one level of FieldsV1 text.
type cursor struct {
	reader
	element     Element // the current element; valid if more is true
	more        bool
	member      bool // the level contains the name "."
	hasElements bool // the level contains an element
	failed      bool
	// suffix is the size in bytes of the common suffix of both texts. inSuffix reports that the cursors of both texts have
	// reached this suffix.
	suffix   int
	inSuffix bool
}

// open enters the level at pos and reads the name of its first element.
func (c *cursor) open() {
	c.member, c.hasElements, c.more = false, false, false
	if !c.accept('{') {
		c.failed = true
	} else if !c.accept('}') {
		c.name()
	}
}

// name reads the name of the next element and the colon after the name. It skips names that are not elements, such as
// ".", with their values.
func (c *cursor) name() {
	for {
		e, err := c.reader.element()
		if err != nil || !c.accept(':') {
			c.failed, c.more = true, false
			return
		}
		if e.kind != 0 {
			c.element, c.more, c.hasElements = e, true, true
			return
		}
		c.member = c.member || e == dot
		c.pos += valueEnd(c.text[c.pos:])
		if !c.skipComma() {
			return
		}
	}
}

// next advances to the next element of the level. The value of the current element must have been read.
func (c *cursor) next() {
	if c.more = c.skipComma(); c.more {
		c.name()
	}
}

// skipComma skips the comma before the next element. At the end of the level it skips the closing brace instead and
// returns false.
func (c *cursor) skipComma() bool {
	switch {
	case c.accept(','):
		return true
	case !c.accept('}'):
		c.failed = true
	}
	c.more = false
	return false
}

// isMember reports whether the element whose value is this level is a member. The cursor must have read the first
// element of the level, if there is one.
func (c *cursor) isMember() bool { return c.member || !c.hasElements }

// value parses the whole value of the current element; see reader.level.
func (c *cursor) value() (children []node, member bool, err error) {
	rest := c.text[c.pos:]
	if strings.HasPrefix(rest, "{}") {
		c.pos += len("{}")
		return nil, true, nil
	}
	c.arena = make([]node, estimateNodes(rest[:valueEnd(rest)]))
	return c.level()
}

// subtractLevel returns the nodes that are in the level at the position of a but not in the level at the position of b.
// memberA and memberB report whether the elements whose values are these levels are members.
func subtractLevel(a, b *cursor) (children []node, memberA, memberB, ok bool) {
	a.open()
	b.open()
	memberA, memberB = a.isMember(), b.isMember()
	children, ok = subtractRest(a, b, nil)
	return children, memberA, memberB, ok
}

// subtractRest appends to children the nodes that are in the rest of the level of a but not in the rest of the level of
// b.
func subtractRest(a, b *cursor, children []node) (all []node, ok bool) {
	for a.more && !a.failed && !b.failed {
		order := -1
		if b.more {
			order = a.element.Compare(b.element)
		}
		switch {
		case order > 0:
			b.pos += valueEnd(b.text[b.pos:])
			b.next()
			continue
		case order < 0:
			below, member, err := a.value()
			if err != nil {
				return nil, false
			}
			children = append(children, newNode(a.element, member, Set{below}))
		default:
			if a.inSuffix = a.restIsEqual(b); a.inSuffix {
				return children, true
			}
			e := a.element
			below, memberA, memberB, ok := subtractLevel(a, b)
			if !ok {
				return nil, false
			}
			if memberA = memberA && !memberB; memberA || len(below) > 0 {
				children = append(children, newNode(e, memberA, Set{below}))
			}
			if a.inSuffix {
				return children, true
			}
			b.next()
		}
		a.next()
	}
	for b.more && !a.failed && !b.failed {
		b.pos += valueEnd(b.text[b.pos:])
		b.next()
	}
	return children, !a.failed && !b.failed
}

// restIsEqual reports whether the rest of c's text and the rest of other's text are equal because both are in the
// common suffix.
func (c *cursor) restIsEqual(other *cursor) bool {
	left := len(c.text) - c.pos
	return left <= c.suffix && left == len(other.text)-other.pos
}

// commonPrefix returns the size in bytes of the common prefix of two texts.
func commonPrefix(a, b string) int {
	i, size := 0, min(len(a), len(b))
	for i+8 <= size && scan.Load8(a, i) == scan.Load8(b, i) {
		i += 8
	}
	for i < size && a[i] == b[i] {
		i++
	}
	return i
}

// commonSuffix returns the size in bytes of the common suffix of two texts.
func commonSuffix(a, b string) int {
	i, size := 0, min(len(a), len(b))
	for i+8 <= size && scan.Load8(a, len(a)-i-8) == scan.Load8(b, len(b)-i-8) {
		i += 8
	}
	for i < size && a[len(a)-i-1] == b[len(b)-i-1] {
		i++
	}
	return i
}
