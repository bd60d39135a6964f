package document

import (
	"unicode/utf8"

	"github.com/cadastre/cadastre/internal/lib/scan"
)

// AppendJSON appends the value as canonical JSON to dst. For an absent value it returns dst unchanged.
func (v Value) AppendJSON(dst []byte) []byte {
	switch {
	case v.d == nil:
		return dst
	case v.d.nodes != nil:
		return v.d.appendNode(dst, &v.d.nodes[v.i])
	case v.d.kind >= List && v.d.form&canonical == 0:
		return v.d.appendMembers(dst)
	}
	return appendText(dst, v.d.kind, v.d.form, v.d.text)
}

// appendText appends the JSON of a scalar, or of a container whose text is canonical; text is defined as in node.
func appendText(dst []byte, kind Kind, f form, text string) []byte {
	switch {
	case kind == Null:
		return append(dst, "null"...)
	case kind != String:
		return append(dst, text...)
	case f&plain != 0:
		return appendPlain(dst, text)
	}
	return AppendString(dst, text)
}

// appendNode appends the JSON of a value of a parsed document.
func (d *doc) appendNode(dst []byte, n *node) []byte {
	if n.kind < List || n.form&canonical != 0 {
		return appendText(dst, n.kind, n.form, d.textOf(n))
	}
	opening, closing := brackets(n.kind)
	dst = append(dst, opening)
	children := d.nodes[n.first : n.first+n.count]
	for i := range children {
		if i > 0 {
			dst = append(dst, ',')
		}
		if n.kind == Map {
			dst = append(AppendString(dst, d.nameOf(&children[i])), ':')
		}
		dst = d.appendNode(dst, &children[i])
	}
	return append(dst, closing)
}

// appendMembers appends the JSON of a list or map that was built with a constructor.
func (d *doc) appendMembers(dst []byte) []byte {
	opening, closing := brackets(d.kind)
	dst = append(dst, opening)
	for i := range d.members {
		if i > 0 {
			dst = append(dst, ',')
		}
		if d.kind == Map {
			dst = append(AppendString(dst, d.members[i].Name), ':')
		}
		dst = d.members[i].Value.AppendJSON(dst)
	}
	return append(dst, closing)
}

// brackets returns the delimiters of a container in JSON.
func brackets(container Kind) (opening, closing byte) {
	if container == List {
		return '[', ']'
	}
	return '{', '}'
}

// JSON returns the value as canonical JSON, "" for an absent value.
func (v Value) JSON() string {
	if v.form()&canonical != 0 {
		return v.text()
	}
	return string(v.AppendJSON(nil))
}

// MarshalJSON implements json.Marshaler. An absent value is encoded as null.
func (v Value) MarshalJSON() ([]byte, error) {
	if v.IsAbsent() {
		return []byte("null"), nil
	}
	return v.AppendJSON(nil), nil
}

func appendPlain(dst []byte, s string) []byte {
	dst = append(dst, '"')
	dst = append(dst, s...)
	return append(dst, '"')
}

// AppendString appends a string as canonical JSON, including the quotes.
func AppendString(dst []byte, s string) []byte {
	if prefix := scan.PlainEnd(s, 0); prefix < len(s) {
		return appendEscaped(dst, s, prefix)
	}
	return appendPlain(dst, s)
}

// appendEscaped appends a string as canonical JSON; its first prefix bytes are known to need no escapes.
func appendEscaped(dst []byte, s string, prefix int) []byte {
	dst = append(dst, '"')
	start := 0
	for i := prefix; i < len(s); {
		c := s[i]
		if byteClass[c] == plainByte {
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

// unicodeEscape returns the escape of a character beyond ASCII, "" if canonical JSON does not escape it. Strings that
// were not parsed may contain invalid UTF-8, which is written as U+FFFD.
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

// CanonicalJSON returns the value as canonical JSON if that is available without encoding, as it is for lists and maps
// that were parsed from canonical JSON. Otherwise ok is false.
func (v Value) CanonicalJSON() (text string, ok bool) {
	if v.form()&canonical == 0 {
		return "", false
	}
	return v.text(), true
}

// JSONSize estimates the size of the value as canonical JSON, for allocating a buffer.
func (v Value) JSONSize() int {
	if text, ok := v.CanonicalJSON(); ok {
		return len(text)
	}
	switch v.Kind() {
	case List, Map:
		size := 2
		for i := range v.Len() {
			size += v.At(i).JSONSize() + 1
			if v.Kind() == Map {
				size += len(v.Name(i)) + 3
			}
		}
		return size
	}
	return len(v.Text()) + 5
}
