package fieldset

// The algebra is one walk, join, over two sorted trees; each operation says only
// what becomes of an element that is in the left, the right, or both.

// Union returns the paths that are in at least one of the sets.
func (s Set) Union(other Set) Set {
	switch {
	case other.IsEmpty():
		return s
	case s.IsEmpty():
		return other
	}
	out := make([]node, 0, max(len(s.kids), len(other.kids)))
	join(s, other, func(a, b *node) {
		switch {
		case b == nil:
			out = append(out, *a)
		case a == nil:
			out = append(out, *b)
		default:
			out = append(out, a.with(a.member || b.member, a.below().Union(b.below())))
		}
	})
	return Set{out}
}

// Intersection returns the paths that are in both sets.
func (s Set) Intersection(other Set) Set {
	var out []node
	join(s, other, func(a, b *node) {
		if a != nil && b != nil {
			out = appendNode(out, a, a.member && b.member, a.below().Intersection(b.below()))
		}
	})
	return Set{out}
}

// Difference returns the paths of s that are not in the other set. Paths below a path of the other set remain; see
// RecursiveDifference.
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

// RecursiveDifference returns the paths of s that are neither in the other set nor below a path in it.
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
	for i := range s.kids {
		n := &s.kids[i]
		out = appendNode(out, n, n.member && len(n.kids) == 0, n.below().Leaves())
	}
	return Set{out}
}

// Covered returns the paths of s that are in the other set or below a path in it.
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

// Insert returns the set with one more path.
func (s Set) Insert(p Path) Set { return s.Union(New(p)) }

// join visits the elements of both sets in order; a or b is nil where that set
// does not have the element.
func join(s, other Set, visit func(a, b *node)) {
	i, j := 0, 0
	for i < len(s.kids) && j < len(other.kids) {
		a, b := &s.kids[i], &other.kids[j]
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
	for ; i < len(s.kids); i++ {
		visit(&s.kids[i], nil)
	}
	for ; j < len(other.kids); j++ {
		visit(nil, &other.kids[j])
	}
}

// appendNode appends a node for the element of n, unless it would say nothing.
func appendNode(out []node, n *node, member bool, below Set) []node {
	if !member && below.IsEmpty() {
		return out
	}
	return append(out, n.with(member, below))
}
