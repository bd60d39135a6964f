package document

import "testing"

// TestScanName checks scanName against a loop over single bytes, for random text.
func TestScanName(t *testing.T) {
	r := newRand()
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
		for want < len(s) && byteClass[s[want]] == plainByte {
			want++
		}
		end, key := scanName(s, start)
		if end != want {
			t.Fatalf("scanName(%q, %d): end = %d, want %d", s, start, end, want)
		}
		if key != noKey && key != plainKey(s[start:end]) {
			t.Fatalf("scanName(%q): key = %x, want %x", s[start:end], key, plainKey(s[start:end]))
		}
	}
}

// plainKey computes the sort key of a name byte by byte; see scanName.
func plainKey(name string) (key uint64) {
	for i := range 8 {
		key <<= 8
		if i < len(name) {
			key |= uint64(name[i])
		}
	}
	return key
}
