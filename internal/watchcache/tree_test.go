package watchcache

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTree makes random changes to a tree and to its clones, and compares them with maps.
func TestTree(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		keys := 1 + random.IntN(4000)
		type pair struct {
			tree  tree
			model map[string]*Object
		}
		pairs := []*pair{{model: map[string]*Object{}}}
		for step := range 20_000 {
			p := pairs[random.IntN(len(pairs))]
			key := fmt.Sprintf("k%05d", random.IntN(keys))
			// The probability of a removal alternates, so that the tree grows in one phase and shrinks in the next.
			if remove := random.IntN(10) < 2+step/4000%2*6; remove {
				if got, want := p.tree.delete(key), p.model[key]; got != want {
					t.Fatalf("seed %d: deleted %v, want %v", seed, got, want)
				}
				delete(p.model, key)
			} else {
				o := &Object{key: key}
				if got, want := p.tree.set(o), p.model[key]; got != want {
					t.Fatalf("seed %d: replaced %v, want %v", seed, got, want)
				}
				p.model[key] = o
			}
			if random.IntN(4000) == 0 && len(pairs) < 5 {
				pairs = append(pairs, &pair{p.tree.clone(), maps.Clone(p.model)})
			}
		}
		for _, p := range pairs {
			compareTree(t, &p.tree, p.model, random)
		}
	}
}

func compareTree(t *testing.T, tree *tree, model map[string]*Object, random *rand.Rand) {
	t.Helper()
	checkNode(t, tree.root, true)
	sorted := slices.Sorted(maps.Keys(model))
	if count := tree.rank(maxName); count != len(sorted) {
		t.Fatalf("tree has %d objects, want %d", count, len(sorted))
	}
	for range 100 {
		start := fmt.Sprintf("k%05d", random.IntN(5000))
		from, found := slices.BinarySearch(sorted, start)
		if got := tree.get(start); (got != nil) != found || got != model[start] {
			t.Fatalf("get(%s) = %v, want %v", start, got, model[start])
		}
		if got := tree.rank(start); got != from {
			t.Fatalf("rank(%s) = %d, want %d", start, got, from)
		}
		limit := random.IntN(200)
		var got []string
		for o := range tree.from(start) {
			if len(got) == limit {
				break
			}
			got = append(got, o.key)
		}
		want := sorted[from:min(from+limit, len(sorted))]
		if !slices.Equal(got, want) {
			t.Fatalf("from(%s) = %v, want %v", start, got, want)
		}
		for i, o := range tree.slice(from, len(want)) {
			if o.key != want[i] {
				t.Fatalf("object %d of slice(%d) = %s, want %s", i, from, o.key, want[i])
			}
		}
	}
}

// checkNode checks the invariants that tree.go states for the subtree of n, and returns the number of its objects.
// root means that n is the root of the tree.
func checkNode(t *testing.T, n *node, root bool) int {
	t.Helper()
	if n == nil {
		return 0
	}
	if n.size() > maxNodeSize || n.size() == 0 || root && !n.isLeaf() && n.size() < 2 {
		t.Fatalf("a node has %d children or objects, want 1 to maxNodeSize", n.size())
	}
	if n.isLeaf() {
		return len(n.objects)
	}
	count := 0
	for i, child := range n.children {
		count += checkNode(t, child, false)
		for o := range (&tree{root: child}).from("") {
			if i > 0 && o.key < n.lows[i] || i+1 < len(n.lows) && o.key >= n.lows[i+1] {
				t.Fatalf("object %s is in a node whose key range does not include it", o.key)
			}
		}
	}
	if count != n.count || len(n.lows) != len(n.children) {
		t.Fatalf("node.count = %d, want %d", n.count, count)
	}
	return count
}

// TestTreeInOrder: nodes become full if objects are inserted in key order, as when a store is loaded.
func TestTreeInOrder(t *testing.T) {
	var tr tree
	const count = 100_000
	for i := range count {
		tr.set(&Object{key: fmt.Sprintf("k%06d", i)})
	}
	checkNode(t, tr.root, true)
	leaves := 0
	var visit func(*node)
	visit = func(n *node) {
		if n.isLeaf() {
			leaves++
		}
		for _, c := range n.children {
			visit(c)
		}
	}
	visit(tr.root)
	if minLeaves := (count + maxNodeSize - 1) / maxNodeSize; leaves > minLeaves+1 {
		t.Errorf("tree has %d leaves, want at most %d + 1", leaves, minLeaves)
	}
}

// TestClonesAreImmutable: a clone does not change when nodes of the original tree are split and merged.
func TestClonesAreImmutable(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	keys := func(t *tree) (all []string) {
		for o := range t.from("") {
			all = append(all, o.key)
		}
		return all
	}
	var now tree
	for i := range 2000 {
		now.set(&Object{key: fmt.Sprintf("k%05d", i)})
	}
	type clonedTree struct {
		tree tree
		keys []string
	}
	var clones []clonedTree
	for step := range 6000 {
		key := fmt.Sprintf("k%05d", random.IntN(2000))
		if random.IntN(10) < 2+step/1500%2*6 || step < 1500 {
			now.delete(key)
		} else {
			now.set(&Object{key: key})
		}
		if step%10 == 0 {
			clones = append(clones, clonedTree{now.clone(), keys(&now)})
		}
	}
	for i, c := range clones {
		checkNode(t, c.tree.root, true)
		if !slices.Equal(keys(&c.tree), c.keys) {
			t.Fatalf("clone %d has changed, want it unchanged", i)
		}
	}
}
