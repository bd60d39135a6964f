package fieldset

import (
	"strings"

	"github.com/cadastre/cadastre/internal/lib/scan"
)

// textDifference returns the paths that are in one FieldsV1 text and not in the other, without building sets of the
// common paths. Most often the texts differ in one or two elements: their common prefix and suffix are compared as
// bytes. As for textIntersection, both texts must be what Kubernetes writes; ok is false if the comparison finds other
// text.
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

// openLevel is a level that starts in the common prefix of two texts and ends after it.
//
//	name > 0     the name of the level's last element in the prefix starts at this offset
//	complete     the value of that element is in the prefix, too, and ends at end
type openLevel struct {
	brace     int // the offset of the level
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

// subtractFrom computes the difference from the end of the common prefix on: first in the innermost level that is open
// there, then in the levels around it.
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
		memberA, memberB = false, false // the element's own membership is in the common prefix
		if children = level; !a.inSuffix {
			a.next()
			b.next()
			children, ok = subtractRest(a, b, level)
		}
	}
	return Set{children}, ok
}

// cursor iterates over the elements of a level.
type cursor struct {
	reader
	element     Element // the current element, if more is true
	more        bool
	member      bool // the level has the name "."
	hasElements bool // the level has an element
	failed      bool
	// suffix is the size of the common suffix of both texts; inSuffix means that the cursors have reached it.
	suffix   int
	inSuffix bool
}

// open enters a level and reads its first element.
func (c *cursor) open() {
	c.member, c.hasElements, c.more = false, false, false
	if !c.accept('{') {
		c.failed = true
	} else if !c.accept('}') {
		c.name()
	}
}

// name reads the next element's name and the colon.
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
		if !c.comma() {
			return
		}
	}
}

// next advances to the next element, after the value of the current one has been read.
func (c *cursor) next() {
	if c.more = c.comma(); c.more {
		c.name()
	}
}

// comma skips the comma between two elements. At the end of the level it leaves the level and returns false.
func (c *cursor) comma() bool {
	switch {
	case c.accept(','):
		return true
	case !c.accept('}'):
		c.failed = true
	}
	c.more = false
	return false
}

// isMember reports whether the element above the level is a member. The level must have been read up to its first
// element.
func (c *cursor) isMember() bool { return c.member || !c.hasElements }

// value parses the complete value of the current element.
func (c *cursor) value() (children []node, member bool, err error) {
	rest := c.text[c.pos:]
	if strings.HasPrefix(rest, "{}") {
		c.pos += len("{}")
		return nil, true, nil
	}
	c.arena = make([]node, estimateNodes(rest[:valueEnd(rest)]))
	return c.level()
}

// subtractLevel returns the nodes that are in the level of a and not in the level of b, and whether the elements above
// are members.
func subtractLevel(a, b *cursor) (children []node, memberA, memberB, ok bool) {
	a.open()
	b.open()
	memberA, memberB = a.isMember(), b.isMember()
	children, ok = subtractRest(a, b, nil)
	return children, memberA, memberB, ok
}

// subtractRest appends the nodes that are in the rest of the level of a and not in the rest of the level of b.
func subtractRest(a, b *cursor, children []node) (all []node, ok bool) {
	for a.more && !a.failed && !b.failed {
		side := -1
		if b.more {
			side = a.element.Compare(b.element)
		}
		switch {
		case side > 0:
			b.pos += valueEnd(b.text[b.pos:])
			b.next()
			continue
		case side < 0:
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

// restIsEqual reports whether the rest of both texts is the common suffix.
func (c *cursor) restIsEqual(other *cursor) bool {
	left := len(c.text) - c.pos
	return left <= c.suffix && left == len(other.text)-other.pos
}

// commonPrefix returns the size of the common prefix of two texts.
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

// commonSuffix returns the size of the common suffix of two texts.
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
