package watchcache

import (
	"iter"
	"slices"
	"strings"
	"unsafe"
)

// tree has objects in the order of their keys. It is a B+ tree that is copied on write: clone
// takes no time, and from then on either tree copies the nodes that it changes and may not
// write to. A tree that nobody changes may be read by many at once.
//
//	a leaf has objects, any other node has children; neither is empty, but for the root
//	lows[i] <= the keys below children[i] < lows[i+1]; lows[0] is not looked at
//	count is the number of objects below
type tree struct {
	root   *node
	writer *writer
	// copied is how much memory the nodes took that were copied.
	copied int
}

// writer is what a tree and the nodes have in common that it may change in place.
type writer struct{ _ byte }

type node struct {
	writer   *writer
	count    int
	objects  []*Object
	children []*node
	lows     []string
}

// fullNode is how many objects or children a node may have, sparseNode how few it should have.
const (
	fullNode   = 64
	sparseNode = fullNode / 4
)

func (n *node) isLeaf() bool { return n.children == nil }

// size is how many objects or children a node has.
func (n *node) size() int { return len(n.objects) + len(n.children) }

// clone returns a tree with the same objects.
func (t *tree) clone() tree {
	t.writer = new(writer)
	return tree{root: t.root, writer: new(writer)}
}

// get returns the object with that key, nil if there is none.
func (t *tree) get(key string) *Object {
	n := t.root
	if n == nil {
		return nil
	}
	for !n.isLeaf() {
		n = n.children[n.childFor(key)]
	}
	if i, found := n.find(key); found {
		return n.objects[i]
	}
	return nil
}

// childFor returns which child has the key, if any has.
func (n *node) childFor(key string) int {
	low, high := 0, len(n.lows)-1
	for low < high {
		middle := (low + high + 1) / 2
		if n.lows[middle] <= key {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return low
}

// find returns where in a leaf a key is or would be.
func (n *node) find(key string) (int, bool) {
	return slices.BinarySearchFunc(n.objects, key, func(o *Object, key string) int { return strings.Compare(o.key, key) })
}

// set puts an object in, and returns the one that had its key.
func (t *tree) set(o *Object) (previous *Object) {
	if t.writer == nil {
		t.writer = new(writer)
	}
	if t.root == nil {
		t.root = &node{writer: t.writer, count: 1, objects: []*Object{o}}
		return nil
	}
	t.root = t.writable(t.root)
	previous = t.setBelow(t.root, o)
	if t.root.size() > fullNode {
		left := t.root
		right := t.split(left, o.key)
		t.root = &node{writer: t.writer, count: left.count + right.count, children: []*node{left, right}, lows: []string{left.low(), right.low()}}
	}
	return previous
}

func (t *tree) setBelow(n *node, o *Object) (previous *Object) {
	defer func() {
		if previous == nil {
			n.count++
		}
	}()
	if n.isLeaf() {
		i, found := n.find(o.key)
		if found {
			previous, n.objects[i] = n.objects[i], o
			return previous
		}
		n.objects = slices.Insert(n.objects, i, o)
		return nil
	}
	i := n.childFor(o.key)
	child := t.writable(n.children[i])
	n.children[i] = child
	previous = t.setBelow(child, o)
	if child.size() > fullNode {
		right := t.split(child, o.key)
		n.children = slices.Insert(n.children, i+1, right)
		n.lows = slices.Insert(n.lows, i+1, right.low())
	}
	return previous
}

// writable returns the node if the tree may change it, or else a copy that it may.
func (t *tree) writable(n *node) *node {
	if n.writer == t.writer {
		return n
	}
	t.copied += n.memory()
	return &node{writer: t.writer, count: n.count, objects: slices.Clone(n.objects), children: slices.Clone(n.children), lows: slices.Clone(n.lows)}
}

// memory is about how much memory a node takes.
func (n *node) memory() int {
	const pointer, text = int(unsafe.Sizeof(n)), int(unsafe.Sizeof(""))
	return int(unsafe.Sizeof(*n)) + n.size()*pointer + len(n.lows)*text
}

// low returns a bound of the keys below a node.
func (n *node) low() string {
	if n.isLeaf() {
		return n.objects[0].key
	}
	return n.lows[0]
}

// split moves the upper part of a node to a new one. A node that is too full because of its
// last key, as when objects come in order, stays as full as it may be.
func (t *tree) split(n *node, key string) (right *node) {
	at := n.size() / 2
	right = &node{writer: t.writer}
	if n.isLeaf() {
		if n.objects[len(n.objects)-1].key == key {
			at = len(n.objects) - 1
		}
		right.objects = slices.Clone(n.objects[at:])
		n.objects = truncate(n.objects, at)
	} else {
		if n.lows[len(n.lows)-1] == key {
			at = len(n.lows) - 1
		}
		right.children, right.lows = slices.Clone(n.children[at:]), slices.Clone(n.lows[at:])
		n.children, n.lows = truncate(n.children, at), truncate(n.lows, at)
	}
	right.recount()
	n.count -= right.count
	return right
}

// truncate shortens a slice and keeps nothing alive behind its end.
func truncate[T any](s []T, at int) []T {
	clear(s[at:])
	return s[:at]
}

func (n *node) recount() {
	n.count = len(n.objects)
	for _, c := range n.children {
		n.count += c.count
	}
}

// delete takes an object out and returns it, nil if there is none.
func (t *tree) delete(key string) (previous *Object) {
	if t.get(key) == nil {
		return nil // nothing is copied
	}
	t.root = t.writable(t.root)
	previous = t.deleteBelow(t.root, key)
	for !t.root.isLeaf() && len(t.root.children) == 1 {
		t.root = t.root.children[0]
	}
	if t.root.size() == 0 {
		t.root = nil
	}
	return previous
}

func (t *tree) deleteBelow(n *node, key string) (previous *Object) {
	n.count--
	if n.isLeaf() {
		i, _ := n.find(key)
		previous = n.objects[i]
		n.objects = slices.Delete(n.objects, i, i+1)
		return previous
	}
	i := n.childFor(key)
	child := t.writable(n.children[i])
	n.children[i] = child
	previous = t.deleteBelow(child, key)
	if child.size() < sparseNode {
		t.join(n, i)
	}
	return previous
}

// join puts a child that has become sparse together with a neighbour that has room, and takes
// it out if it is empty.
func (t *tree) join(n *node, i int) {
	if n.children[i].size() == 0 {
		n.children, n.lows = slices.Delete(n.children, i, i+1), slices.Delete(n.lows, i, i+1)
		return
	}
	if i == len(n.children)-1 {
		i--
	}
	if i < 0 || n.children[i].size()+n.children[i+1].size() > fullNode*3/4 {
		return
	}
	left, right := t.writable(n.children[i]), n.children[i+1]
	n.children[i] = left
	if !left.isLeaf() {
		left.lows = append(append(left.lows, n.lows[i+1]), right.lows[1:]...)
	}
	left.objects = append(left.objects, right.objects...)
	left.children = append(left.children, right.children...)
	left.count += right.count
	n.children, n.lows = slices.Delete(n.children, i+1, i+2), slices.Delete(n.lows, i+1, i+2)
}

// from goes through the objects from a key on.
func (t *tree) from(key string) iter.Seq[*Object] {
	return func(yield func(*Object) bool) {
		if t.root != nil {
			t.root.from(key, yield)
		}
	}
}

// between goes through the objects from a key on, up to another that it does not reach.
func (t *tree) between(start, end string) iter.Seq[*Object] {
	return func(yield func(*Object) bool) {
		for o := range t.from(start) {
			if o.key >= end || !yield(o) {
				return
			}
		}
	}
}

func (n *node) from(key string, yield func(*Object) bool) bool {
	if n.isLeaf() {
		start := 0
		if key != "" {
			start, _ = n.find(key)
		}
		for _, o := range n.objects[start:] {
			if !yield(o) {
				return false
			}
		}
		return true
	}
	start := 0
	if key != "" {
		start = n.childFor(key)
	}
	for i, child := range n.children[start:] {
		if i > 0 {
			key = "" // all of the others
		}
		if !child.from(key, yield) {
			return false
		}
	}
	return true
}

// slice returns so many objects, from the one on that so many are before.
func (t *tree) slice(first, count int) []*Object {
	list := make([]*Object, 0, count)
	if t.root != nil {
		list = t.root.appendTo(list, first)
	}
	return list
}

// appendTo appends the objects of a node, but for the first ones, as long as there is room.
func (n *node) appendTo(list []*Object, first int) []*Object {
	if n.isLeaf() {
		end := min(len(n.objects), first+cap(list)-len(list))
		return append(list, n.objects[first:end]...)
	}
	for _, child := range n.children {
		if len(list) == cap(list) {
			break
		}
		if first >= child.count {
			first -= child.count
			continue
		}
		list = child.appendTo(list, first)
		first = 0
	}
	return list
}

// rank returns how many objects are before a key.
func (t *tree) rank(key string) (rank int) {
	n := t.root
	if n == nil {
		return 0
	}
	for !n.isLeaf() {
		i := n.childFor(key)
		for _, child := range n.children[:i] {
			rank += child.count
		}
		n = n.children[i]
	}
	i, _ := n.find(key)
	return rank + i
}
