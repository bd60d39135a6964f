package document

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// YAML output is in block style as kubectl writes it: indented by two spaces, lists not indented below their field,
// multi-line strings as literal blocks. Numbers keep their spelling.

// maxBlockDepth is the maximum nesting depth that is written in block style. Deeper lists and maps are written in flow
// style, because the indentation of block style would make the output grow with the square of the depth.
const maxBlockDepth = 64

// AppendYAML appends the value as YAML that ends with a line break to dst. For an absent value it returns dst
// unchanged.
func (v Value) AppendYAML(dst []byte) []byte {
	if v.IsAbsent() {
		return dst
	}
	return v.parsed().appendBlock(dst, 0, 0)
}

// YAML returns the value as YAML that ends with a line break, "" for an absent value.
func (v Value) YAML() string { return string(v.AppendYAML(nil)) }

// appendBlock appends a value in block style; the current line of dst is already indented. An unparsed value must be
// parsed before; see [Value.parsed].
func (v Value) appendBlock(dst []byte, indent, depth int) []byte {
	switch {
	case v.Len() > 0 && depth >= maxBlockDepth:
		return append(v.appendFlow(dst), '\n')
	case v.Len() > 0 && v.Kind() == Map:
		return v.appendBlockMap(dst, indent, depth)
	case v.Len() > 0:
		return v.appendBlockList(dst, indent, depth)
	case v.Kind() == String && yamlStyleOf(v.text()) == literalStyle:
		return appendLiteral(dst, v.text(), indent)
	}
	return append(v.appendFlow(dst), '\n')
}

func (v Value) appendBlockMap(dst []byte, indent, depth int) []byte {
	for i := range v.Len() {
		if i > 0 {
			dst = appendIndent(dst, indent)
		}
		dst = appendYAMLName(dst, v.Name(i), indent)
		value := v.At(i).parsed()
		switch {
		case value.Len() == 0 || depth+1 >= maxBlockDepth:
			dst = append(dst, ' ')
			dst = value.appendBlock(dst, indent+2, depth+1)
		case value.Kind() == Map:
			dst = appendIndent(append(dst, '\n'), indent+2)
			dst = value.appendBlock(dst, indent+2, depth+1)
		default:
			dst = appendIndent(append(dst, '\n'), indent)
			dst = value.appendBlock(dst, indent, depth+1)
		}
	}
	return dst
}

func (v Value) appendBlockList(dst []byte, indent, depth int) []byte {
	for i := range v.Len() {
		if i > 0 {
			dst = appendIndent(dst, indent)
		}
		dst = append(dst, '-', ' ')
		dst = v.At(i).parsed().appendBlock(dst, indent+2, depth+1)
	}
	return dst
}

// maxSimpleName is the maximum size in bytes of a name that is written directly before its colon. A longer name is
// written as an explicit key (? name) because YAML parsers limit how far they look ahead for the colon.
const maxSimpleName = 128

// appendYAMLName appends a name and its colon.
func appendYAMLName(dst []byte, name string, indent int) []byte {
	if len(name) <= maxSimpleName {
		return append(appendYAMLString(dst, name), ':')
	}
	dst = append(dst, '?', ' ')
	dst = appendYAMLString(dst, name)
	dst = appendIndent(append(dst, '\n'), indent)
	return append(dst, ':')
}

// appendFlow appends a value in flow style, on one line.
func (v Value) appendFlow(dst []byte) []byte {
	v = v.parsed()
	switch v.Kind() {
	case Null:
		return append(dst, "null"...)
	case Bool:
		return append(dst, v.text()...)
	case Number:
		return appendYAMLNumber(dst, v.text())
	case String:
		return appendYAMLString(dst, v.text())
	case List:
		return v.appendFlowList(dst)
	}
	return v.appendFlowMap(dst)
}

func (v Value) appendFlowList(dst []byte) []byte {
	dst = append(dst, '[')
	for i := range v.Len() {
		if i > 0 {
			dst = append(dst, ',', ' ')
		}
		dst = v.At(i).appendNested(dst)
	}
	return append(dst, ']')
}

func (v Value) appendFlowMap(dst []byte) []byte {
	dst = append(dst, '{')
	for i := range v.Len() {
		if i > 0 {
			dst = append(dst, ',', ' ')
		}
		if len(v.Name(i)) > maxSimpleName {
			dst = append(dst, '?', ' ')
		}
		dst = appendDoubleQuoted(dst, v.Name(i))
		dst = append(dst, ':', ' ')
		dst = v.At(i).appendNested(dst)
	}
	return append(dst, '}')
}

// appendNested appends a value inside of a flow collection. Strings are always quoted there because a plain string must
// not contain brackets and commas.
func (v Value) appendNested(dst []byte) []byte {
	if v.Kind() == String {
		return appendDoubleQuoted(dst, v.text())
	}
	return v.appendFlow(dst)
}

// appendYAMLNumber appends a number with its spelling. A number beyond the range of float64 gets the tag !!float,
// because YAML parsers would otherwise read it as a string.
func appendYAMLNumber(dst []byte, literal string) []byte {
	if resolvePlain(literal).kind != Number {
		dst = append(dst, "!!float "...)
	}
	return append(dst, literal...)
}

func appendIndent(dst []byte, indent int) []byte {
	for range indent {
		dst = append(dst, ' ')
	}
	return dst
}

// yamlStyle is the style in which YAML writes a string.
type yamlStyle uint8

const (
	plainStyle   yamlStyle = iota // plain, without quotes
	singleQuoted                  // 'in single quotes'
	doubleQuoted                  // "in double quotes", with escapes
	literalStyle                  // literal block: | and the lines of the string, indented
)

// yamlStyleOf returns the style for a string, by go-yaml's rules: plain if a YAML 1.1 parser reads the same string
// back, literal if the string contains line breaks, otherwise quoted.
func yamlStyleOf(s string) yamlStyle {
	f := findTraits(s)
	switch {
	case f.unprintable || f.blankBeforeBreak:
		return doubleQuoted
	case f.breaks && f.blankAtEnd:
		return doubleQuoted
	case f.breaks:
		return literalStyle
	case resolvesToNonString(s):
		return doubleQuoted
	case f.indicator || f.blankAtStart || f.blankAtEnd:
		return singleQuoted
	}
	return plainStyle
}

// resolvesToNonString reports whether this package or another YAML 1.1 parser would read the plain scalar s as
// something other than a string.
func resolvesToNonString(s string) bool {
	return s == "<<" || resolvePlain(s).kind != String || isTimestamp(s) || isBase60(s)
}

var base60 = regexp.MustCompile(`^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$`)

// isBase60 reports whether YAML 1.1 reads a text as a number in base 60, such as 190:20:30.
func isBase60(s string) bool { return strings.Contains(s, ":") && base60.MatchString(s) }

// traits are the properties of a string that determine its YAML style.
type traits struct {
	breaks           bool // contains a line break
	unprintable      bool // contains a character that must be escaped
	indicator        bool // contains a character that YAML would read as syntax
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

// isPrintable reports whether kubectl writes a character unescaped. kubectl escapes characters beyond 16 bits, the
// Unicode line separators and the byte order mark.
func isPrintable(r rune) bool {
	switch {
	case r == '\u2028' || r == '\u2029' || r == '\ufeff':
		return false
	}
	return ' ' <= r && r <= '~' || '\u00a0' <= r && r <= '\ufffd'
}

// appendYAMLString appends a string, quoted if necessary, on one line.
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

// yamlEscapes lists the characters with short escapes, each followed by its escape letter.
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

// appendLiteral appends a multi-line string as an indented literal block.
func appendLiteral(dst []byte, s string, indent int) []byte {
	indent = max(indent, 2) // a literal block is indented even at the root
	dst = append(dst, '|')
	if s[0] == ' ' || s[0] == '\n' {
		dst = append(dst, '2') // explicit indentation indicator, because the first line has leading white space
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
