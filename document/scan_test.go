package document

import "testing"

// TestScanName compares eight bytes at a time with one at a time.
func TestScanName(t *testing.T) {
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
