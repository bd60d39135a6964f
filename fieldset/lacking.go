package fieldset

import "strings"

// Lacking returns the paths that one text of FieldsV1 has and another has not, without
// making sets of what both have. Like Common it needs well-formed texts, written as
// Kubernetes writes them, to be of use; ok is false where it meets something else.
func Lacking(text, than string) (lacking Set, ok bool) {
	a, b := cursor{reader: reader{text: text}}, cursor{reader: reader{text: than}}
	kids, _, _, ok := lack(&a, &b)
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

// lack returns what a level of a has and that of b has not, and whether the elements
// above are members.
func lack(a, b *cursor) (kids []node, inA, inB, ok bool) {
	a.open()
	b.open()
	memberA, someA := a.member, a.some
	memberB, someB := b.member, b.some
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
			below, member, err := a.level()
			if err != nil {
				return nil, false, false, false
			}
			kids = append(kids, newNode(a.element, member, Set{below}))
		default:
			e := a.element
			below, inA, inB, ok := lack(a, b)
			if !ok {
				return nil, false, false, false
			}
			if inA = inA && !inB; inA || len(below) > 0 {
				kids = append(kids, newNode(e, inA, Set{below}))
			}
			b.next()
		}
		a.next()
	}
	for b.more && !a.failed && !b.failed {
		b.pos += extent(b.text[b.pos:])
		b.next()
	}
	return kids, memberA || !someA, memberB || !someB, !a.failed && !b.failed
}

// Along returns what a text of FieldsV1 says about the elements on the way to the
// paths of a set: whether they are members, and whether anything is below them. All
// else is left out, but for the fact that there is something.
func Along(text string, paths Set) (along Set, ok bool) {
	r := reader{text: text}
	kids, _, ok := r.along(paths)
	return Set{kids}, ok
}

// something stands for whatever there is that is not looked into.
var something = Set{[]node{newNode(NameElement("…"), true, Set{})}}

func (r *reader) along(paths Set) (kids []node, member, ok bool) {
	c := cursor{reader: *r}
	for c.open(); c.more; c.next() {
		at, found := paths.find(c.element)
		rest := c.text[c.pos:]
		switch {
		case found && strings.HasPrefix(rest, "{}"):
			kids = append(kids, newNode(c.element, true, Set{}))
			c.pos += len("{}")
		case found && len(paths.kids[at].kids) > 0:
			below, member, ok := c.reader.along(paths.kids[at].below())
			if !ok {
				return nil, false, false
			}
			kids = append(kids, newNode(c.element, member, Set{below}))
		case found:
			kids = append(kids, newNode(c.element, strings.HasPrefix(rest, "{"+dotEntry), something))
			c.pos += extent(rest)
		default:
			c.pos += extent(rest)
		}
	}
	if len(kids) == 0 && c.some {
		kids = something.kids
	}
	r.pos = c.pos
	return kids, c.isMember(), !c.failed
}
