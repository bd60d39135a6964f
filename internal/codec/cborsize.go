package codec

import "encoding/binary"

// The major types of CBOR that say how much comes after them.
const (
	cborByteString = 2
	cborTextString = 3
	cborList       = 4
	cborMap        = 5
	cborTag        = 6
)

const cborBreak = 0xff // the end of what does not say how long it is

// leastJSON returns how many bytes CBOR has at least as JSON. In CBOR an empty map is one byte, and in Go's memory a
// hundred, so that this is found out from the bytes alone, before they are read. Of what is no CBOR it returns
// the size up to there: who reads it tells what is wrong.
func leastJSON(body []byte) (size int) {
	inString := false // among the pieces of one
	for len(body) > 0 {
		first := body[0]
		count, n, ok := cborCount(body)
		if !ok {
			return size
		}
		body = body[n:]
		const separator = 1 // what is between members, items, names and values; of the first the bracket
		switch major := first >> 5; {
		case first == cborBreak:
			inString = false
		case major == cborTag:
		case major == cborByteString, major == cborTextString:
			if count > uint64(len(body)) {
				return size
			}
			body = body[count:]
			size += int(count)
			if !inString {
				size += len(`""`) + separator
			}
			inString = inString || first&31 == 31
		case major == cborList, major == cborMap:
			size += len("]") + separator
			if count == 0 {
				size += len("[")
			}
		default:
			size += len("0") + separator
		}
	}
	return max(0, size-1)
}

// cborCount returns the number that comes with a major type, and how many bytes both take. What does not say how
// long it is has none itself, but some in it.
func cborCount(body []byte) (count uint64, n int, ok bool) {
	switch short := body[0] & 31; {
	case short < 24:
		return uint64(short), 1, true
	case short == 31:
		if major := body[0] >> 5; major == cborList || major == cborMap {
			return 1, 1, true
		}
		return 0, 1, true
	case short > 27:
		return 0, 0, false
	default:
		n = 1 << (short - 24)
		if len(body) < 1+n {
			return 0, 0, false
		}
		var whole [8]byte
		copy(whole[8-n:], body[1:1+n])
		return binary.BigEndian.Uint64(whole[:]), 1 + n, true
	}
}
