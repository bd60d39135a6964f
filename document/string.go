package document

import (
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/cadastre/cadastre/internal/lib/scan"
)

// slowValue parses a string value that is not plain into p.stack[slot]. start is the offset of the opening quote; the
// bytes up to i are plain.
func (p *parser) slowValue(slot, start, i int) (end int, err *SyntaxError) {
	s, end, err := p.slowString(start+1, i)
	n := &p.stack[slot]
	n.kind, n.text, n.size = String, s.start, s.size
	n.form |= s.form
	return end, err
}

// stringSpan is the position of a string's content in the text, or in doc.extra if the content was unescaped, and its
// form.
type stringSpan struct {
	start, size uint32
	form        form
}

// slowString parses the rest of the string whose content starts at offset start; i is the offset of its first byte that
// is not plain.
func (p *parser) slowString(start, i int) (c stringSpan, end int, err *SyntaxError) {
	s := p.text
	f := plain
	for i < len(s) {
		switch byteClass[s[i]] {
		case plainByte:
			i = scan.PlainEnd(s, i)
		case htmlByte:
			f = 0
			i++
		case escape:
			return p.escapedString(start, i, f)
		case nonASCII:
			size, err := p.characterSize(i)
			if err != nil {
				return stringSpan{}, i, err
			}
			if isSeparator(s[i : i+size]) {
				f = 0
			}
			i += size
		case control:
			return stringSpan{}, i, p.controlError(i)
		case quote:
			if f&plain == 0 {
				p.deviations++
			}
			return stringSpan{uint32(start), uint32(i - start), f}, i + 1, nil
		}
	}
	return stringSpan{}, i, p.unclosedStringError()
}

// escapedString parses the rest of the string whose content starts at offset start; i is the offset of its first
// escape. The unescaped content is appended to p.extra.
func (p *parser) escapedString(start, i int, f form) (c stringSpan, end int, err *SyntaxError) {
	s := p.text
	mark := len(p.extra)
	sameSpelling := f&plain != 0
	f |= extraText
	p.extra = append(p.extra, s[start:i]...)
	for i < len(s) {
		size := 1
		switch byteClass[s[i]] {
		case plainByte:
			size = scan.PlainEnd(s, i) - i
			p.extra = append(p.extra, s[i:i+size]...)
		case htmlByte:
			sameSpelling = false
			f &^= plain
			p.extra = append(p.extra, s[i])
		case escape:
			if i+1 < len(s) && s[i+1] == '"' { // \" is the most frequent escape
				size = 2
				f &^= plain
				p.extra = append(p.extra, '"')
				break
			}
			var r rune
			if r, size = unescapeOne(s[i:]); size == 0 {
				return stringSpan{}, i, p.escapeError(i)
			}
			escaped := canonicalEscape(r)
			if escaped != "" {
				f &^= plain
			}
			sameSpelling = sameSpelling && escaped == s[i:i+size]
			p.extra = utf8.AppendRune(p.extra, r)
		case nonASCII:
			if size, err = p.characterSize(i); err != nil {
				return stringSpan{}, i, err
			}
			if isSeparator(s[i : i+size]) {
				sameSpelling = false
				f &^= plain
			}
			p.extra = append(p.extra, s[i:i+size]...)
		case control:
			return stringSpan{}, i, p.controlError(i)
		case quote:
			if !sameSpelling {
				p.deviations++
			}
			return stringSpan{uint32(mark), uint32(len(p.extra) - mark), f}, i + 1, nil
		}
		i += size
	}
	return stringSpan{}, i, p.unclosedStringError()
}

// canonicalEscape returns the escape with which canonical JSON writes a character, "" if it writes the character
// itself.
func canonicalEscape(r rune) string {
	if r < utf8.RuneSelf {
		return asciiEscapes[r]
	}
	return unicodeEscape(r, utf8.RuneLen(r))
}

var asciiEscapes = func() (t [utf8.RuneSelf]string) {
	for c := range t {
		if byteClass[c] != plainByte {
			t[c] = string(appendEscape(nil, byte(c)))
		}
	}
	return t
}()

// isSeparator reports whether a character is U+2028 or U+2029, the line separators that canonical JSON escapes because
// JavaScript did not allow them in strings.
func isSeparator(character string) bool { return character == "\u2028" || character == "\u2029" }

// characterSize returns the size in bytes of the character at offset i, or an error if the bytes are not UTF-8.
func (p *parser) characterSize(i int) (size int, err *SyntaxError) {
	r, size := utf8.DecodeRuneInString(p.text[i:])
	if r == utf8.RuneError && size == 1 {
		return 0, p.errorAt(i, "expected UTF-8, received %s", p.describeAt(i))
	}
	return size, nil
}

func (p *parser) controlError(i int) *SyntaxError {
	return p.errorAt(i, "expected control characters in strings to be escaped, received %s", p.describeAt(i))
}

func (p *parser) unclosedStringError() *SyntaxError {
	return p.errorAt(len(p.text), "expected a closing quote, received the end of the document")
}

// escapeError returns the error for the invalid escape at i. If the text ends within the escape, the error is the
// missing closing quote.
func (p *parser) escapeError(i int) *SyntaxError {
	raw := p.text[i:min(len(p.text), i+6)]
	if len(raw) == 1 {
		return p.unclosedStringError()
	}
	if end := strings.IndexByte(raw[2:], '"'); end >= 0 {
		raw = raw[:2+end]
	}
	if half, ok := hex4(raw); ok && utf16.IsSurrogate(half) {
		return p.errorAt(i, "expected both halves of a surrogate pair, such as \\ud83d\\ude00, received %q", raw)
	}
	return p.errorAt(i, "expected an escape such as \\n or \\u00e9, received %q", raw)
}

// unescapeOne decodes the escape sequence at the start of s and returns its character and its size in bytes; size is 0
// if the escape is invalid.
func unescapeOne(s string) (r rune, size int) {
	if len(s) < 2 {
		return 0, 0
	}
	switch s[1] {
	case '"', '\\', '/':
		return rune(s[1]), 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		return unescapeUnicode(s)
	}
	return 0, 0
}

// unescapeUnicode decodes the escape \uXXXX at the start of s, or two such escapes that form a surrogate pair for a
// character beyond 16 bits. It returns size 0 for an unpaired surrogate.
func unescapeUnicode(s string) (r rune, size int) {
	first, ok := hex4(s)
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(first) {
		return first, 6
	}
	second, ok := hex4(s[6:])
	if !ok {
		return 0, 0
	}
	if r = utf16.DecodeRune(first, second); r == utf8.RuneError {
		return 0, 0
	}
	return r, 12
}

// hex4 decodes the \uXXXX at the start of s without interpreting surrogates; ok is false if s does not start with
// \uXXXX.
func hex4(s string) (r rune, ok bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	for i := 2; i < 6; i++ {
		c := s[i]
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// The functions below are the slow path for field names that scanName can't handle or that are not sorted.

// slowName parses a field name that is not plain, the white space after it, and the colon. start is the offset of the
// opening quote; the bytes up to i are plain.
func (p *parser) slowName(slot, start, i int) (end int, err *SyntaxError) {
	s, i, err := p.slowString(start+1, i)
	if err != nil {
		return i, err
	}
	n := &p.stack[slot]
	n.name, n.nameSize = s.start, s.size
	n.form |= escapableName
	if s.form&extraText != 0 {
		n.form |= extraName
	}
	if byteAt(p.text, i) <= ' ' {
		i = p.skipInsignificantSpace(i)
	}
	if byteAt(p.text, i) != ':' {
		return i, p.errorAt(i, "expected : after a field name, received %s", p.describeAt(i)).prefixPath("." + p.name(slot))
	}
	return i + 1, nil
}

// name returns the name of the field at p.stack[slot].
func (p *parser) name(slot int) string { return p.nameOf(&p.stack[slot]) }

// nameLess reports whether the name of a is less than the name of b.
func (p *parser) nameLess(a, b *node) bool {
	if (a.form|b.form)&extraName != 0 {
		return p.escapedNameLess(a, b)
	}
	return p.text[a.name:a.name+a.nameSize] < p.text[b.name:b.name+b.nameSize]
}

// escapedNameLess is nameLess for names that contain escapes. Unlike nameOf, its comparisons convert bytes to strings
// without allocating memory.
func (p *parser) escapedNameLess(a, b *node) bool {
	switch {
	case a.form&extraName == 0:
		return p.text[a.name:a.name+a.nameSize] < string(p.extra[b.name:b.name+b.nameSize])
	case b.form&extraName == 0:
		return string(p.extra[a.name:a.name+a.nameSize]) < p.text[b.name:b.name+b.nameSize]
	}
	return string(p.extra[a.name:a.name+a.nameSize]) < string(p.extra[b.name:b.name+b.nameSize])
}

// nameOf returns the name of a node on the parser's stack.
func (p *parser) nameOf(n *node) string {
	if n.form&extraName != 0 {
		return string(p.extra[n.name : n.name+n.nameSize])
	}
	return p.text[n.name : n.name+n.nameSize]
}

// sortFields sorts the fields of one map and returns an error for duplicate names.
func (p *parser) sortFields(fields []node) *SyntaxError {
	slices.SortStableFunc(fields, func(a, b node) int { return strings.Compare(p.nameOf(&a), p.nameOf(&b)) })
	for i := 1; i < len(fields); i++ {
		if name := p.nameOf(&fields[i]); name == p.nameOf(&fields[i-1]) {
			first, second := int(fields[i-1].pos), int(fields[i].pos)
			return duplicateField(position(p.text, first), position(p.text, second), name)
		}
	}
	return nil
}
