package fieldset

import (
	"strings"
)

// textQuery iterates over the elements of one level of FieldsV1 text that are also first elements of a set of paths. It
// skips the values of other elements, and stops after the last element that can match: elements are sorted in text that
// Kubernetes writes.
//
//	for n := f.open(); n != nil; n = f.next() {
//		// f.pos is at the value of the element, n is the element's node in the set
//	}
type textQuery struct {
	reader
	level  queryLevel
	failed bool
}

// queryLevel is the state of a textQuery in one level.
type queryLevel struct {
	paths Set
	index int // the index of the next first element of paths to find
	// inside is the nesting depth of pos inside of the value of an element; 0 if pos is at the start or the end of the
	// value.
	inside      int
	member      bool // the level has the name "."
	hasElements bool // the level has an element
	ended       bool // pos is after the level
}

func newTextQuery(text string, paths Set) textQuery {
	return textQuery{reader: reader{text: text}, level: queryLevel{paths: paths}}
}

// open enters the level and returns the first matching element, nil if there is none.
func (f *textQuery) open() *node {
	if !f.accept('{') {
		f.failed = true
		return nil
	}
	if f.accept('}') {
		f.level.ended = true
		return nil
	}
	return f.find()
}

// next returns the next matching element, nil if there is none.
func (f *textQuery) next() *node {
	f.level.index++
	if f.level.index == len(f.level.paths.children) || !f.comma() {
		return nil
	}
	return f.find()
}

// find reads elements until one is a first element of the paths.
func (f *textQuery) find() *node {
	level := &f.level
	for {
		e, err := f.element()
		if err != nil || !f.accept(':') {
			f.failed = true
			return nil
		}
		level.member = level.member || e == dot
		if e.kind != 0 {
			level.hasElements = true
			side := level.seek(e)
			if level.index == len(level.paths.children) {
				return nil
			}
			if side == 0 {
				return &level.paths.children[level.index]
			}
		}
		if !f.comma() {
			return nil
		}
	}
}

// seek advances to the first element of the paths that is not less than e, and returns how it compares with e.
func (l *queryLevel) seek(e Element) (side int) {
	for ; l.index < len(l.paths.children); l.index++ {
		if side = l.paths.children[l.index].element().Compare(e); side >= 0 {
			return side
		}
	}
	return -1
}

// comma skips the rest of the value and the comma before the next element. It returns false at the end of the level.
func (f *textQuery) comma() bool {
	f.pos += valueEndFrom(f.text[f.pos:], f.level.inside)
	f.level.inside = 0
	switch {
	case f.accept(','):
		return true
	case f.accept('}'):
		f.level.ended = true
	default:
		f.failed = true
	}
	return false
}

// leaf skips the value and returns true if the value is {}.
func (f *textQuery) leaf() bool {
	if !strings.HasPrefix(f.text[f.pos:], "{}") {
		return false
	}
	f.pos += len("{}")
	return true
}

// enter makes the value of the matching element the current level.
func (f *textQuery) enter(n *node) { f.level = queryLevel{paths: n.below()} }

// leave returns to the level above, and reports whether its current element is a member. The rest of the element's
// value is skipped later, and only if another element is searched.
func (f *textQuery) leave(above queryLevel) (member bool) {
	left := f.level
	f.level = above
	if !left.ended {
		f.level.inside = left.inside + 1
	}
	return left.member || !left.hasElements
}

// textIntersection returns the intersection of the set in FieldsV1 text with paths. It searches the text for the paths
// and does not decode the rest. ok is false if the search finds text that it does not support, which includes valid
// text such as white space; the caller then decodes the text. Skipped text is not checked, so ok does not mean that the
// text is valid: the caller must pass text that Kubernetes has written.
func textIntersection(text string, paths Set) (Set, bool) {
	f := newTextQuery(text, paths)
	children, ok := f.intersect()
	return Set{children}, ok
}

func (f *textQuery) intersect() (children []node, ok bool) {
	for n := f.open(); n != nil; n = f.next() {
		if f.leaf() {
			children = appendNode(children, n, n.member, Set{})
			continue
		}
		here := f.level
		f.enter(n)
		below, ok := f.intersect()
		if !ok {
			return nil, false
		}
		member := f.leave(here)
		children = appendNode(children, n, n.member && member, Set{below})
	}
	return children, !f.failed
}

// Project restricts the set in FieldsV1 text to the given paths and their prefixes: the result has, for each of these
// elements, whether it is a member and whether it has paths below it. Other elements are left out, or replaced by
// placeholder where nothing else shows that they exist. ok is as for textIntersection. The result is valid until Reset.
func (a *arena) Project(text string, paths Set) (project Set, ok bool) {
	f := newTextQuery(text, paths)
	children, ok := f.project(a)
	return Set{children}, ok
}

// placeholder represents paths that are not decoded. Its element has no kind, so no path has this element.
var placeholder = Set{[]node{newNode(Element{text: "…"}, true, Set{})}}

func (f *textQuery) project(a *arena) (children []node, ok bool) {
	children = a.level(len(f.level.paths.children))
	for n := f.open(); n != nil; n = f.next() {
		switch {
		case f.leaf():
			children = append(children, n.with(true, Set{}))
		case len(n.children) == 0:
			children = append(children, n.with(strings.HasPrefix(f.text[f.pos:], `{".":{}`), placeholder))
		default:
			here := f.level
			f.enter(n)
			below, ok := f.project(a)
			if !ok {
				return nil, false
			}
			children = append(children, n.with(f.leave(here), Set{below}))
		}
	}
	if len(children) == 0 && f.level.hasElements {
		children = placeholder.children
	}
	return children, !f.failed
}

// arena is memory for the short-lived sets that Project returns.
type arena struct{ nodes []node }

// Reset makes the memory available for other sets. The returned sets, and sets that share parts with them, must not be
// used any more.
func (a *arena) Reset() {
	clear(a.nodes) // releases the texts
	if a.nodes = a.nodes[:0]; cap(a.nodes) > maxScratch {
		a.nodes = nil
	}
}

// level returns an empty slice with capacity for size nodes.
func (a *arena) level(size int) []node {
	start := len(a.nodes)
	if start+size > cap(a.nodes) {
		// Existing sets keep the old slice in memory.
		a.nodes, start = make([]node, 0, 2*cap(a.nodes)+max(size, 64)), 0
	}
	a.nodes = a.nodes[:start+size]
	return a.nodes[start : start : start+size]
}
