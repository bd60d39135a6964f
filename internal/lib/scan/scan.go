// Package scan scans text eight bytes at a time.
//
// A plain byte is one that needs no escape in a JSON string, neither for a parser nor in the output of Kubernetes:
// ASCII except control characters and " \ < > &. Nearly all bytes of most objects are plain.
package scan

import "math/bits"

// PlainEnd returns the offset of the first byte at or after i that is not plain, or the length of the text if there is
// none.
func PlainEnd(s string, i int) int {
	for ; i+8 <= len(s); i += 8 {
		if hits := NonPlainMask(Load8(s, i)); hits != 0 {
			return i + bits.TrailingZeros64(hits)/8
		}
	}
	for i < len(s) && plainBytes[s[i]] {
		i++
	}
	return i
}

// IsPlain reports whether all bytes of a text are plain. The empty text is plain.
func IsPlain(s string) bool {
	if len(s) < 4 {
		for i := 0; i < len(s); i++ {
			if !plainBytes[s[i]] {
				return false
			}
		}
		return true
	}
	if len(s) < 8 {
		return NonPlainMask(load4(s, 0)|load4(s, len(s)-4)<<32) == 0
	}
	for i := 0; i+8 < len(s); i += 8 {
		if NonPlainMask(Load8(s, i)) != 0 {
			return false
		}
	}
	return NonPlainMask(Load8(s, len(s)-8)) == 0
}

// Load8 loads the eight bytes at offset i as a little-endian number; it compiles to one instruction. It panics if there
// are fewer than eight bytes.
func Load8(s string, i int) uint64 {
	_ = s[i+7]
	return uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
		uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
}

func load4(s string, i int) uint64 {
	_ = s[i+3]
	return uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24
}

// NonPlainMask returns a mask in which the high bit of each byte of x that is not plain is set. Only the lowest set bit
// of the mask is reliable: the bits of higher bytes may be set although these bytes are plain. The high bit of a
// non-ASCII byte is already set in x. Subtracting 1 from each byte sets the high bit where the byte was 0, which after
// an xor is where x equals the given character; subtracting ' ' sets it for control characters. The characters " and &
// differ in one bit, which is masked, and so do < and >.
func NonPlainMask(x uint64) uint64 {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	quotes := x&^(4*ones) ^ '"'*ones
	angles := x&^(2*ones) ^ '<'*ones
	slashes := x ^ '\\'*ones
	return (x | (x - ' '*ones) | (quotes - ones) | (angles - ones) | (slashes - ones)) & highs
}

var plainBytes = func() (t [256]bool) {
	for c := ' '; c <= '\x7f'; c++ {
		t[c] = true
	}
	for _, c := range `"\<>&` {
		t[c] = false
	}
	return t
}()
