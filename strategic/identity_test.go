package strategic

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/cadastre/cadastre/document"
)

// TestIdentities checks the lookups of identities against a linear search, for short and long lists, with and without
// duplicates and hash collisions.
func TestIdentities(t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 9))
		count := 1 + r.IntN(3*maxLinear)
		names := 1 + r.IntN(3*count)
		randomIdentity := func() identity {
			n := r.IntN(names)
			return identity{document.String, uint32(n % 5), strconv.Itoa(n)}
		}
		var memory scratch
		ids := memory.identities(count)
		var plain []identity
		find := func(id identity) int {
			for i := range plain {
				if plain[i] == id {
					return i
				}
			}
			return -1
		}
		duplicate := 0
		for range count {
			id := randomIdentity()
			want := find(id)
			if want < 0 {
				want = len(plain)
			} else if duplicate == 0 {
				duplicate = len(plain)
			}
			if got := ids.add(id); got != want {
				t.Fatalf("seed %d: add(%v) = %d, want %d", seed, id, got, want)
			}
			plain = append(plain, id)
		}
		if ids.firstDuplicate != duplicate {
			t.Fatalf("seed %d: firstDuplicate = %d, want %d", seed, ids.firstDuplicate, duplicate)
		}
		for i, id := range plain {
			if got := ids.isFirst(i); got != (find(id) == i) {
				t.Fatalf("seed %d: isFirst(%d) = %v, want %v", seed, i, got, find(id) == i)
			}
			if got := ids.findNear(id, i); got != find(id) {
				t.Fatalf("seed %d: findNear(%v) = %d, want %d", seed, id, got, find(id))
			}
		}
		for range 2 * count {
			id := randomIdentity()
			if got := ids.findNear(id, r.IntN(count+1)); got != find(id) || ids.find(id) != got {
				t.Fatalf("seed %d: find(%v) = %d, want %d", seed, id, got, find(id))
			}
		}
	}
}
