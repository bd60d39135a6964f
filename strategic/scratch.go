package strategic

import (
	"sync"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/lib/fastdoc"
)

// scratch is the memory of one merge, or of the making of one patch. The next uses it again.
type scratch struct {
	build     fastdoc.Builder
	ids       []identity
	slots     []uint32
	done      []bool
	positions []int
	values    []document.Value
	ordered   []orderedItem
	plain     bool // take no shortcuts
}

// merger is one merge, differ the making of one patch.
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

// free gives the memory back, without what it was used for.
func (m *merger) free() {
	m.reset()
	mergerPool.Put(m)
}

func (d *differ) free() {
	d.reset()
	differPool.Put(d)
}

// maxPooledIdentities is how many identities there is memory for between uses.
const maxPooledIdentities = 1 << 17

// reset makes the memory free, but for what was built.
func (s *scratch) reset() {
	s.build.Reset()
	s.clear()
}

// recycle is reset for when nobody has what was built any more.
func (s *scratch) recycle() {
	s.build.Recycle()
	s.clear()
}

func (s *scratch) clear() {
	if cap(s.ids) > maxPooledIdentities {
		*s = scratch{build: s.build, plain: s.plain}
	}
	clear(s.ids) // these keep documents alive
	clear(s.values)
	clear(s.ordered)
	s.ids, s.slots, s.done, s.positions = s.ids[:0], s.slots[:0], s.done[:0], s.positions[:0]
	s.values, s.ordered = s.values[:0], s.ordered[:0]
}

// alloc returns memory for so many elements, until the scratch memory is reset. It need not be
// zero.
func alloc[T any](memory *[]T, count int) []T {
	if cap(*memory)-len(*memory) < count {
		*memory = make([]T, 0, max(2*(len(*memory)+count), 64)) // enough for the next time
	}
	from := len(*memory)
	*memory = (*memory)[:from+count]
	return (*memory)[from : from+count : from+count]
}

// allocZeroed is room for who counts on zeros.
func allocZeroed[T any](memory *[]T, count int) []T {
	taken := alloc(memory, count)
	clear(taken)
	return taken
}

// identities returns room for so many identities.
func (s *scratch) identities(count int) identities {
	ids := identities{all: alloc(&s.ids, count)[:0]}
	if count > maxLinear {
		ids.slots = allocZeroed(&s.slots, hashSlots(count))
	}
	return ids
}

// flags returns so many flags, all false.
func (s *scratch) flags(count int) []bool { return allocZeroed(&s.done, count) }
