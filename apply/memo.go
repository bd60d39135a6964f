package apply

import (
	"hash/maphash"
	"sync/atomic"
)

// memo remembers texts of field sets that have been read and found to need nothing:
// they are well formed and fit the topology of today. The same texts come again and
// again, with every write to an object and with every object that the same manager
// made, so that nearly all of them need not be read to know that.
//
// It is a table of hashes of fixed size, without locks. Each hash has a few slots to
// choose from; newer ones overwrite older ones. Hashes are of 64 bits and seeded, so that
// no two texts that matter meet.
type memo struct {
	seed  maphash.Seed
	slots [memoSets][memoWays]atomic.Uint64
}

const (
	memoSets = 1 << 8
	memoWays = 4
)

func newMemo() *memo { return &memo{seed: maphash.MakeSeed()} }

func (m *memo) hash(version, text string) uint64 {
	return maphash.String(m.seed, text) ^ maphash.String(m.seed, version) | 1 // never 0, an empty slot
}

func (m *memo) has(hash uint64) bool {
	set := &m.slots[hash>>1%memoSets]
	for i := range set {
		if set[i].Load() == hash {
			return true
		}
	}
	return false
}

func (m *memo) add(hash uint64) {
	set := &m.slots[hash>>1%memoSets]
	for i := range set {
		if set[i].CompareAndSwap(0, hash) {
			return
		}
	}
	set[hash>>32%memoWays].Store(hash)
}
