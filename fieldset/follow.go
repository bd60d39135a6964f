package fieldset

import "strings"

// follower goes through one level of FieldsV1 to those of its elements that paths of a
// set begin with. It steps over the others, and looks at nothing behind the last one that
// it could find: elements are in order in what Kubernetes writes.
//
//	for n := f.open(); n != nil; n = f.next() {
//		// f.pos is at the value of the element, n is the element in the set
//	}
type follower struct {
	reader
	paths Set
	at    int // which first element of the paths is the next to be found
	// within says that pos is at the start of a value, not behind it.
	within bool
	member bool // a "." was met
	some   bool // an element was met
	ended  bool // pos is behind the level
	failed bool
}

func follow(text string, paths Set) follower {
	return follower{reader: reader{text: text}, paths: paths}
}

// open steps into the level, to the first element that is found.
func (f *follower) open() *node {
	if !f.reader.at('{') {
		f.failed = true
		return nil
	}
	if f.reader.at('}') {
		f.ended = true
		return nil
	}
	return f.find()
}

// next goes on to the next element that is found.
func (f *follower) next() *node {
	f.at++
	if f.at == len(f.paths.kids) || !f.comma() {
		return nil
	}
	return f.find()
}

// find reads elements until one of the paths begins with one.
func (f *follower) find() *node {
	for {
		e, err := f.element()
		if err != nil || !f.reader.at(':') {
			f.failed = true
			return nil
		}
		f.within = true
		f.member = f.member || e == dot
		if e.kind != 0 {
			f.some = true
			side := f.seek(e)
			if f.at == len(f.paths.kids) {
				return nil
			}
			if side == 0 {
				return &f.paths.kids[f.at]
			}
		}
		if !f.comma() {
			return nil
		}
	}
}

// seek goes on to the first of the paths' elements that does not come before e, and
// tells how it compares.
func (f *follower) seek(e Element) (side int) {
	for ; f.at < len(f.paths.kids); f.at++ {
		if side = f.paths.kids[f.at].element().Compare(e); side >= 0 {
			return side
		}
	}
	return -1
}

// comma steps over the value, if that was not done, and to the next element. It returns
// false at the end of the level.
func (f *follower) comma() bool {
	if f.within {
		f.pos += extent(f.text[f.pos:])
		f.within = false
	}
	switch {
	case f.reader.at(','):
		return true
	case f.reader.at('}'):
		f.ended = true
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
	f.within = false
	return true
}

// below returns a follower for the value of the element that was found.
func (f *follower) below(n *node) follower {
	return follower{reader: reader{text: f.text, pos: f.pos}, paths: n.below()}
}

// leave goes on behind the value where the follower for it has ended.
func (f *follower) leave(below *follower) {
	if below.ended {
		f.pos, f.within = below.pos, false
	}
}

// isMember reports whether the element above the level is a member.
func (f *follower) isMember() bool { return f.member || !f.some }

// Common returns the paths that a text of FieldsV1 has in common with a set, without
// reading the text as a whole: it follows the paths of the set through the text. ok is
// false if it meets on its way what it does not understand, which may also be right, such
// as white space; whoever reads the text finds out. What it steps over is not checked, nor
// is what comes later, so that ok does not mean that the text can be read: the caller must
// know that it is what Kubernetes writes.
func Common(text string, paths Set) (common Set, ok bool) {
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
		inside := f.below(n)
		below, ok := inside.common()
		if !ok {
			return nil, false
		}
		kids = appendNode(kids, n, n.member && inside.isMember(), Set{below})
		f.leave(&inside)
	}
	return kids, !f.failed
}

// Along returns what a text of FieldsV1 says about the elements on the way to the
// paths of a set: whether they are members, and whether anything is below them. All
// else is left out, but for the fact that there is something. ok is as for Common.
func Along(text string, paths Set) (along Set, ok bool) {
	f := follow(text, paths)
	room := make([]node, 0, paths.nodes())
	kids, ok := f.along(&room)
	return Set{kids}, ok
}

// nodes returns how many nodes a set has.
func (s Set) nodes() int {
	count := len(s.kids)
	for i := range s.kids {
		count += s.kids[i].below().nodes()
	}
	return count
}

// something stands for whatever there is that is not looked into.
var something = Set{[]node{newNode(NameElement("…"), true, Set{})}}

// along takes the memory for the nodes of its level from room, which has enough for all.
func (f *follower) along(room *[]node) (kids []node, ok bool) {
	start := len(*room)
	*room = (*room)[:start+len(f.paths.kids)]
	kids = (*room)[start:start]
	for n := f.open(); n != nil; n = f.next() {
		switch {
		case f.leaf():
			kids = append(kids, n.with(true, Set{}))
		case len(n.kids) == 0:
			kids = append(kids, n.with(strings.HasPrefix(f.text[f.pos:], "{"+dotEntry), something))
		default:
			inside := f.below(n)
			below, ok := inside.along(room)
			if !ok {
				return nil, false
			}
			kids = append(kids, n.with(inside.isMember(), Set{below}))
			f.leave(&inside)
		}
	}
	if len(kids) == 0 && f.some {
		kids = something.kids
	}
	return kids, !f.failed
}
