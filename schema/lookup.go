package schema

import "hash/maphash"

// lookup finds the fields of a struct by hash. It is made when it is first needed.
// Every field of every document is looked up in one, so that it matters.
type lookup struct {
	// slots has places in Fields, plus one; 0 is an empty slot. There are at
	// least twice as many slots as fields, and their number is a power of two.
	slots []uint32
	// count is how many fields there were. A Map that is still being put
	// together may get more.
	count int
}

// seed is one for the process: hashes are not kept.
var seed = maphash.MakeSeed()

// few is how many fields are looked through rather than looked up.
const few = 4

// find returns the place of the declared field of that name, -1 if there is none.
func (m *Map) find(name string) int {
	if len(m.Fields) <= few {
		for i := range m.Fields {
			if m.Fields[i].Name == name {
				return i
			}
		}
		return -1
	}
	l := m.lookup.Load()
	if l == nil || l.count != len(m.Fields) {
		l = newLookup(m.Fields)
		m.lookup.Store(l)
	}
	mask := uint64(len(l.slots) - 1)
	for slot := maphash.String(seed, name) & mask; l.slots[slot] != 0; slot = (slot + 1) & mask {
		if i := int(l.slots[slot] - 1); m.Fields[i].Name == name {
			return i
		}
	}
	return -1
}

func newLookup(fields []Field) *lookup {
	size := 1
	for size < 2*len(fields) {
		size *= 2
	}
	l := &lookup{slots: make([]uint32, size), count: len(fields)}
	mask := uint64(size - 1)
	for i := range fields {
		slot := maphash.String(seed, fields[i].Name) & mask
		for l.slots[slot] != 0 {
			slot = (slot + 1) & mask
		}
		l.slots[slot] = uint32(i + 1)
	}
	return l
}
