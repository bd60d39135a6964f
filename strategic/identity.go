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

// identity tells the items of a list apart: two items are the same if theirs are equal.
type identity struct {
	kind document.Kind
	hash uint32 // of the text
	text string
}

// identify returns the identity of a scalar; equal numbers have the same, however they are
// spelt.
func identify(v document.Value) identity {
	text := identityText(v)
	return identity{v.Kind(), uint32(maphash.String(seed, text)), text}
}

// bit is one of 64, chosen by the hash.
func (id *identity) bit() uint64 { return 1 << (id.hash % 64) }

// seed makes hashes that nobody can make collide.
var seed = maphash.MakeSeed()

func identityText(v document.Value) string {
	switch v.Kind() {
	case document.Number:
		return numberText(v)
	case document.Bool:
		return strconv.FormatBool(v.Bool())
	}
	return v.Text()
}

func numberText(v document.Value) string {
	text := v.Text()
	if text != "-0" && !strings.ContainsAny(text, ".eE") {
		return text
	}
	const exact = 1 << 53 // up to here every integer is a float64
	f, _ := v.Float64()
	if f == math.Trunc(f) && math.Abs(f) < exact {
		return strconv.FormatInt(int64(f), 10)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// identifyItem returns the identity of an item of a list, by its key if the list has one.
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
			describe(value), "items of this list are told apart by it"), key)
	}
	return identify(value), nil
}

// identities finds the first place of each identity in a list.
type identities struct {
	all            []identity
	slots          []uint32 // if there are many: a hash table of first places, counted from one
	seen           uint64   // if there are few: a bit for each hash, by its last digits
	firstDuplicate int      // the first place whose identity comes earlier, too; 0 if there is none
}

// maxLinear is how many identities are faster looked at one by one.
const maxLinear = 16

// hashSlots is how many slots a hash table of so many places has: a power of two, of which at
// least half stay free.
func hashSlots(count int) int { return 1 << bits.Len(uint(2*count-1)) }

// add appends an identity, and returns the first place that has it.
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

// find returns the first place of an identity, or -1.
func (s *identities) find(id identity) int {
	first, _ := s.search(id)
	return first
}

// search also returns the slot where the identity is, or would be, if there are slots.
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

// findNear is find for who expects an identity in a place: most lists that are compared have
// nearly the same order.
func (s *identities) findNear(id identity, position int) int {
	if s.firstDuplicate == 0 && position < len(s.all) && s.all[position] == id {
		return position
	}
	return s.find(id)
}

// isFirst reports whether no place before this one has the same identity.
func (s *identities) isFirst(position int) bool {
	return s.firstDuplicate == 0 || position < s.firstDuplicate || s.find(s.all[position]) == position
}

// unique goes through the identities, each once.
func (s *identities) unique() iter.Seq[identity] {
	return func(yield func(identity) bool) {
		for i, id := range s.all {
			if s.isFirst(i) && !yield(id) {
				return
			}
		}
	}
}
