package fieldset

import (
	"strings"
)

// follower goes through one level of FieldsV1 to those of its elements that paths of a
// set begin with. It steps over the others, and looks at nothing behind the last one that
// it could find: elements are in order in what Kubernetes writes.
//
//	for n := f.open(); n != nil; n = f.next() {
//		// f.pos is at the value of the element, n is the element in the set
//	}
type follower struct {
	reader
	level  followed
	failed bool
}

// followed is what a follower knows about the level that it is in.
type followed struct {
	paths Set
	at    int // which first element of the paths is the next to be found
	// inside is how many levels deep pos is inside of the value of an element; 0 if it is
	// at the start of the value or behind it.
	inside int
	member bool // a "." was met
	some   bool // an element was met
	ended  bool // pos is behind the level
}

func follow(text string, paths Set) follower {
	return follower{reader: reader{text: text}, level: followed{paths: paths}}
}

// open steps into the level, to the first element that is found.
func (f *follower) open() *node {
	if !f.at('{') {
		f.failed = true
		return nil
	}
	if f.at('}') {
		f.level.ended = true
		return nil
	}
	return f.find()
}

// next goes on to the next element that is found.
func (f *follower) next() *node {
	f.level.at++
	if f.level.at == len(f.level.paths.kids) || !f.comma() {
		return nil
	}
	return f.find()
}

// find reads elements until one of the paths begins with one.
func (f *follower) find() *node {
	level := &f.level
	for {
		e, err := f.element()
		if err != nil || !f.at(':') {
			f.failed = true
			return nil
		}
		level.member = level.member || e == dot
		if e.kind != 0 {
			level.some = true
			side := level.seek(e)
			if level.at == len(level.paths.kids) {
				return nil
			}
			if side == 0 {
				return &level.paths.kids[level.at]
			}
		}
		if !f.comma() {
			return nil
		}
	}
}

// seek goes on to the first of the paths' elements that does not come before e, and
// tells how it compares.
func (l *followed) seek(e Element) (side int) {
	for ; l.at < len(l.paths.kids); l.at++ {
		if side = l.paths.kids[l.at].element().Compare(e); side >= 0 {
			return side
		}
	}
	return -1
}

// comma steps over what is left of the value, and to the next element. It returns false at
// the end of the level.
func (f *follower) comma() bool {
	f.pos += extentFrom(f.text[f.pos:], f.level.inside)
	f.level.inside = 0
	switch {
	case f.at(','):
		return true
	case f.at('}'):
		f.level.ended = true
	default:
		f.failed = true
	}
	return false
}

// leaf steps over the value if there is nothing in it.
func (f *follower) leaf() bool {
	if !strings.HasPrefix(f.text[f.pos:], "{}") {
		return false
	}
	f.pos += len("{}")
	return true
}

// enter makes the value of the element that was found the level to follow.
func (f *follower) enter(n *node) { f.level = followed{paths: n.below()} }

// leave returns to the level above, and tells whether the element there was a member. What
// is left of its value is stepped over only if somebody looks for what comes behind it.
func (f *follower) leave(above followed) (member bool) {
	left := f.level
	f.level = above
	if !left.ended {
		f.level.inside = left.inside + 1
	}
	return left.member || !left.some
}

// common returns the paths that a text of FieldsV1 has in common with a set, without
// reading the text as a whole: it follows the paths of the set through the text. ok is
// false if it meets on its way what it does not understand, which may also be right, such
// as white space; whoever reads the text finds out. What it steps over is not checked, nor
// is what comes later, so that ok does not mean that the text can be read: the caller must
// know that it is what Kubernetes writes.
func common(text string, paths Set) (Set, bool) {
	f := follow(text, paths)
	kids, ok := f.common()
	return Set{kids}, ok
}

func (f *follower) common() (kids []node, ok bool) {
	for n := f.open(); n != nil; n = f.next() {
		if f.leaf() {
			kids = appendNode(kids, n, n.member, Set{})
			continue
		}
		here := f.level
		f.enter(n)
		below, ok := f.common()
		if !ok {
			return nil, false
		}
		member := f.leave(here)
		kids = appendNode(kids, n, n.member && member, Set{below})
	}
	return kids, !f.failed
}

// Along returns what a text of FieldsV1 says about the elements on the way to the
// paths of a set: whether they are members, and whether anything is below them. All
// else is left out, but for the fact that there is something. ok is as for common. The
// set is in the arena.
func (a *arena) Along(text string, paths Set) (along Set, ok bool) {
	f := follow(text, paths)
	kids, ok := f.along(a)
	return Set{kids}, ok
}

// something stands for whatever there is that is not looked into. Its element is of no kind,
// so that no path has it.
var something = Set{[]node{newNode(Element{text: "…"}, true, Set{})}}

func (f *follower) along(a *arena) (kids []node, ok bool) {
	kids = a.level(len(f.level.paths.kids))
	for n := f.open(); n != nil; n = f.next() {
		switch {
		case f.leaf():
			kids = append(kids, n.with(true, Set{}))
		case len(n.kids) == 0:
			kids = append(kids, n.with(strings.HasPrefix(f.text[f.pos:], `{".":{}`), something))
		default:
			here := f.level
			f.enter(n)
			below, ok := f.along(a)
			if !ok {
				return nil, false
			}
			kids = append(kids, n.with(f.leave(here), Set{below}))
		}
	}
	if len(kids) == 0 && f.level.some {
		kids = something.kids
	}
	return kids, !f.failed
}

// arena is memory for the sets that its Along returns, which are used for a short time.
type arena struct{ nodes []node }

// Reset makes the memory free for other sets. Those that are in it must not be used any
// more, nor must their parts, nor what was made of them.
func (a *arena) Reset() {
	clear(a.nodes) // they keep texts alive
	if a.nodes = a.nodes[:0]; cap(a.nodes) > mostScratch {
		a.nodes = nil
	}
}

// level returns room for a number of nodes, with none in it yet.
func (a *arena) level(size int) []node {
	start := len(a.nodes)
	if start+size > cap(a.nodes) {
		// What is in the old memory stays there, as sets point to it.
		a.nodes, start = make([]node, 0, 2*cap(a.nodes)+max(size, 64)), 0
	}
	a.nodes = a.nodes[:start+size]
	return a.nodes[start : start : start+size]
}
