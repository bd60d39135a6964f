package fieldset

import "slices"

// Builder makes a set bottom up with few allocations: the elements of one level
// are collected on a stack, then moved to memory that many levels share.
//
//	mark := b.Mark()
//	b.Push(element, true, below)
//	set := b.Set(mark)
//
// Elements may come in any order, but each only once; in order is faster. The zero
// Builder is ready to use.
type Builder struct {
	stack []node
	high  int // how much of the stack has been used
	free  []node
	chunk int // how much memory was made last
}

// Mark starts a level.
func (b *Builder) Mark() int { return len(b.stack) }

// Push adds an element to the innermost level. An element that is no member and
// has nothing below it is left out.
func (b *Builder) Push(e Element, member bool, below Set) {
	if member || !below.IsEmpty() {
		b.stack = append(b.stack, newNode(e, member, below))
	}
}

// Reset makes the builder ready for other sets, and keeps nothing of those that it has made:
// what is left of their memory goes with them.
func (b *Builder) Reset() {
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
func (b *Builder) Set(mark int) Set {
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
