package fieldset

import (
	"strings"

	"github.com/cadastre/cadastre/internal/lib/scan"
)

// lacking returns the paths that one text of FieldsV1 has and another has not, without
// making sets of what both have. Most often the two differ in one or two places: up to the
// first of these they are the same to the byte, and after the last; there it looks at
// nothing. As for common, the caller must know that the texts are what Kubernetes writes; ok
// is false where it meets something else on its way.
func lacking(text, than string) (only Set, ok bool) {
	prefix := commonPrefix(text, than)
	if prefix == len(text) && prefix == len(than) {
		return Set{}, true
	}
	a, b := cursor{reader: reader{text: text}}, cursor{reader: reader{text: than}}
	a.same = commonSuffix(text[prefix:], than[prefix:])
	open, ok := openLevels(text, prefix)
	if !ok {
		kids, _, _, ok := lack(&a, &b)
		return Set{kids}, ok
	}
	return lackFrom(&a, &b, open)
}

// openLevel is a level of a text that starts in the common beginning of two texts and
// ends behind it.
//
//	name > 0     the name of the level's last element is in the beginning, from there on
//	whole        all of that element is, up to end
type openLevel struct {
	brace     int // where the level starts
	name, end int
	whole     bool
}

// openLevels returns the levels that the first bytes of a text leave open. It returns false
// for what is not the beginning of FieldsV1 in its usual spelling.
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
			top.whole, top.end = true, i+1
		case '"':
			end := closingQuote(text, i+1)
			if end+1 >= size {
				return open, len(open) > 0
			}
			if len(open) == 0 || text[end+1] != ':' {
				return nil, false
			}
			top := &open[len(open)-1]
			top.name, top.whole = i, false
			i = end + 1
		case ',':
		default:
			return nil, false
		}
	}
	return open, len(open) > 0
}

// lackFrom goes on where two texts begin to differ: in the innermost of the levels that
// are open there, and then outwards.
func lackFrom(a, b *cursor, open []openLevel) (only Set, ok bool) {
	innermost := open[len(open)-1]
	var kids []node
	var inA, inB bool
	if innermost.name == 0 || !innermost.whole {
		a.pos, b.pos = innermost.brace, innermost.brace
		kids, inA, inB, ok = lack(a, b)
	} else {
		a.pos, b.pos = innermost.end, innermost.end
		a.next()
		b.next()
		kids, ok = lackRest(a, b, nil)
	}
	for i := len(open) - 2; i >= 0 && ok; i-- {
		above := reader{text: a.text, pos: open[i].name}
		e, err := above.element()
		if err != nil || e.kind == 0 {
			return Set{}, false
		}
		var level []node
		if inA = inA && !inB; inA || len(kids) > 0 {
			level = append(level, newNode(e, inA, Set{kids}))
		}
		inA, inB = false, false // what both have in common here makes it a member of both or of none
		if kids = level; !a.done {
			a.next()
			b.next()
			kids, ok = lackRest(a, b, level)
		}
	}
	return Set{kids}, ok
}

// cursor goes through the elements of a level.
type cursor struct {
	reader
	element Element // the one that is next, if more is true
	more    bool
	member  bool // a "." was met
	some    bool // an element was met
	failed  bool
	// same is how many bytes at the end are those that the other text ends with;
	// done says that the cursors have come to these.
	same int
	done bool
}

// open steps into a level, to its first element.
func (c *cursor) open() {
	c.member, c.some, c.more = false, false, false
	if !c.at('{') {
		c.failed = true
	} else if !c.at('}') {
		c.name()
	}
}

// name reads the next element's name, up to its value.
func (c *cursor) name() {
	for {
		e, err := c.reader.element()
		if err != nil || !c.at(':') {
			c.failed, c.more = true, false
			return
		}
		if e.kind != 0 {
			c.element, c.more, c.some = e, true, true
			return
		}
		c.member = c.member || e == dot
		c.pos += extent(c.text[c.pos:])
		if !c.comma() {
			return
		}
	}
}

// next steps to the next element, when the value of this one has been read.
func (c *cursor) next() {
	if c.more = c.comma(); c.more {
		c.name()
	}
}

// comma steps over what is between two elements. At the end of the level it steps out
// of it and returns false.
func (c *cursor) comma() bool {
	switch {
	case c.at(','):
		return true
	case !c.at('}'):
		c.failed = true
	}
	c.more = false
	return false
}

// isMember reports whether the element above the level, now read, is a member.
func (c *cursor) isMember() bool { return c.member || !c.some }

// whole reads the value of the element, all of it.
func (c *cursor) whole() (kids []node, member bool, err error) {
	rest := c.text[c.pos:]
	if strings.HasPrefix(rest, "{}") {
		c.pos += len("{}")
		return nil, true, nil
	}
	c.arena = make([]node, estimate(rest[:extent(rest)]))
	return c.level()
}

// lack returns what a level of a has and that of b has not, and whether the elements
// above are members.
func lack(a, b *cursor) (kids []node, inA, inB, ok bool) {
	a.open()
	b.open()
	inA, inB = a.isMember(), b.isMember()
	kids, ok = lackRest(a, b, nil)
	return kids, inA, inB, ok
}

// lackRest adds what the rest of a level of a has and that of b has not.
func lackRest(a, b *cursor, kids []node) (all []node, ok bool) {
	for a.more && !a.failed && !b.failed {
		side := -1
		if b.more {
			side = a.element.Compare(b.element)
		}
		switch {
		case side > 0:
			b.pos += extent(b.text[b.pos:])
			b.next()
			continue
		case side < 0:
			below, member, err := a.whole()
			if err != nil {
				return nil, false
			}
			kids = append(kids, newNode(a.element, member, Set{below}))
		default:
			if a.done = a.endsLike(b); a.done {
				return kids, true
			}
			e := a.element
			below, inA, inB, ok := lack(a, b)
			if !ok {
				return nil, false
			}
			if inA = inA && !inB; inA || len(below) > 0 {
				kids = append(kids, newNode(e, inA, Set{below}))
			}
			if a.done {
				return kids, true
			}
			b.next()
		}
		a.next()
	}
	for b.more && !a.failed && !b.failed {
		b.pos += extent(b.text[b.pos:])
		b.next()
	}
	return kids, !a.failed && !b.failed
}

// endsLike reports whether all that is left is the same in both texts.
func (c *cursor) endsLike(other *cursor) bool {
	left := len(c.text) - c.pos
	return left <= c.same && left == len(other.text)-other.pos
}

// commonPrefix returns how many bytes two texts begin with that are the same.
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

// commonSuffix returns how many bytes two texts end with that are the same.
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
