package schema

import "hash/maphash"

// lookup is a hash table from the names of a struct's fields to their indexes. It is built at the first lookup. It is
// on the hot path, because merging looks up every field of every document.
type lookup struct {
	// slots contains the index of a field in Map.Fields plus one, or 0 for an empty slot. The number of slots is a
	// power of two and at least four times the number of fields.
	slots []uint32
	// count is the number of fields for which the table was built. The table is rebuilt if a Map that is under
	// construction gets more fields.
	count int
	// maxProbe is the maximum distance between a field's slot and the slot of its hash.
	maxProbe int
	// fullHash means that the hash covers the whole name. It is set if a hash of a few sampled bytes has too many
	// collisions.
	fullHash bool
}

// seed is the hash seed of this process. It may differ between processes because hashes are never stored.
var seed = maphash.MakeSeed()

// maxLinearFields is the maximum number of fields that are searched linearly instead of in the hash table.
const maxLinearFields = 3

// maxSampleProbe is the maximum of lookup.maxProbe for hashes of sampled bytes; if a field would be further from the
// slot of its hash, the whole names are hashed.
const maxSampleProbe = 4

// find returns the index in m.Fields of the field with the given name, -1 if no such field is declared.
func (m *Map) find(name string) int {
	if len(m.Fields) <= maxLinearFields {
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
	for steps := 0; steps <= l.maxProbe && l.slots[slot] != 0; steps++ {
		if i := int(l.slots[slot] - 1); m.Fields[i].Name == name {
			return i
		}
		slot = (slot + 1) & mask
	}
	return -1
}

// hash returns a hash of the length of name and of three of its bytes, or of the whole name if fullHash is set.
func (l *lookup) hash(name string) uint64 {
	if l.fullHash {
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
	if !l.fill(fields, maxSampleProbe) {
		l.fullHash = true
		l.fill(fields, len(fields))
	}
	return l
}

// fill assigns the fields to slots. It returns false if a field would be more than limit slots away from the slot of
// its hash.
func (l *lookup) fill(fields []Field, limit int) (ok bool) {
	size := 1
	for size < 4*len(fields) {
		size *= 2
	}
	l.slots, l.maxProbe = make([]uint32, size), 0
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
		l.maxProbe = max(l.maxProbe, steps)
	}
	return true
}
