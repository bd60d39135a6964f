package document

import (
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/cadastre/cadastre/internal/lib/scan"
)

// hardValue reads the rest of a string value of which the bytes up to i are
// ordinary.
func (p *parser) hardValue(at, start, i int) (end int, err *SyntaxError) {
	s, end, err := p.hardString(start+1, i)
	n := &p.stack[at]
	n.kind, n.text, n.size = String, s.start, s.size
	n.form |= s.form
	return end, err
}

// content is where the content of a string is, and its form.
type content struct {
	start, size uint32
	form        form
}

// hardString goes on at i, where a string that starts at start has a byte that is
// not ordinary.
func (p *parser) hardString(start, i int) (c content, end int, err *SyntaxError) {
	s := p.text
	f := plain
	for i < len(s) {
		switch byteClass[s[i]] {
		case ordinary:
			i = scan.Ordinary(s, i)
		case markup:
			f = 0
			i++
		case escape:
			return p.escapedString(start, i, f)
		case beyond:
			size, err := p.character(i)
			if err != nil {
				return content{}, i, err
			}
			if isSeparator(s[i : i+size]) {
				f = 0
			}
			i += size
		case control:
			return content{}, i, p.controlError(i)
		case quote:
			if f&plain == 0 {
				p.untidy++
			}
			return content{uint32(start), uint32(i - start), f}, i + 1, nil
		}
	}
	return content{}, i, p.openError()
}

// escapedString goes on at i, where the string has its first escape. The content is
// put together among the extra.
func (p *parser) escapedString(start, i int, f form) (c content, end int, err *SyntaxError) {
	s := p.text
	mark := len(p.extra)
	tidy := f&plain != 0
	f |= extraText
	p.extra = append(p.extra, s[start:i]...)
	for i < len(s) {
		size := 1
		switch byteClass[s[i]] {
		case ordinary:
			size = scan.Ordinary(s, i) - i
			p.extra = append(p.extra, s[i:i+size]...)
		case markup:
			tidy = false
			f &^= plain
			p.extra = append(p.extra, s[i])
		case escape:
			if i+1 < len(s) && s[i+1] == '"' { // by far the most frequent
				size = 2
				f &^= plain
				p.extra = append(p.extra, '"')
				break
			}
			var r rune
			if r, size = unescapeOne(s[i:]); size == 0 {
				return content{}, i, p.escapeError(i)
			}
			usual := usualEscape(r)
			if usual != "" {
				f &^= plain
			}
			tidy = tidy && usual == s[i:i+size]
			p.extra = utf8.AppendRune(p.extra, r)
		case beyond:
			if size, err = p.character(i); err != nil {
				return content{}, i, err
			}
			if isSeparator(s[i : i+size]) {
				tidy = false
				f &^= plain
			}
			p.extra = append(p.extra, s[i:i+size]...)
		case control:
			return content{}, i, p.controlError(i)
		case quote:
			if !tidy {
				p.untidy++
			}
			return content{uint32(mark), uint32(len(p.extra) - mark), f}, i + 1, nil
		}
		i += size
	}
	return content{}, i, p.openError()
}

// usualEscape returns how a character is escaped when it is written, "" if it is
// not.
func usualEscape(r rune) string {
	if r < utf8.RuneSelf {
		return asciiEscapes[r]
	}
	return unicodeEscape(r, utf8.RuneLen(r))
}

var asciiEscapes = func() (t [utf8.RuneSelf]string) {
	for c := range t {
		if byteClass[c] != ordinary {
			t[c] = string(appendEscape(nil, byte(c)))
		}
	}
	return t
}()

// isSeparator tells whether a character is one of the line separators that are
// escaped for the sake of JavaScript.
func isSeparator(character string) bool { return character == "\u2028" || character == "\u2029" }

// character returns the size of the character at i.
func (p *parser) character(i int) (size int, err *SyntaxError) {
	r, size := utf8.DecodeRuneInString(p.text[i:])
	if r == utf8.RuneError && size == 1 {
		return 0, p.errorAt(i, "expected UTF-8, received %s", p.received(i))
	}
	return size, nil
}

func (p *parser) controlError(i int) *SyntaxError {
	return p.errorAt(i, "expected control characters in strings to be escaped, received %s", p.received(i))
}

func (p *parser) openError() *SyntaxError {
	return p.errorAt(len(p.text), "expected a closing quote, received the end of the document")
}

// escapeError is about the escape at i. If the text ends in it, what is wrong is
// that the string does not end.
func (p *parser) escapeError(i int) *SyntaxError {
	raw := p.text[i:min(len(p.text), i+6)]
	if len(raw) == 1 {
		return p.openError()
	}
	if end := strings.IndexByte(raw[2:], '"'); end >= 0 {
		raw = raw[:2+end]
	}
	if half, ok := hex4(raw); ok && utf16.IsSurrogate(half) {
		return p.errorAt(i, "expected both halves of a surrogate pair, such as \\ud83d\\ude00, received %q", raw)
	}
	return p.errorAt(i, "expected an escape such as \\n or \\u00e9, received %q", raw)
}

// unescapeOne reads the escape that s starts with; its size is 0 if it is wrong.
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

// unescapeUnicode reads \uXXXX, or a pair of them for a character beyond 16 bits.
// Half a pair stands for nothing and is refused.
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

// hex4 reads \uXXXX.
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

// The names of a map's fields while the map is read: most are found by scanName on the
// way and are in order already; this file is for all others.

// hardName reads the rest of a name of which the bytes up to i are ordinary, the
// white space after it, and the colon.
func (p *parser) hardName(at, start, i int) (end int, err *SyntaxError) {
	s, i, err := p.hardString(start+1, i)
	if err != nil {
		return i, err
	}
	n := &p.stack[at]
	n.name, n.nameSize = s.start, s.size
	n.form |= hardName
	if s.form&extraText != 0 {
		n.form |= extraName
	}
	if byteAt(p.text, i) <= ' ' {
		i = p.untidySpace(i)
	}
	if byteAt(p.text, i) != ':' {
		return i, p.errorAt(i, "expected : after a field name, received %s", p.received(i)).in("." + p.name(at))
	}
	return i + 1, nil
}

// name returns the name of the field at a place on the stack.
func (p *parser) name(at int) string { return p.nameOf(&p.stack[at]) }

// inOrder tells whether the name of a comes before the name of b.
func (p *parser) inOrder(a, b *node) bool {
	if (a.form|b.form)&extraName != 0 {
		return p.extraInOrder(a, b)
	}
	return p.text[a.name:a.name+a.nameSize] < p.text[b.name:b.name+b.nameSize]
}

// extraInOrder is inOrder for names with escapes. Comparing makes no strings of
// bytes, as naming them would.
func (p *parser) extraInOrder(a, b *node) bool {
	switch {
	case a.form&extraName == 0:
		return p.text[a.name:a.name+a.nameSize] < string(p.extra[b.name:b.name+b.nameSize])
	case b.form&extraName == 0:
		return string(p.extra[a.name:a.name+a.nameSize]) < p.text[b.name:b.name+b.nameSize]
	}
	return string(p.extra[a.name:a.name+a.nameSize]) < string(p.extra[b.name:b.name+b.nameSize])
}

// nameOf returns the name of a node that is still in scratch memory.
func (p *parser) nameOf(n *node) string {
	if n.form&extraName != 0 {
		return string(p.extra[n.name : n.name+n.nameSize])
	}
	return p.text[n.name : n.name+n.nameSize]
}

// sortFields puts the fields of one map in order and refuses names that occur twice.
func (p *parser) sortFields(fields []node) *SyntaxError {
	slices.SortStableFunc(fields, func(a, b node) int { return strings.Compare(p.nameOf(&a), p.nameOf(&b)) })
	for i := 1; i < len(fields); i++ {
		if name := p.nameOf(&fields[i]); name == p.nameOf(&fields[i-1]) {
			first, second := int(fields[i-1].pos), int(fields[i].pos)
			return twice(position(p.text, first), position(p.text, second), name)
		}
	}
	return nil
}
