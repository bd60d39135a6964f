package fieldset

import (
	"cmp"
	"iter"
	"slices"
	"strings"
)

// Set is an immutable set of paths. The zero Set is empty. The whole document,
// the empty path, is never a member.
type Set struct{ kids []node }

// node is an element with what the set says about it and about what is below it.
// The element's parts are spread out because nodes are many: so they take less room.
type node struct {
	text   string
	kids   []node
	kind   ElementKind
	member bool
}

func newNode(e Element, member bool, below Set) node { return node{e.text, below.kids, e.kind, member} }

// with returns a node for the same element that says something else.
func (n *node) with(member bool, below Set) node { return node{n.text, below.kids, n.kind, member} }

func (n *node) element() Element { return Element{n.kind, n.text} }

// compare orders nodes by their elements.
func (n *node) compare(other *node) int {
	switch {
	case n.kind != other.kind:
		return cmp.Compare(n.kind, other.kind)
	case n.text == other.text:
		return 0
	case n.kind == FieldName:
		return strings.Compare(n.text, other.text)
	}
	return n.element().Compare(other.element())
}

// New returns the set of the given paths.
func New(paths ...Path) Set {
	sorted := slices.SortedFunc(slices.Values(paths), Path.Compare)
	return Set{grow(sorted, 0)}
}

// grow makes the nodes for sorted paths that share their first elements up to depth.
func grow(paths []Path, depth int) []node {
	var kids []node
	for len(paths) > 0 {
		if len(paths[0]) <= depth {
			paths = paths[1:]
			continue
		}
		e, member, same := paths[0][depth], false, 0
		for same < len(paths) && paths[same][depth] == e {
			member = member || len(paths[same]) == depth+1
			same++
		}
		kids = append(kids, newNode(e, member, Set{grow(paths[:same], depth+1)}))
		paths = paths[same:]
	}
	return kids
}

// IsEmpty reports whether the set has no member.
func (s Set) IsEmpty() bool { return len(s.kids) == 0 }

// Size returns the number of members.
func (s Set) Size() int {
	size := 0
	for i := range s.kids {
		if s.kids[i].member {
			size++
		}
		size += s.kids[i].below().Size()
	}
	return size
}

// Has reports whether the path is a member.
func (s Set) Has(p Path) bool {
	if len(p) == 0 {
		return false
	}
	for _, e := range p[:len(p)-1] {
		s, _ = s.Below(e)
	}
	_, member := s.Below(p[len(p)-1])
	return member
}

// Below returns the members below an element, relative to it, and whether the element itself is a member.
func (s Set) Below(e Element) (below Set, member bool) {
	if i, ok := s.Find(e); ok {
		return s.kids[i].below(), s.kids[i].member
	}
	return Set{}, false
}

// At returns the members below a path, relative to it.
func (s Set) At(p Path) Set {
	for _, e := range p {
		s, _ = s.Below(e)
	}
	return s
}

func (n *node) below() Set { return Set{n.kids} }

// Len returns the number of different first elements, which Element, Member and Child access by index, sorted.
func (s Set) Len() int { return len(s.kids) }

// Find returns the index of an element among the first elements.
func (s Set) Find(e Element) (i int, ok bool) {
	low, high := 0, len(s.kids)
	for low < high {
		middle := int(uint(low+high) >> 1)
		switch side := s.kids[middle].element().Compare(e); {
		case side == 0:
			return middle, true
		case side < 0:
			low = middle + 1
		default:
			high = middle
		}
	}
	return low, false
}

// Element returns the first element with index i.
func (s Set) Element(i int) Element { return s.kids[i].element() }

// Member reports whether the first element with index i is a member by itself.
func (s Set) Member(i int) bool { return s.kids[i].member }

// Child returns the members below the first element with index i, relative to it.
func (s Set) Child(i int) Set { return s.kids[i].below() }

// Equal reports whether two sets have the same members.
func (s Set) Equal(other Set) bool {
	if len(s.kids) != len(other.kids) {
		return false
	}
	if len(s.kids) > 0 && &s.kids[0] == &other.kids[0] {
		return true
	}
	for i := range s.kids {
		a, b := &s.kids[i], &other.kids[i]
		if a.member != b.member || a.element() != b.element() || !a.below().Equal(b.below()) {
			return false
		}
	}
	return true
}

// All iterates over the members: first those with one element, sorted, then those below each first element. The path
// is valid until the next iteration.
func (s Set) All() iter.Seq[Path] {
	return func(yield func(Path) bool) {
		path := make(Path, 0, 16)
		s.walk(&path, yield)
	}
}

func (s Set) walk(path *Path, yield func(Path) bool) bool {
	at := len(*path)
	for i := range s.kids {
		if s.kids[i].member && !yield(append(*path, s.kids[i].element())) {
			return false
		}
	}
	for i := range s.kids {
		*path = append((*path)[:at], s.kids[i].element())
		if !s.kids[i].below().walk(path, yield) {
			return false
		}
	}
	*path = (*path)[:at]
	return true
}

// Paths returns the members in the order of All.
func (s Set) Paths() []Path {
	var paths []Path
	for p := range s.All() {
		paths = append(paths, slices.Clone(p))
	}
	return paths
}

// String returns the members in the order of All, one per line.
func (s Set) String() string {
	var b strings.Builder
	for p := range s.All() {
		b.WriteString(p.String())
		b.WriteByte('\n')
	}
	return b.String()
}

// builder makes a set bottom up with few allocations: the elements of one level
// are collected on a stack, then moved to memory that many levels share.
//
//	mark := b.Mark()
//	b.Push(element, true, below)
//	set := b.Set(mark)
//
// Elements may come in any order, but each only once; in order is faster. The zero
// builder is ready to use.
type builder struct {
	stack []node
	high  int // how much of the stack has been used
	free  []node
	chunk int // how much memory was made last
}

// Mark starts a level.
func (b *builder) Mark() int { return len(b.stack) }

// Push adds an element to the innermost level. An element that is no member and
// has nothing below it is left out.
func (b *builder) Push(e Element, member bool, below Set) {
	if member || !below.IsEmpty() {
		b.stack = append(b.stack, newNode(e, member, below))
	}
}

// Reset makes the builder ready for other sets, and keeps nothing of those that it has made:
// what is left of their memory goes with them.
func (b *builder) Reset() {
	b.high = max(b.high, len(b.stack))
	clear(b.stack[:b.high])
	if b.stack = b.stack[:0]; cap(b.stack) > mostScratch {
		b.stack = nil
	}
	b.free, b.chunk, b.high = nil, 0, 0
}

// mostScratch is how many nodes of scratch memory are kept for later.
const mostScratch = 1 << 12

// Set finishes the level that was started at mark.
func (b *builder) Set(mark int) Set {
	level := b.stack[mark:]
	if len(level) == 0 {
		return Set{}
	}
	if !ascending(level) {
		slices.SortFunc(level, compareNodes)
	}
	if len(b.free) < len(level) {
		b.chunk = min(2*b.chunk+8, 256)
		b.free = make([]node, max(len(level), b.chunk))
	}
	kids := b.free[:len(level):len(level)]
	b.free = b.free[len(level):]
	copy(kids, level)
	b.high = max(b.high, len(b.stack))
	b.stack = b.stack[:mark]
	return Set{kids}
}

func compareNodes(a, b node) int { return a.compare(&b) }
