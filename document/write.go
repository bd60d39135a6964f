package document

import (
	"unicode/utf8"
)

// AppendJSON appends the value as canonical JSON. An absent value appends nothing.
func (v Value) AppendJSON(dst []byte) []byte {
	switch v.Kind() {
	case Absent:
		return dst
	case Null:
		return append(dst, "null"...)
	case Bool, Number:
		return append(dst, v.text()...)
	case String:
		if v.form()&plain != 0 {
			return appendPlain(dst, v.text())
		}
		return AppendString(dst, v.text())
	}
	if v.form()&canonical != 0 {
		return append(dst, v.text()...)
	}
	if v.Kind() == List {
		return v.appendList(dst)
	}
	return v.appendMap(dst)
}

// JSON returns the value as canonical JSON; an absent value as "".
func (v Value) JSON() string {
	if v.form()&canonical != 0 {
		return v.text()
	}
	return string(v.AppendJSON(nil))
}

// MarshalJSON makes values usable with encoding/json. An absent value is null.
func (v Value) MarshalJSON() ([]byte, error) {
	if v.IsAbsent() {
		return []byte("null"), nil
	}
	return v.AppendJSON(nil), nil
}

func (v Value) appendList(dst []byte) []byte {
	dst = append(dst, '[')
	for i := range v.Len() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = v.At(i).AppendJSON(dst)
	}
	return append(dst, ']')
}

func (v Value) appendMap(dst []byte) []byte {
	dst = append(dst, '{')
	for i := range v.Len() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendString(dst, v.Name(i))
		dst = append(dst, ':')
		dst = v.At(i).AppendJSON(dst)
	}
	return append(dst, '}')
}

func appendPlain(dst []byte, s string) []byte {
	dst = append(dst, '"')
	dst = append(dst, s...)
	return append(dst, '"')
}

// AppendString appends a string as canonical JSON, quotes included.
func AppendString(dst []byte, s string) []byte {
	if hard := skipOrdinary(s, 0); hard < len(s) {
		return appendHard(dst, s, hard)
	}
	return appendPlain(dst, s)
}

// appendHard writes a string of which the first hard bytes need no escape.
func appendHard(dst []byte, s string, hard int) []byte {
	dst = append(dst, '"')
	start := 0
	for i := hard; i < len(s); {
		c := s[i]
		if byteClass[c] == ordinary {
			i++
			continue
		}
		if c < utf8.RuneSelf {
			dst = append(dst, s[start:i]...)
			dst = appendEscape(dst, c)
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if escaped := unicodeEscape(r, size); escaped != "" {
			dst = append(dst, s[start:i]...)
			dst = append(dst, escaped...)
			start = i + size
		}
		i += size
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

// unicodeEscape returns how a character beyond ASCII is escaped, "" if it is not.
// Content that was not read from a text may hold invalid UTF-8; it is replaced.
func unicodeEscape(r rune, size int) string {
	switch {
	case r == utf8.RuneError && size == 1:
		return `\ufffd`
	case r == '\u2028':
		return `\u2028`
	case r == '\u2029':
		return `\u2029`
	}
	return ""
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	const digits = "0123456789abcdef"
	return append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&0xf])
}
