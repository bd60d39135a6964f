package document

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// yamlStyle is a way to write a string in YAML.
type yamlStyle uint8

const (
	plainStyle   yamlStyle = iota // as it is
	singleQuoted                  // 'in single quotes'
	doubleQuoted                  // "in double quotes", with escapes
	literalStyle                  // after |, line by line
)

// yamlStyleOf chooses how to write a string, as go-yaml does: plain if it reads
// back as the same string under YAML 1.1, literal if it has several lines.
func yamlStyleOf(s string) yamlStyle {
	f := findTraits(s)
	switch {
	case f.unprintable || f.blankBeforeBreak:
		return doubleQuoted
	case f.breaks && f.blankAtEnd:
		return doubleQuoted
	case f.breaks:
		return literalStyle
	case looksLikeOther(s):
		return doubleQuoted
	case f.indicator || f.blankAtStart || f.blankAtEnd:
		return singleQuoted
	}
	return plainStyle
}

// looksLikeOther tells whether a plain scalar would be read as something else than
// a string, here or by other readers of YAML 1.1.
func looksLikeOther(s string) bool {
	return s == "<<" || resolvePlain(s).kind != String || isTimestamp(s) || isBase60(s)
}

var base60 = regexp.MustCompile(`^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$`)

func isBase60(s string) bool { return strings.Contains(s, ":") && base60.MatchString(s) }

// traits is what matters about a string for its style.
type traits struct {
	breaks           bool // there is a line break
	unprintable      bool // a character can not be written as it is
	indicator        bool // a character would be read as punctuation
	blankAtStart     bool
	blankAtEnd       bool
	blankBeforeBreak bool
}

func findTraits(s string) (t traits) {
	t.blankAtStart = strings.HasPrefix(s, " ")
	t.blankAtEnd = strings.HasSuffix(s, " ")
	t.indicator = startsWithIndicator(s)
	for i, r := range s {
		switch {
		case r == '\n':
			t.breaks = true
			t.blankBeforeBreak = t.blankBeforeBreak || i > 0 && s[i-1] == ' '
		case r == ':' && (i+1 == len(s) || s[i+1] == ' '):
			t.indicator = true
		case r == '#' && i > 0 && s[i-1] == ' ':
			t.indicator = true
		case !isPrintable(r):
			t.unprintable = true
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\ufffd"):
			t.unprintable = true // invalid UTF-8
		}
	}
	return t
}

func startsWithIndicator(s string) bool {
	if strings.HasPrefix(s, "---") || strings.HasPrefix(s, "...") {
		return true
	}
	if s == "" || strings.IndexByte("#,[]{}&*!|>'\"%@`", s[0]) >= 0 {
		return true
	}
	return strings.IndexByte("-?:", s[0]) >= 0 && (len(s) == 1 || s[1] == ' ')
}

// isPrintable tells which characters kubectl writes as they are. Those beyond 16
// bits are not among them, nor are the line breaks that JSON does not know.
func isPrintable(r rune) bool {
	switch {
	case r == '\u2028' || r == '\u2029' || r == '\ufeff':
		return false
	}
	return ' ' <= r && r <= '~' || '\u00a0' <= r && r <= '\ufffd'
}

// appendYAMLString writes a string on one line.
func appendYAMLString(dst []byte, s string) []byte {
	switch yamlStyleOf(s) {
	case plainStyle:
		return append(dst, s...)
	case singleQuoted:
		dst = append(dst, '\'')
		dst = append(dst, strings.ReplaceAll(s, "'", "''")...)
		return append(dst, '\'')
	}
	return appendDoubleQuoted(dst, s)
}

func appendDoubleQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for _, r := range s {
		if isPrintable(r) && r != '"' && r != '\\' {
			dst = utf8.AppendRune(dst, r)
		} else {
			dst = appendYAMLEscape(dst, r)
		}
	}
	return append(dst, '"')
}

// yamlEscapes has the characters with short escapes, each before its letter.
const yamlEscapes = "\x000\x07a\bb\tt\nn\vv\ff\rr\x1be\"\"\\\\\u0085N\u2028L\u2029P"

func appendYAMLEscape(dst []byte, r rune) []byte {
	dst = append(dst, '\\')
	short := []rune(yamlEscapes)
	for i := 0; i < len(short); i += 2 {
		if short[i] == r {
			return utf8.AppendRune(dst, short[i+1])
		}
	}
	letter, digits := byte('U'), 8
	switch {
	case r <= 0xff:
		letter, digits = 'x', 2
	case r <= 0xffff:
		letter, digits = 'u', 4
	}
	dst = append(dst, letter)
	for shift := 4 * (digits - 1); shift >= 0; shift -= 4 {
		dst = append(dst, "0123456789ABCDEF"[r>>shift&0xf])
	}
	return dst
}

// appendLiteral writes a string of several lines after |, indented.
func appendLiteral(dst []byte, s string, indent int) []byte {
	indent = max(indent, 2) // at the root too
	dst = append(dst, '|')
	if s[0] == ' ' || s[0] == '\n' {
		dst = append(dst, '2') // the first line does not show how deep the text is indented
	}
	switch body := strings.TrimSuffix(s, "\n"); {
	case body == s:
		dst = append(dst, '-')
	case body == "" || strings.HasSuffix(body, "\n"):
		dst = append(dst, '+')
	}
	dst = append(dst, '\n')
	for line := range strings.Lines(s) {
		if line != "\n" {
			dst = appendIndent(dst, indent)
		}
		dst = append(dst, line...)
	}
	if !strings.HasSuffix(s, "\n") {
		dst = append(dst, '\n')
	}
	return dst
}
