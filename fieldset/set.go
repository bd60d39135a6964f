package fieldset

import (
	"cmp"
	"iter"
	"slices"
	"strings"
)

// Set is an immutable set of paths. The zero Set is empty. The empty path, the path of the whole document, is never
// a member.
type Set struct{ children []node }

// node is a path element in the tree of a set. member reports whether the path that ends with this element is in the
// set, and children are the path elements that may follow it. The fields of Element are inlined to make nodes smaller.
type node struct {
	text     string
	children []node
	kind     ElementKind
	member   bool
}

func newNode(e Element, member bool, below Set) node {
	return node{e.text, below.children, e.kind, member}
}

// withChildren returns a node with the element of n, the given membership and the children of below.
func (n *node) withChildren(member bool, below Set) node {
	return node{n.text, below.children, n.kind, member}
}

func (n *node) element() Element { return Element{n.kind, n.text} }

// compare compares two nodes by their elements, as Element.Compare does.
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

// New returns the set of the given paths, which may be in any order and contain duplicates.
func New(paths ...Path) Set {
	sorted := slices.SortedFunc(slices.Values(paths), Path.Compare)
	return Set{buildNodes(sorted, 0)}
}

// buildNodes returns the nodes at the given depth of the tree for paths. These are sorted, and their first depth
// elements are equal.
func buildNodes(paths []Path, depth int) []node {
	var children []node
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
		children = append(children, newNode(e, member, Set{buildNodes(paths[:same], depth+1)}))
		paths = paths[same:]
	}
	return children
}

// IsEmpty reports whether the set contains no paths.
func (s Set) IsEmpty() bool { return len(s.children) == 0 }

// Size returns the number of paths in the set.
func (s Set) Size() int {
	size := 0
	for i := range s.children {
		if s.children[i].member {
			size++
		}
		size += s.children[i].below().Size()
	}
	return size
}

// Has reports whether the path p is a member of the set.
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

// Below returns the members below the element e, as paths relative to e, and whether the path that consists only of e
// is itself a member.
func (s Set) Below(e Element) (below Set, member bool) {
	if i, ok := s.Find(e); ok {
		return s.children[i].below(), s.children[i].member
	}
	return Set{}, false
}

// At returns the members below the path p, as paths relative to p. The path p itself is not included.
func (s Set) At(p Path) Set {
	for _, e := range p {
		s, _ = s.Below(e)
	}
	return s
}

func (n *node) below() Set { return Set{n.children} }

// Len returns the number of distinct first elements of the paths. Element, Member and Child access these elements by
// index, in sorted order.
func (s Set) Len() int { return len(s.children) }

// Find returns the index of e among the first elements of the paths; ok is false if no path starts with e.
func (s Set) Find(e Element) (i int, ok bool) {
	low, high := 0, len(s.children)
	for low < high {
		middle := int(uint(low+high) >> 1)
		switch side := s.children[middle].element().Compare(e); {
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
func (s Set) Element(i int) Element { return s.children[i].element() }

// Member reports whether the path that consists only of the first element with index i is a member.
func (s Set) Member(i int) bool { return s.children[i].member }

// Child returns the members below the first element with index i, as paths relative to that element.
func (s Set) Child(i int) Set { return s.children[i].below() }

// Equal reports whether two sets have the same members.
func (s Set) Equal(other Set) bool {
	if len(s.children) != len(other.children) {
		return false
	}
	if len(s.children) > 0 && &s.children[0] == &other.children[0] {
		return true
	}
	for i := range s.children {
		a, b := &s.children[i], &other.children[i]
		if a.member != b.member || a.element() != b.element() || !a.below().Equal(b.below()) {
			return false
		}
	}
	return true
}

// All iterates over the members: first the sorted paths of one element, then the members below each first element in
// the same way. A path is valid only until the next iteration.
func (s Set) All() iter.Seq[Path] {
	return func(yield func(Path) bool) {
		path := make(Path, 0, 16)
		s.walk(&path, yield)
	}
}

func (s Set) walk(path *Path, yield func(Path) bool) bool {
	at := len(*path)
	for i := range s.children {
		if s.children[i].member && !yield(append(*path, s.children[i].element())) {
			return false
		}
	}
	for i := range s.children {
		*path = append((*path)[:at], s.children[i].element())
		if !s.children[i].below().walk(path, yield) {
			return false
		}
	}
	*path = (*path)[:at]
	return true
}

// Paths returns the members in the order of All, as copies that stay valid.
func (s Set) Paths() []Path {
	var paths []Path
	for p := range s.All() {
		paths = append(paths, slices.Clone(p))
	}
	return paths
}

// String returns the members in the order of All, one per line, in the notation of Path.String.
func (s Set) String() string {
	var b strings.Builder
	for p := range s.All() {
		b.WriteString(p.String())
		b.WriteByte('\n')
	}
	return b.String()
}

// builder builds sets bottom up with few allocations. It collects the elements of one level on a stack, then moves them
// to memory that many levels share.
//
//	mark := b.Mark()
//	b.Push(element, true, below)
//	set := b.Set(mark)
//
// Elements may be pushed in any order, but each only once per level; sorted elements are faster. The zero builder is
// ready to use.
type builder struct {
	stack     []node
	highWater int // the maximum length of the stack since Reset
	free      []node
	chunk     int // the size of the last allocation
}

// Mark starts a level and returns the length of the stack, which must be passed to Set to finish the level.
func (b *builder) Mark() int { return len(b.stack) }

// Push adds the element e to the innermost level; below contains the paths below e. If e is not a member and below is
// empty, Push does nothing.
func (b *builder) Push(e Element, member bool, below Set) {
	if member || !below.IsEmpty() {
		b.stack = append(b.stack, newNode(e, member, below))
	}
}

// Reset prepares the builder for other sets. The sets that it built stay valid; the builder drops its references to
// them and the unused rest of their memory.
func (b *builder) Reset() {
	b.highWater = max(b.highWater, len(b.stack))
	clear(b.stack[:b.highWater])
	if b.stack = b.stack[:0]; cap(b.stack) > maxScratch {
		b.stack = nil
	}
	b.free, b.chunk, b.highWater = nil, 0, 0
}

// maxScratch is the maximum capacity, in nodes, of scratch memory that is kept for reuse.
const maxScratch = 1 << 12

// Set finishes the level that Mark started with the result mark, and returns the set of the elements that were pushed
// since then.
func (b *builder) Set(mark int) Set {
	level := b.stack[mark:]
	if len(level) == 0 {
		return Set{}
	}
	if !isSorted(level) {
		slices.SortFunc(level, compareNodes)
	}
	if len(b.free) < len(level) {
		b.chunk = min(2*b.chunk+8, 256)
		b.free = make([]node, max(len(level), b.chunk))
	}
	children := b.free[:len(level):len(level)]
	b.free = b.free[len(level):]
	copy(children, level)
	b.highWater = max(b.highWater, len(b.stack))
	b.stack = b.stack[:mark]
	return Set{children}
}

func compareNodes(a, b node) int { return a.compare(&b) }
