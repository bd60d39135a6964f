package strategic

import (
	"sync"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/lib/fastdoc"
)

// scratch is the memory of one merge, or of the making of one patch. The next uses it again.
type scratch struct {
	build  fastdoc.Builder
	ids    []identity
	slots  []uint32
	done   []bool
	places []int
	values []document.Value
	named  []namedItem
	plain  bool // take no shortcuts
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

// maxKept is how many identities there is memory for between uses.
const maxKept = 1 << 17

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
	if cap(s.ids) > maxKept {
		*s = scratch{build: s.build, plain: s.plain}
	}
	clear(s.ids) // these keep documents alive
	clear(s.values)
	clear(s.named)
	s.ids, s.slots, s.done, s.places = s.ids[:0], s.slots[:0], s.done[:0], s.places[:0]
	s.values, s.named = s.values[:0], s.named[:0]
}

// room returns memory for so many elements, until the scratch memory is reset. It need not be
// zero.
func room[T any](memory *[]T, count int) []T {
	if cap(*memory)-len(*memory) < count {
		*memory = make([]T, 0, max(2*(len(*memory)+count), 64)) // enough for the next time
	}
	from := len(*memory)
	*memory = (*memory)[:from+count]
	return (*memory)[from : from+count : from+count]
}

// zeroed is room for who counts on zeros.
func zeroed[T any](memory *[]T, count int) []T {
	taken := room(memory, count)
	clear(taken)
	return taken
}

// identities returns room for so many identities.
func (s *scratch) identities(count int) identities {
	ids := identities{all: room(&s.ids, count)[:0]}
	if count > few {
		ids.slots = zeroed(&s.slots, slotsFor(count))
	}
	return ids
}

// flags returns so many flags, all false.
func (s *scratch) flags(count int) []bool { return zeroed(&s.done, count) }
