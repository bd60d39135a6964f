package watchcache

import (
	"iter"
	"slices"
	"strings"
	"unsafe"
)

// tree is a set of objects sorted by key, implemented as a copy-on-write B+ tree. clone takes constant time; afterwards each
// of the two trees copies a shared node before it changes the node. A tree may be read concurrently as long as it is not
// changed.
//
//	a leaf contains objects, an inner node contains children; only the root may be empty
//	lows[i] <= the keys below children[i] < lows[i+1]; lows[0] is not used
//	count is the number of objects below the node
type tree struct {
	root  *node
	token *cowToken
	// copied is the total memory, in bytes, of the nodes that this tree has copied because they were shared.
	copied int
}

// cowToken identifies the tree that may change a node in place: the tree whose token equals the node's token.
type cowToken struct{ _ byte }

type node struct {
	token    *cowToken
	count    int
	objects  []*Object
	children []*node
	lows     []string
}

// maxNodeSize is the maximum number of objects or children of a node. A node with fewer than minNodeSize objects or children is
// merged with a neighbour if both fit into one node.
const (
	maxNodeSize = 64
	minNodeSize = maxNodeSize / 4
)

func (n *node) isLeaf() bool { return n.children == nil }

// size returns the number of objects or children of a node.
func (n *node) size() int { return len(n.objects) + len(n.children) }

// clone returns a tree that contains the objects of t and shares all nodes with t.
func (t *tree) clone() tree {
	t.token = new(cowToken)
	return tree{root: t.root, token: new(cowToken)}
}

// get returns the object with the given key; nil if there is none.
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

// childFor returns the index of the child whose key range includes key.
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

// find returns the index of the object with the given key in the leaf n and true; if there is none, it returns the index at which
// the object would be inserted and false.
func (n *node) find(key string) (int, bool) {
	return slices.BinarySearchFunc(n.objects, key, func(o *Object, key string) int { return strings.Compare(o.key, key) })
}

// set adds o, and returns the object with the key of o that o replaces; nil if there was none.
func (t *tree) set(o *Object) (previous *Object) {
	if t.token == nil {
		t.token = new(cowToken)
	}
	if t.root == nil {
		t.root = &node{token: t.token, count: 1, objects: []*Object{o}}
		return nil
	}
	t.root = t.writable(t.root)
	previous = t.setBelow(t.root, o)
	if t.root.size() > maxNodeSize {
		left := t.root
		right := t.split(left, o.key)
		t.root = &node{token: t.token, count: left.count + right.count, children: []*node{left, right}, lows: []string{left.low(), right.low()}}
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
	if child.size() > maxNodeSize {
		right := t.split(child, o.key)
		n.children = slices.Insert(n.children, i+1, right)
		n.lows = slices.Insert(n.lows, i+1, right.low())
	}
	return previous
}

// writable returns n itself if the tree may change n in place. If n is shared with another tree, it returns a copy of n, which
// the tree may change.
func (t *tree) writable(n *node) *node {
	if n.token == t.token {
		return n
	}
	t.copied += n.memory()
	return &node{token: t.token, count: n.count, objects: slices.Clone(n.objects), children: slices.Clone(n.children), lows: slices.Clone(n.lows)}
}

// memory returns the approximate memory of n itself, without its children and objects, in bytes.
func (n *node) memory() int {
	const pointer, text = int(unsafe.Sizeof(n)), int(unsafe.Sizeof(""))
	return int(unsafe.Sizeof(*n)) + n.size()*pointer + len(n.lows)*text
}

// low returns a lower bound of the keys in the subtree of n.
func (n *node) low() string {
	if n.isLeaf() {
		return n.objects[0].key
	}
	return n.lows[0]
}

// split moves the upper half of n to a new node, right, which follows n. key is the key that was inserted. If key is the last key
// of n, as when keys are inserted in order, split moves only that key, so that nodes stay full.
func (t *tree) split(n *node, key string) (right *node) {
	at := n.size() / 2
	right = &node{token: t.token}
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

// truncate returns the first length elements of s, and clears the elements after them, so that s keeps no removed object alive.
func truncate[T any](s []T, length int) []T {
	clear(s[length:])
	return s[:length]
}

func (n *node) recount() {
	n.count = len(n.objects)
	for _, c := range n.children {
		n.count += c.count
	}
}

// delete removes the object with the given key and returns it; nil if there is none.
func (t *tree) delete(key string) (previous *Object) {
	if t.get(key) == nil {
		return nil // nothing to delete, so no node is copied
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
	if child.size() < minNodeSize {
		t.merge(n, i)
	}
	return previous
}

// merge is called after child i of n has shrunk. It removes the child if the child is empty, and if not, merges it with a
// neighbour if both fit into one node.
func (t *tree) merge(n *node, i int) {
	if n.children[i].size() == 0 {
		n.children, n.lows = slices.Delete(n.children, i, i+1), slices.Delete(n.lows, i, i+1)
		return
	}
	if i == len(n.children)-1 {
		i--
	}
	if i < 0 || n.children[i].size()+n.children[i+1].size() > maxNodeSize*3/4 {
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

// from iterates over the objects with keys >= key, in order.
func (t *tree) from(key string) iter.Seq[*Object] {
	return func(yield func(*Object) bool) {
		if t.root != nil {
			t.root.from(key, yield)
		}
	}
}

// between iterates over the objects with start <= key < end, in order.
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
			key = "" // all keys of the following children are greater than key, so iterate over whole children
		}
		if !child.from(key, yield) {
			return false
		}
	}
	return true
}

// slice returns the objects with indexes first <= index < first+count in key order.
func (t *tree) slice(first, count int) []*Object {
	list := make([]*Object, 0, count)
	if t.root != nil {
		list = t.root.appendTo(list, first)
	}
	return list
}

// appendTo appends the objects in the subtree of n to list, starting with the object at index first of the subtree, until list
// has reached its capacity. It returns the extended list.
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

// rank returns the number of objects with keys < key.
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
