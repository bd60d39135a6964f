package document

import (
	"math/bits"
	"unicode/utf8"

	"github.com/cadastre/cadastre/internal/lib/scan"
)

// The scan functions of this file return the offset after the token that starts at the given offset.

// scanName returns the offset after the plain bytes of a name that starts at offset i, like scan.PlainEnd. It also
// returns the sort key of the name: its first eight bytes as a big-endian number, padded with zeros. If the keys of
// two names differ, the names have the order of their keys; if the keys are equal, the names must be compared.
func scanName(s string, i int) (end int, key uint64) {
	if i+8 > len(s) {
		return scan.PlainEnd(s, i), noKey
	}
	first := scan.Load8(s, i)
	key = bits.ReverseBytes64(first)
	if hits := scan.NonPlainMask(first); hits != 0 {
		size := bits.TrailingZeros64(hits) / 8
		return i + size, key &^ (^uint64(0) >> (8 * size))
	}
	return scan.PlainEnd(s, i+8), key
}

// noKey is the sort key of a name for which none was computed. No UTF-8 text has this key.
const noKey = ^uint64(0)

// scanNumber returns the offset after the JSON number that starts at offset pos, or pos if no number starts there.
func scanNumber(s string, pos int) int {
	i := pos
	if i < len(s) && s[i] == '-' {
		i++
	}
	switch {
	case i < len(s) && s[i] == '0':
		i++
	case i < len(s) && '1' <= s[i] && s[i] <= '9':
		i = skipDigits(s, i)
	default:
		return pos
	}
	if i < len(s) && s[i] == '.' {
		end := skipDigits(s, i+1)
		if end == i+1 {
			return pos
		}
		i = end
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		i++
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		end := skipDigits(s, i)
		if end == i {
			return pos
		}
		i = end
	}
	return i
}

func skipDigits(s string, i int) int {
	for i < len(s) && '0' <= s[i] && s[i] <= '9' {
		i++
	}
	return i
}

// skipSpace returns the offset of the first byte at or after i that is not white space.
func skipSpace(s string, i int) int {
	const indentation = 0x2020202020202020
	for i < len(s) && isSpace(s[i]) {
		i++
		for i+8 <= len(s) && scan.Load8(s, i) == indentation {
			i += 8
		}
	}
	return i
}

// byteAt returns the byte at offset i, or 0 beyond the end of the text.
func byteAt(s string, i int) byte {
	if i < len(s) {
		return s[i]
	}
	return 0
}

func isSpace(c byte) bool { return c <= ' ' && (c == ' ' || c == '\n' || c == '\t' || c == '\r') }

// class is the category of a byte inside of a JSON string; the parser and the encoder use it.
type class uint8

const (
	plainByte class = iota // needs no escape
	quote                  // ends the string
	escape                 // starts an escape sequence
	control                // must be escaped
	htmlByte               // needs no escape in the input, but is escaped in the output
	nonASCII               // part of a multi-byte character
)

var byteClass = func() (t [256]class) {
	for c := range t {
		switch {
		case c < ' ':
			t[c] = control
		case c == '"':
			t[c] = quote
		case c == '\\':
			t[c] = escape
		case c == '<' || c == '>' || c == '&':
			t[c] = htmlByte
		case c >= utf8.RuneSelf:
			t[c] = nonASCII
		}
	}
	return t
}()
