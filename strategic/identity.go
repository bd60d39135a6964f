package strategic

import (
	"hash/maphash"
	"iter"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// identity identifies a list item: items with equal identities are the same item.
type identity struct {
	kind document.Kind
	hash uint32 // hash of text
	text string
}

// identify returns the identity of a scalar. Equal numbers have equal identities, independent of their spelling.
func identify(v document.Value) identity {
	text := identityText(v)
	return identity{v.Kind(), uint32(maphash.String(seed, text)), text}
}

// bit returns one of 64 bits, chosen by the hash.
func (id *identity) bit() uint64 { return 1 << (id.hash % 64) }

// seed makes hash collisions unpredictable.
var seed = maphash.MakeSeed()

// identityText returns the text of an identity.
func identityText(v document.Value) string {
	switch v.Kind() {
	case document.Number:
		return numberText(v)
	case document.Bool:
		return strconv.FormatBool(v.Bool())
	}
	return v.Text()
}

// numberText returns a canonical spelling of a number.
func numberText(v document.Value) string {
	text := v.Text()
	if text != "-0" && !strings.ContainsAny(text, ".eE") {
		return text
	}
	const exact = 1 << 53 // all smaller integers are exact as float64
	f, _ := v.Float64()
	if f == math.Trunc(f) && math.Abs(f) < exact {
		return strconv.FormatInt(int64(f), 10)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// identifyItem returns the identity of a list item: of the value of its merge key, or, if key is empty, of the scalar
// itself.
func identifyItem(key string, item document.Value) (identity, error) {
	if key == "" {
		if !item.IsScalar() {
			return identity{}, malformed("a string, number or boolean", describe(item), "")
		}
		return identify(item), nil
	}
	if item.Kind() != document.Map {
		return identity{}, malformed("a map with the merge key "+key, describe(item), "")
	}
	value := item.Get(key)
	if !value.IsScalar() {
		return identity{}, underField(malformed("the value of the merge key, a string, number or boolean",
			describe(value), "it identifies the items of this list"), key)
	}
	return identify(value), nil
}

// identities are the identities of a list's items, with a lookup of the first position of each.
type identities struct {
	all            []identity
	slots          []uint32 // only for long lists: hash table of first positions, plus one; 0 is an empty slot
	seen           uint64   // Bloom filter of the hashes, for short lists
	firstDuplicate int      // first position whose identity also occurs earlier; 0 if there is none
}

// maxLinear is the maximum number of identities that are searched linearly.
const maxLinear = 16

// hashSlots returns the size of a hash table for count positions: a power of two, at most half of which is used.
func hashSlots(count int) int { return 1 << bits.Len(uint(2*count-1)) }

// add appends an identity and returns the first position that has it.
func (s *identities) add(id identity) int {
	first, slot := s.search(id)
	if first < 0 {
		first = len(s.all)
		if s.slots != nil {
			s.slots[slot] = uint32(first + 1)
		}
		s.seen |= id.bit()
	} else if s.firstDuplicate == 0 {
		s.firstDuplicate = len(s.all)
	}
	s.all = append(s.all, id)
	return first
}

// find returns the first position of an identity, -1 if there is none.
func (s *identities) find(id identity) int {
	first, _ := s.search(id)
	return first
}

// search returns the first position of an identity, -1 if there is none, and its slot in the hash table, if there is
// one.
func (s *identities) search(id identity) (first, slot int) {
	if s.slots == nil {
		if s.seen&id.bit() == 0 {
			return -1, 0
		}
		for i := range s.all {
			if s.all[i] == id {
				return i, 0
			}
		}
		return -1, 0
	}
	for slot = int(id.hash); ; slot++ {
		slot &= len(s.slots) - 1
		position := s.slots[slot]
		if position == 0 {
			return -1, slot
		}
		if s.all[position-1] == id {
			return int(position - 1), slot
		}
	}
}

// findNear is find with a likely position: lists that are compared usually have nearly the same order.
func (s *identities) findNear(id identity, position int) int {
	if s.firstDuplicate == 0 && position < len(s.all) && s.all[position] == id {
		return position
	}
	return s.find(id)
}

// isFirst reports whether no earlier position has the same identity.
func (s *identities) isFirst(position int) bool {
	return s.firstDuplicate == 0 || position < s.firstDuplicate || s.find(s.all[position]) == position
}

// unique iterates over the identities without duplicates.
func (s *identities) unique() iter.Seq[identity] {
	return func(yield func(identity) bool) {
		for i, id := range s.all {
			if s.isFirst(i) && !yield(id) {
				return
			}
		}
	}
}
