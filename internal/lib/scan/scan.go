// Package scan looks through text eight bytes at a time.
//
// An ordinary byte is one that stands for itself in a JSON string, for whoever reads it
// and for Kubernetes when it writes: ASCII that is neither a control character nor one of
// " \ < > &. Nearly all bytes of nearly all objects are.
package scan

import "math/bits"

// Ordinary returns the place of the first byte, from i on, that is not ordinary;
// the end of the text if there is none.
func Ordinary(s string, i int) int {
	for ; i+8 <= len(s); i += 8 {
		if hits := Extraordinary(Load8(s, i)); hits != 0 {
			return i + bits.TrailingZeros64(hits)/8
		}
	}
	for i < len(s) && ordinary[s[i]] {
		i++
	}
	return i
}

// AllOrdinary reports whether a text has only ordinary bytes.
func AllOrdinary(s string) bool {
	if len(s) < 4 {
		for i := 0; i < len(s); i++ {
			if !ordinary[s[i]] {
				return false
			}
		}
		return true
	}
	if len(s) < 8 {
		return Extraordinary(load4(s, 0)|load4(s, len(s)-4)<<32) == 0
	}
	for i := 0; i+8 < len(s); i += 8 {
		if Extraordinary(Load8(s, i)) != 0 {
			return false
		}
	}
	return Extraordinary(Load8(s, len(s)-8)) == 0
}

// Load8 reads eight bytes; the compiler makes one instruction of it.
func Load8(s string, i int) uint64 {
	_ = s[i+7]
	return uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
		uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
}

func load4(s string, i int) uint64 {
	_ = s[i+3]
	return uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24
}

// Extraordinary sets the high bit of the bytes of x that are not ordinary. Above
// the first of them it may set too many. The high bit of a byte beyond ASCII is set
// to start with. To take 1 off all other bytes sets it where there was a 0, which
// is where x equalled the byte that it was combined with by xor; to take off ' '
// sets it where there was a control character. The bytes " and & differ in one bit,
// which is masked, as do < and >.
func Extraordinary(x uint64) uint64 {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	quotes := x&^(4*ones) ^ '"'*ones
	angles := x&^(2*ones) ^ '<'*ones
	slashes := x ^ '\\'*ones
	return (x | (x - ' '*ones) | (quotes - ones) | (angles - ones) | (slashes - ones)) & highs
}

var ordinary = func() (t [256]bool) {
	for c := ' '; c <= '\x7f'; c++ {
		t[c] = true
	}
	for _, c := range `"\<>&` {
		t[c] = false
	}
	return t
}()
