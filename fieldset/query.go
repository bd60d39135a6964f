package fieldset

import (
	"strings"
)

// textQuery searches FieldsV1 text for a set of paths. In one JSON object ("level") of the text, it iterates over the
// elements with which paths of the set start. It skips the values of other elements, and it stops after the last
// element that can match, because elements are sorted in text that Kubernetes writes.
//
//	for n := f.open(); n != nil; n = f.next() {
//		// f.pos is at the value of the element, n is the element's node in the set
//	}
type textQuery struct {
	reader
	level  queryLevel
	failed bool
}

// queryLevel is the state of a textQuery in one level of the text.
type queryLevel struct {
	paths Set // the paths to search, relative to the level
	index int // the index in paths of the first element that is not searched yet
	// inside is the number of JSON objects inside of an element's value that are open at pos; 0 if pos is at the start or
	// the end of the value.
	inside      int
	member      bool // the level contains the name "."
	hasElements bool // the level contains an element
	ended       bool // pos is after the closing brace of the level
}

func newTextQuery(text string, paths Set) textQuery {
	return textQuery{reader: reader{text: text}, level: queryLevel{paths: paths}}
}

// open enters the level at pos and returns the node, in the paths, of the first matching element, nil if no element
// matches.
func (q *textQuery) open() *node {
	if !q.accept('{') {
		q.failed = true
		return nil
	}
	if q.accept('}') {
		q.level.ended = true
		return nil
	}
	return q.find()
}

// next returns the node, in the paths, of the next matching element, nil if no further element matches.
func (q *textQuery) next() *node {
	q.level.index++
	if q.level.index == len(q.level.paths.children) || !q.skipComma() {
		return nil
	}
	return q.find()
}

// find reads elements until one matches, and returns its node in the paths. It returns nil at the end of the level, and
// if no further element can match.
func (q *textQuery) find() *node {
	level := &q.level
	for {
		e, err := q.element()
		if err != nil || !q.accept(':') {
			q.failed = true
			return nil
		}
		level.member = level.member || e == dot
		if e.kind != 0 {
			level.hasElements = true
			order := level.seek(e)
			if level.index == len(level.paths.children) {
				return nil
			}
			if order == 0 {
				return &level.paths.children[level.index]
			}
		}
		if !q.skipComma() {
			return nil
		}
	}
}

// seek advances l.index to the first element of the paths that is not less than e. It returns 0 if that element equals
// e, a positive number if it is greater, and -1 if all remaining elements are less than e.
func (l *queryLevel) seek(e Element) (order int) {
	for ; l.index < len(l.paths.children); l.index++ {
		if order = l.paths.children[l.index].element().Compare(e); order >= 0 {
			return order
		}
	}
	return -1
}

// skipComma skips the rest of the current value and the comma before the next element. At the end of the level it
// returns false.
func (q *textQuery) skipComma() bool {
	q.pos += valueEndFrom(q.text[q.pos:], q.level.inside)
	q.level.inside = 0
	switch {
	case q.accept(','):
		return true
	case q.accept('}'):
		q.level.ended = true
	default:
		q.failed = true
	}
	return false
}

// skipLeaf reports whether the value at pos is {}, and skips it if so.
func (q *textQuery) skipLeaf() bool {
	if !strings.HasPrefix(q.text[q.pos:], "{}") {
		return false
	}
	q.pos += len("{}")
	return true
}

// enter descends into the value of the current element: the value becomes the current level. n is the node of the element in
// the paths.
func (q *textQuery) enter(n *node) { q.level = queryLevel{paths: n.below()} }

// leave ends the current level, the value of an element, and returns to above, the level that contains the element.
// member reports whether the element is in the set. If the search continues, skipComma skips the unread rest of the
// value.
func (q *textQuery) leave(above queryLevel) (member bool) {
	left := q.level
	q.level = above
	if !left.ended {
		q.level.inside = left.inside + 1
	}
	return left.member || !left.hasElements
}

// textIntersection returns the intersection of the set in FieldsV1 text with paths. It searches the text for the paths
// and does not decode the rest. ok is false if the search finds text that it does not support, which includes valid
// text such as white space; the caller must then decode the text. Skipped text is not validated, so ok does not imply
// that the text is valid. The text must have been written by Kubernetes or by this package.
func textIntersection(text string, paths Set) (Set, bool) {
	f := newTextQuery(text, paths)
	children, ok := f.intersect()
	return Set{children}, ok
}

func (q *textQuery) intersect() (children []node, ok bool) {
	for n := q.open(); n != nil; n = q.next() {
		if q.skipLeaf() {
			children = appendNode(children, n, n.member, Set{})
			continue
		}
		here := q.level
		q.enter(n)
		below, ok := q.intersect()
		if !ok {
			return nil, false
		}
		member := q.leave(here)
		children = appendNode(children, n, n.member && member, Set{below})
	}
	return children, !q.failed
}

// Project restricts the set in FieldsV1 text to the given paths and their prefixes: the result states, for each element
// of these paths, whether it is a member and whether there are paths below it. Other elements are left out; if only
// such elements are below an element, placeholder represents them. ok is false as in textIntersection. The result is
// valid until Reset.
func (a *arena) Project(text string, paths Set) (project Set, ok bool) {
	f := newTextQuery(text, paths)
	children, ok := f.project(a)
	return Set{children}, ok
}

// placeholder represents paths that are not decoded. Its element has no kind, so it differs from the elements of all
// real paths.
var placeholder = Set{[]node{newNode(Element{text: "…"}, true, Set{})}}

func (q *textQuery) project(a *arena) (children []node, ok bool) {
	children = a.level(len(q.level.paths.children))
	for n := q.open(); n != nil; n = q.next() {
		switch {
		case q.skipLeaf():
			children = append(children, n.withChildren(true, Set{}))
		case len(n.children) == 0:
			children = append(children, n.withChildren(strings.HasPrefix(q.text[q.pos:], `{".":{}`), placeholder))
		default:
			here := q.level
			q.enter(n)
			below, ok := q.project(a)
			if !ok {
				return nil, false
			}
			children = append(children, n.withChildren(q.leave(here), Set{below}))
		}
	}
	if len(children) == 0 && q.level.hasElements {
		children = placeholder.children
	}
	return children, !q.failed
}

// arena allocates the short-lived sets that Project returns, from memory that is reused after Reset.
type arena struct{ nodes []node }

// Reset makes the memory available for other sets. Neither the returned sets nor sets that share parts with them may be
// used afterwards.
func (a *arena) Reset() {
	clear(a.nodes) // drop the references to the texts
	if a.nodes = a.nodes[:0]; cap(a.nodes) > maxScratch {
		a.nodes = nil
	}
}

// level returns an empty slice with capacity for size nodes, for one level of a set.
func (a *arena) level(size int) []node {
	start := len(a.nodes)
	if start+size > cap(a.nodes) {
		// The sets in the old slice stay valid and keep it in memory.
		a.nodes, start = make([]node, 0, 2*cap(a.nodes)+max(size, 64)), 0
	}
	a.nodes = a.nodes[:start+size]
	return a.nodes[start : start : start+size]
}
