package strategic

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/cadastre/cadastre/document"
)

// TestIdentities compares with looking at all of them one by one, short rows and long ones, with
// and without twins, also where different texts have the same hash.
func TestIdentities(t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 9))
		count := 1 + r.IntN(3*maxLinear)
		names := 1 + r.IntN(3*count)
		one := func() identity {
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
		twin := 0
		for range count {
			id := one()
			want := find(id)
			if want < 0 {
				want = len(plain)
			} else if twin == 0 {
				twin = len(plain)
			}
			if got := ids.add(id); got != want {
				t.Fatalf("seed %d: %v was added at %d, want %d", seed, id, got, want)
			}
			plain = append(plain, id)
		}
		if ids.firstDuplicate != twin {
			t.Fatalf("seed %d: the first twin is %d, want %d", seed, ids.firstDuplicate, twin)
		}
		for i, id := range plain {
			if got := ids.isFirst(i); got != (find(id) == i) {
				t.Fatalf("seed %d: %d is the first: %v", seed, i, got)
			}
			if got := ids.findNear(id, i); got != find(id) {
				t.Fatalf("seed %d: %v is near %d, want %d", seed, id, got, find(id))
			}
		}
		for range 2 * count {
			id := one()
			if got := ids.findNear(id, r.IntN(count+1)); got != find(id) || ids.find(id) != got {
				t.Fatalf("seed %d: %v is at %d, want %d", seed, id, got, find(id))
			}
		}
	}
}
