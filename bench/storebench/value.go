package storebench

import (
	"math/rand/v2"
	"sync"
)

// ValueSize is how long a value is: about what an object has on disk.
const ValueSize = 3 << 10

// A valueSource has values that differ: parts of one long text, each from another place.
type valueSource struct{ random *rand.Rand }

func newValueSource(seed uint64) valueSource {
	return valueSource{random: rand.New(rand.NewPCG(seed, ValueSize))}
}

// next returns a value that must not be changed.
func (s valueSource) next() []byte {
	start := s.random.IntN(len(text()) - ValueSize)
	return text()[start : start+ValueSize : start+ValueSize]
}

// text is printable and random, so that compression helps neither side, and the same in every process.
var text = sync.OnceValue(func() []byte {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-"
	random := rand.New(rand.NewPCG(1, 2))
	text := make([]byte, 4<<20)
	for i := range text {
		text[i] = letters[random.IntN(len(letters))]
	}
	return text
})
