package document

// ScalarDifferences compares two maps that have fields of the same names, at most 64, all of
// them scalars and none null: bit i of the result is set if their i-th fields differ. It reports false of any
// other two, and of maps with equal numbers that are not spelt the same.
func ScalarDifferences(a, b Value) (differ uint64, ok bool) {
	count := a.Len()
	if count != b.Len() || count > 64 || a.Kind() != Map || b.Kind() != Map {
		return 0, false
	}
	if a.d.nodes != nil && b.d.nodes != nil {
		return nodeDifferences(a, b)
	}
	for i := range count {
		x, y := a.At(i), b.At(i)
		if a.Name(i) != b.Name(i) || !x.IsScalar() || !y.IsScalar() {
			return 0, false
		}
		switch {
		case x.Kind() != y.Kind():
			differ |= 1 << i
		case x.text() == y.text():
		case Equal(x, y):
			return 0, false
		default:
			differ |= 1 << i
		}
	}
	return differ, true
}

// nodeDifferences is ScalarDifferences for maps that were read.
func nodeDifferences(a, b Value) (differ uint64, ok bool) {
	x, y := a.kids(), b.kids()
	for i := range y {
		m, n := &x[i], &y[i]
		if m.nameSize != n.nameSize || m.kind-Bool > String-Bool || n.kind-Bool > String-Bool || a.d.nameOf(m) != b.d.nameOf(n) {
			return 0, false
		}
		if m.kind == n.kind && m.size == n.size && a.d.textOf(m) == b.d.textOf(n) {
			continue
		}
		if m.kind == Number && n.kind == Number && equalNumbers(a.d.textOf(m), b.d.textOf(n)) {
			return 0, false
		}
		differ |= 1 << i
	}
	return differ, true
}

// kids returns the nodes of the fields or items of a container that was read.
func (v Value) kids() []node {
	n := &v.d.nodes[v.i]
	return v.d.nodes[n.first : n.first+n.count]
}
