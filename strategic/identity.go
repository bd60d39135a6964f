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

// identity identifies a list item by its merge key, or by its value if it is a scalar. Items of two lists with equal
// identities correspond to each other.
type identity struct {
	kind document.Kind
	hash uint32 // the hash of text
	text string
}

// identify returns the identity of a scalar. Numbers with the same value have the same identity, however they are
// spelled.
func identify(v document.Value) identity {
	text := identityText(v)
	return identity{v.Kind(), uint32(maphash.String(seed, text)), text}
}

// bit returns one of 64 bits, chosen by the hash, for the Bloom filter identities.seen.
func (id *identity) bit() uint64 { return 1 << (id.hash % 64) }

// seed makes hash collisions unpredictable.
var seed = maphash.MakeSeed()

// identityText returns the text of a scalar's identity.
func identityText(v document.Value) string {
	switch v.Kind() {
	case document.Number:
		return numberText(v)
	case document.Bool:
		return strconv.FormatBool(v.Bool())
	}
	return v.Text()
}

// numberText returns a spelling that is the same for all numbers with the same value.
func numberText(v document.Value) string {
	text := v.Text()
	if text != "-0" && !strings.ContainsAny(text, ".eE") {
		return text
	}
	const exact = 1 << 53 // float64 represents every integer up to 2^53 exactly
	f, _ := v.Float64()
	if f == math.Trunc(f) && math.Abs(f) < exact {
		return strconv.FormatInt(int64(f), 10)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// identifyItem returns the identity of a list item: that of the value of its merge key or, if key is empty, that of
// the item itself. It returns an error if the value of the merge key, or the item, is not a scalar.
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
		return identity{}, prefixField(malformed("the value of the merge key, a string, number or boolean",
			describe(value), "it identifies the items of this list"), key)
	}
	return identify(value), nil
}

// identities are the identities of a list's items, in the order of the list, with a lookup of the first position of
// each identity.
type identities struct {
	all            []identity
	slots          []uint32 // hash table of first positions plus one; 0 is an empty slot; nil for short lists
	seen           uint64   // Bloom filter of the hashes; used for short lists
	firstDuplicate int      // the first position whose identity also occurs before it; 0 if there are no duplicates
}

// maxLinear is the maximum number of identities that are searched linearly; longer lists use a hash table.
const maxLinear = 16

// hashSlots returns the number of slots of a hash table for count positions. It is a power of two, and at most half of
// the slots are used.
func hashSlots(count int) int { return 1 << bits.Len(uint(2*count-1)) }

// add appends an identity and returns the first position with that identity.
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

// find returns the first position of an identity, -1 if the list does not contain it.
func (s *identities) find(id identity) int {
	first, _ := s.search(id)
	return first
}

// search returns the first position of id, -1 if the list does not contain id. If there is a hash table, slot is the
// slot of id, or the empty slot in which id would be added.
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

// findNear is the variant of find that first compares the given position, where the identity is likely to be: two
// versions of a list usually have nearly the same order.
func (s *identities) findNear(id identity, position int) int {
	if s.firstDuplicate == 0 && position < len(s.all) && s.all[position] == id {
		return position
	}
	return s.find(id)
}

// isFirst reports whether no earlier position has the same identity as the given position.
func (s *identities) isFirst(position int) bool {
	return s.firstDuplicate == 0 || position < s.firstDuplicate || s.find(s.all[position]) == position
}

// unique iterates over the identities in the order of the list and skips duplicates.
func (s *identities) unique() iter.Seq[identity] {
	return func(yield func(identity) bool) {
		for i, id := range s.all {
			if s.isFirst(i) && !yield(id) {
				return
			}
		}
	}
}
