package strategic

import (
	"sync"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/lib/fastdoc"
)

// scratch is the pooled memory of one merge or diff. alloc allocates from its slices.
type scratch struct {
	build     fastdoc.Builder
	ids       []identity
	slots     []uint32
	done      []bool
	positions []int
	values    []document.Value
	ordered   []orderedItem
	plain     bool // disables the fast paths, for tests
}

// merger applies a patch; differ computes a patch.
type (
	merger struct{ scratch }
	differ struct{ scratch }
)

var (
	mergerPool = sync.Pool{New: func() any { return &merger{} }}
	differPool = sync.Pool{New: func() any { return &differ{} }}
)

func newMerger() *merger { return mergerPool.Get().(*merger) }
func newDiffer() *differ { return differPool.Get().(*differ) }

// free returns the merger to its pool, after dropping its references to documents.
func (m *merger) free() {
	m.reset()
	mergerPool.Put(m)
}

// free returns the differ to its pool, after dropping its references to documents.
func (d *differ) free() {
	d.reset()
	differPool.Put(d)
}

// maxPooledIdentities is the maximum capacity of scratch.ids that is kept in the pool; larger scratch memory is
// dropped.
const maxPooledIdentities = 1 << 17

// reset makes the scratch memory reusable. The documents that were built with it stay valid.
func (s *scratch) reset() {
	s.build.Reset()
	s.clear()
}

// recycle makes the scratch memory and the memory of the documents that were built with it reusable. These documents
// must not be used afterwards.
func (s *scratch) recycle() {
	s.build.Recycle()
	s.clear()
}

func (s *scratch) clear() {
	if cap(s.ids) > maxPooledIdentities {
		*s = scratch{build: s.build, plain: s.plain}
	}
	clear(s.ids) // identities refer to the texts of documents
	clear(s.values)
	clear(s.ordered)
	s.ids, s.slots, s.done, s.positions = s.ids[:0], s.slots[:0], s.done[:0], s.positions[:0]
	s.values, s.ordered = s.values[:0], s.ordered[:0]
}

// alloc returns count elements of the scratch slice memory, valid until the scratch memory is reset. The elements are
// not zeroed.
func alloc[T any](memory *[]T, count int) []T {
	if cap(*memory)-len(*memory) < count {
		*memory = make([]T, 0, max(2*(len(*memory)+count), 64)) // doubling makes the cost of growing linear
	}
	from := len(*memory)
	*memory = (*memory)[:from+count]
	return (*memory)[from : from+count : from+count]
}

// allocZeroed is alloc, but returns zeroed elements.
func allocZeroed[T any](memory *[]T, count int) []T {
	zeroed := alloc(memory, count)
	clear(zeroed)
	return zeroed
}

// identities returns an empty list of identities with capacity for count identities.
func (s *scratch) identities(count int) identities {
	ids := identities{all: alloc(&s.ids, count)[:0]}
	if count > maxLinear {
		ids.slots = allocZeroed(&s.slots, hashSlots(count))
	}
	return ids
}

// flags returns count flags, all false.
func (s *scratch) flags(count int) []bool { return allocZeroed(&s.done, count) }
