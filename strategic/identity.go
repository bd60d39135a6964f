package strategic

import (
	"iter"
	"math"
	"strconv"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// identity tells the items of a list apart: two items are the same if theirs are equal.
type identity struct {
	kind document.Kind
	text string
}

// identify returns the identity of a scalar; equal numbers have the same, however they are
// spelt.
func identify(v document.Value) identity {
	switch v.Kind() {
	case document.Number:
		return identity{document.Number, numberText(v)}
	case document.Bool:
		return identity{document.Bool, strconv.FormatBool(v.Bool())}
	}
	return identity{v.Kind(), v.Text()}
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
	all    []identity
	places map[identity]int // made when there are many
}

// few is how many identities are faster looked at one by one.
const few = 16

// add appends an identity, and returns the first place that has it.
func (s *identities) add(id identity) int {
	first := s.find(id)
	if first < 0 {
		first = len(s.all)
	}
	s.all = append(s.all, id)
	switch {
	case s.places != nil:
		s.places[id] = first
	case len(s.all) > few:
		s.places = make(map[identity]int, max(2*len(s.all), cap(s.all)))
		for i, id := range s.all {
			if _, known := s.places[id]; !known {
				s.places[id] = i
			}
		}
	}
	return first
}

// find returns the first place of an identity, or -1.
func (s *identities) find(id identity) int {
	if s.places != nil {
		if i, ok := s.places[id]; ok {
			return i
		}
		return -1
	}
	for i := range s.all {
		if s.all[i] == id {
			return i
		}
	}
	return -1
}

// each goes through the identities, each once.
func (s *identities) each() iter.Seq[identity] {
	return func(yield func(identity) bool) {
		for i, id := range s.all {
			if s.find(id) == i && !yield(id) {
				return
			}
		}
	}
}
