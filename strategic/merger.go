package strategic

import (
	"sync"

	"github.com/cadastre/cadastre/document"
)

// merger is one merge, with memory that is used again by the next.
type merger struct {
	build document.Builder
	ids   []identity
	done  []bool
}

var mergers = sync.Pool{New: func() any { return &merger{} }}

func newMerger() *merger { return mergers.Get().(*merger) }

// maxKept is how many identities a merger keeps memory for between merges.
const maxKept = 1024

// free gives a merger's memory back, without what it was used for.
func (m *merger) free() {
	m.build.Reset()
	if cap(m.ids) > maxKept {
		m.ids, m.done = nil, nil
	}
	clear(m.ids)
	m.ids, m.done = m.ids[:0], m.done[:0]
	mergers.Put(m)
}

// identities returns memory for so many identities, until the merge ends.
func (m *merger) identities(count int) identities {
	if cap(m.ids)-len(m.ids) < count {
		m.ids = make([]identity, 0, max(2*count, 64))
	}
	from := len(m.ids)
	m.ids = m.ids[:from+count]
	return identities{all: m.ids[from : from : from+count]}
}

// flags returns memory for so many flags, all false, until the merge ends.
func (m *merger) flags(count int) []bool {
	if cap(m.done)-len(m.done) < count {
		m.done = make([]bool, 0, max(2*count, 64))
	}
	from := len(m.done)
	m.done = m.done[:from+count]
	flags := m.done[from : from+count : from+count]
	clear(flags)
	return flags
}
