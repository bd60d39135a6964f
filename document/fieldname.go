package document

import (
	"slices"
	"strings"
)

// The names of a map's fields while the map is read: most are found by scanName on the
// way and are in order already; this file is for all others.

// hardName reads the rest of a name of which the bytes up to i are ordinary, the
// white space after it, and the colon.
func (p *parser) hardName(at, start, i int) (end int, err *SyntaxError) {
	s, i, err := p.hardString(start+1, i)
	if err != nil {
		return i, err
	}
	n := &p.stack[at]
	n.name, n.nameSize = s.start, s.size
	n.form |= hardName
	if s.form&extraText != 0 {
		n.form |= extraName
	}
	if byteAt(p.text, i) <= ' ' {
		i = p.untidySpace(i)
	}
	if byteAt(p.text, i) != ':' {
		return i, p.errorAt(i, "expected : after a field name, received %s", p.received(i)).in("." + p.name(at))
	}
	return i + 1, nil
}

// name returns the name of the field at a place on the stack.
func (p *parser) name(at int) string { return p.nameOf(&p.stack[at]) }

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
