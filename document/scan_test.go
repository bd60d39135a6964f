package document

import (
	"math/bits"
	"math/rand/v2"
	"testing"
)

// TestSkipOrdinary compares eight bytes at a time with one at a time.
func TestSkipOrdinary(t *testing.T) {
	r := seeded()
	text := make([]byte, 40)
	for range 200_000 {
		for i := range text {
			text[i] = byte('a' + r.IntN(26))
			if r.IntN(12) == 0 {
				text[i] = byte(r.IntN(256))
			}
		}
		s := string(text[:r.IntN(len(text)+1)])
		start := r.IntN(len(s) + 1)
		want := start
		for want < len(s) && byteClass[s[want]] == ordinary {
			want++
		}
		if got := skipOrdinary(s, start); got != want {
			t.Fatalf("%q from %d: found %d, want %d", s, start, got, want)
		}
		end, key := scanName(s, start)
		if end != want {
			t.Fatalf("%q from %d: found %d, want %d", s, start, end, want)
		}
		if key != noKey && key != plainKey(s[start:end]) {
			t.Fatalf("%q has the key %x, want %x", s[start:end], key, plainKey(s[start:end]))
		}
	}
}

func plainKey(name string) (key uint64) {
	for i := range 8 {
		key <<= 8
		if i < len(name) {
			key |= uint64(name[i])
		}
	}
	return key
}

// TestExtraordinary tries every byte in every place.
func TestExtraordinary(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for c := range 256 {
		for place := range 8 {
			for range 4 {
				x := uint64(0)
				for i := range 8 {
					x |= uint64('a'+r.IntN(26)) << (8 * i)
				}
				x = x&^(0xff<<(8*place)) | uint64(c)<<(8*place)
				found := bits.TrailingZeros64(extraordinary(x)) / 8
				if (found == place) != (byteClass[c] != ordinary) {
					t.Fatalf("%q at %d: found %d", rune(c), place, found)
				}
			}
		}
	}
}
