package scan

import (
	"math/bits"
	"math/rand/v2"
	"testing"
)

// TestPlainEnd checks PlainEnd and IsPlain against a loop over single bytes, for random text.
func TestPlainEnd(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	text := make([]byte, 40)
	for range 200_000 {
		for i := range text {
			text[i] = byte('a' + r.IntN(26))
			if r.IntN(24) == 0 {
				text[i] = byte(r.IntN(256))
			}
		}
		s := string(text[:r.IntN(len(text)+1)])
		start := r.IntN(len(s) + 1)
		want := start
		for want < len(s) && plainBytes[s[want]] {
			want++
		}
		if got := PlainEnd(s, start); got != want {
			t.Fatalf("PlainEnd(%q, %d) = %d, want %d", s, start, got, want)
		}
		if got := IsPlain(s[start:]); got != (want == len(s)) {
			t.Fatalf("IsPlain(%q) = %v, want %v", s[start:], got, !got)
		}
	}
}

// TestNonPlainMask checks the mask for every byte value at every position.
func TestNonPlainMask(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for c := range 256 {
		for place := range 8 {
			for range 4 {
				x := uint64(0)
				for i := range 8 {
					x |= uint64('a'+r.IntN(26)) << (8 * i)
				}
				x = x&^(0xff<<(8*place)) | uint64(c)<<(8*place)
				found := bits.TrailingZeros64(NonPlainMask(x)) / 8
				if (found == place) == plainBytes[c] {
					t.Fatalf("NonPlainMask with %q at byte %d: lowest bit is in byte %d; byte %d is plain: %v", rune(c), place, found, place, plainBytes[c])
				}
			}
		}
	}
}
