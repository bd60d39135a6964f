package fieldset

import "slices"

// All operations join two sorted trees with the function join. Each operation only defines the resulting node for an
// element that is in the left set, in the right set, or in both sets.

// Union returns the paths that are in at least one of the sets.
func (s Set) Union(other Set) Set {
	switch {
	case other.IsEmpty():
		return s
	case s.IsEmpty():
		return other
	}
	out := make([]node, 0, max(len(s.children), len(other.children)))
	join(s, other, func(a, b *node) {
		switch {
		case b == nil:
			out = append(out, *a)
		case a == nil:
			out = append(out, *b)
		default:
			out = append(out, a.withChildren(a.member || b.member, a.below().Union(b.below())))
		}
	})
	return Set{out}
}

// Intersection returns the paths that are in both sets.
func (s Set) Intersection(other Set) Set {
	var out []node
	if small, large := other, s; len(large.children) > searchFactor*len(small.children) || len(small.children) > searchFactor*len(large.children) {
		if len(small.children) > len(large.children) {
			small, large = large, small
		}
		for i := range small.children {
			a := &small.children[i]
			if j, ok := slices.BinarySearchFunc(large.children, a, func(n node, a *node) int { return n.compare(a) }); ok {
				b := &large.children[j]
				out = appendNode(out, a, a.member && b.member, a.below().Intersection(b.below()))
			}
		}
		return Set{out}
	}
	join(s, other, func(a, b *node) {
		if a != nil && b != nil {
			out = appendNode(out, a, a.member && b.member, a.below().Intersection(b.below()))
		}
	})
	return Set{out}
}

// searchFactor is the minimum ratio of the sizes of two sets at which each element of the smaller set is searched in the larger
// set, instead of joining the sets. An object can have thousands of small managed fields entries, each of which is intersected
// with the set of all changed fields.
const searchFactor = 16

// Difference returns the paths of s that are not in other. Unlike RecursiveDifference it keeps the paths of s that are
// below a path of other.
func (s Set) Difference(other Set) Set {
	if other.IsEmpty() || s.IsEmpty() {
		return s
	}
	var out []node
	join(s, other, func(a, b *node) {
		switch {
		case a == nil:
		case b == nil:
			out = append(out, *a)
		default:
			out = appendNode(out, a, a.member && !b.member, a.below().Difference(b.below()))
		}
	})
	return Set{out}
}

// RecursiveDifference returns the paths of s that are neither in other nor below a path of other.
func (s Set) RecursiveDifference(other Set) Set {
	if other.IsEmpty() || s.IsEmpty() {
		return s
	}
	var out []node
	join(s, other, func(a, b *node) {
		switch {
		case a == nil || b != nil && b.member:
		case b == nil:
			out = append(out, *a)
		default:
			out = appendNode(out, a, a.member, a.below().RecursiveDifference(b.below()))
		}
	})
	return Set{out}
}

// Leaves returns the paths that have no other path of the set below them.
func (s Set) Leaves() Set {
	var out []node
	for i := range s.children {
		n := &s.children[i]
		out = appendNode(out, n, n.member && len(n.children) == 0, n.below().Leaves())
	}
	return Set{out}
}

// Covered returns the paths of s that are in other or below a path of other.
func (s Set) Covered(other Set) Set {
	var out []node
	join(s, other, func(a, b *node) {
		switch {
		case a == nil || b == nil:
		case b.member:
			out = append(out, *a)
		default:
			out = appendNode(out, a, false, a.below().Covered(b.below()))
		}
	})
	return Set{out}
}

// Insert returns the union of the set and the path p; s itself is not modified.
func (s Set) Insert(p Path) Set { return s.Union(New(p)) }

// join calls visit for each first element of the paths in s and other, in sorted order. a is the node of the element
// in s, and b its node in other; a node is nil if its set does not contain the element.
func join(s, other Set, visit func(a, b *node)) {
	i, j := 0, 0
	for i < len(s.children) && j < len(other.children) {
		a, b := &s.children[i], &other.children[j]
		switch c := a.compare(b); {
		case c < 0:
			visit(a, nil)
			i++
		case c > 0:
			visit(nil, b)
			j++
		default:
			visit(a, b)
			i++
			j++
		}
	}
	for ; i < len(s.children); i++ {
		visit(&s.children[i], nil)
	}
	for ; j < len(other.children); j++ {
		visit(nil, &other.children[j])
	}
}

// appendNode appends to out a node with the element of n, the given membership and the children of below. It omits a
// node that is not a member and has no children.
func appendNode(out []node, n *node, member bool, below Set) []node {
	if !member && below.IsEmpty() {
		return out
	}
	return append(out, n.withChildren(member, below))
}
