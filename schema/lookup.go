package schema

import "hash/maphash"

// lookup finds the fields of a struct by hash. It is made when it is first needed.
// Every field of every document is looked up in one, so that it matters.
type lookup struct {
	// slots has places in Fields, plus one; 0 is an empty slot. There are at
	// least four times as many slots as fields, and their number is a power of two.
	slots []uint32
	// count is how many fields there were. A Map that is still being put
	// together may get more.
	count int
	// reach is how far from its slot a field may be found.
	reach int
	// careful says that the names have so much in common that their hash must look
	// at all of each.
	careful bool
}

// seed is one for the process: hashes are not kept.
var seed = maphash.MakeSeed()

// few is how many fields are looked through rather than looked up.
const few = 3

// near is how far from its slot a field may be before the hash is made carefully.
const near = 4

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
	slot := l.hash(name) & mask
	for steps := 0; steps <= l.reach && l.slots[slot] != 0; steps++ {
		if i := int(l.slots[slot] - 1); m.Fields[i].Name == name {
			return i
		}
		slot = (slot + 1) & mask
	}
	return -1
}

// hash is made of a few bytes of the name, unless that is not enough.
func (l *lookup) hash(name string) uint64 {
	if l.careful {
		return maphash.String(seed, name)
	}
	size := len(name)
	if size == 0 {
		return 0
	}
	sample := uint64(size) | uint64(name[0])<<8 | uint64(name[size/2])<<16 | uint64(name[size-1])<<24
	return sample * 0x9e3779b97f4a7c15 >> 32
}

func newLookup(fields []Field) *lookup {
	l := &lookup{count: len(fields)}
	if !l.fill(fields, near) {
		l.careful = true
		l.fill(fields, len(fields))
	}
	return l
}

// fill puts the fields into slots. It gives up when one is further from its slot than
// the limit.
func (l *lookup) fill(fields []Field, limit int) (ok bool) {
	size := 1
	for size < 4*len(fields) {
		size *= 2
	}
	l.slots, l.reach = make([]uint32, size), 0
	mask := uint64(size - 1)
	for i := range fields {
		slot, steps := l.hash(fields[i].Name)&mask, 0
		for l.slots[slot] != 0 {
			slot = (slot + 1) & mask
			steps++
		}
		if steps > limit {
			return false
		}
		l.slots[slot] = uint32(i + 1)
		l.reach = max(l.reach, steps)
	}
	return true
}
