package fieldsv1

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/lib/scan"
)

// A key or a value in FieldsV1 is JSON inside of a JSON string. Its quotes are therefore escaped, and other special
// characters are escaped twice: {\"name\":\"app\"}. Equal elements have the same spelling.

// AppendKeyField appends one field of a key element, name and value, as FieldsV1 spells it.
func AppendKeyField(dst []byte, name string, v document.Value) []byte {
	dst = appendKeyName(dst, name)
	dst = append(dst, ':')
	return AppendValue(dst, v)
}

// appendKeyName appends the name of a key field. Kubernetes escapes HTML characters once in names, when it encodes the
// object that contains the field set, but twice in values.
func appendKeyName(dst []byte, name string) []byte {
	if scan.IsPlain(name) {
		return appendEscapedTwice(dst, name)
	}
	dst = append(dst, `\"`...)
	for _, r := range name {
		if isHTMLCharacter(r) {
			dst = appendEscaped(dst, r)
		} else {
			dst = appendRuneEscapedTwice(dst, r)
		}
	}
	return append(dst, `\"`...)
}

// AppendValue appends a value of a key or set element as FieldsV1 spells it.
func AppendValue(dst []byte, v document.Value) []byte {
	switch v.Kind() {
	case document.String:
		return appendEscapedTwice(dst, v.Text())
	case document.Number:
		return appendNumber(dst, v.Text())
	case document.List:
		dst = append(dst, '[')
		for i, item := range v.Items() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendValue(dst, item)
		}
		return append(dst, ']')
	case document.Map:
		dst = append(dst, '{')
		for i := range v.Len() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendEscapedTwice(dst, v.Name(i))
			dst = append(dst, ':')
			dst = AppendValue(dst, v.At(i))
		}
		return append(dst, '}')
	}
	return v.AppendJSON(dst)
}

// appendEscapedTwice appends a string as JSON inside of a JSON string, including the escaped quotes.
func appendEscapedTwice(dst []byte, s string) []byte {
	dst = append(dst, `\"`...)
	if scan.IsPlain(s) {
		dst = append(dst, s...)
	} else {
		for _, r := range s {
			dst = appendRuneEscapedTwice(dst, r)
		}
	}
	return append(dst, `\"`...)
}

func appendRuneEscapedTwice(dst []byte, r rune) []byte {
	switch {
	case r == '"':
		return append(dst, `\\\"`...)
	case r == '\\':
		return append(dst, `\\\\`...)
	case needsEscape(r):
		return appendEscaped(append(dst, '\\'), r)
	}
	return utf8.AppendRune(dst, r)
}

// AppendName appends a field name with the escapes of a JSON string, without quotes.
func AppendName(dst []byte, name string) []byte {
	if scan.IsPlain(name) {
		return append(dst, name...)
	}
	for start := 0; start < len(name); {
		r, size := utf8.DecodeRuneInString(name[start:])
		switch {
		case r == utf8.RuneError && size == 1:
			dst = append(dst, `\ufffd`...)
		case r == '"' || r == '\\' || needsEscape(r):
			dst = appendEscaped(dst, r)
		default:
			dst = append(dst, name[start:start+size]...)
		}
		start += size
	}
	return dst
}

// needsEscape reports whether Kubernetes escapes a character in JSON; it does not include quotes and backslashes.
func needsEscape(r rune) bool { return r < ' ' || isHTMLCharacter(r) }

func isHTMLCharacter(r rune) bool {
	return r == '<' || r == '>' || r == '&' || r == '\u2028' || r == '\u2029'
}

func appendEscaped(dst []byte, r rune) []byte {
	switch r {
	case '"', '\\':
		return append(dst, '\\', byte(r))
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	}
	const digits = "0123456789abcdef"
	return append(dst, '\\', 'u', digits[r>>12&0xf], digits[r>>8&0xf], digits[r>>4&0xf], digits[r&0xf])
}

// appendNumber appends a number in one spelling for all equal numbers: 1.0 and 1e0 are written as 1. Large integers
// keep all their digits, although Kubernetes would round them.
func appendNumber(dst []byte, literal string) []byte {
	isInteger := !strings.ContainsAny(literal, ".eE")
	if isInteger && len(literal) <= len("-1000000000") && literal != "-0" {
		return append(dst, literal...)
	}
	const large = 1e21 // Kubernetes writes numbers from 1e21 on with an exponent
	f, err := strconv.ParseFloat(literal, 64)
	size := math.Abs(f)
	switch {
	case f == 0:
		return append(dst, '0') // negative zero is written as 0, which it equals
	case err != nil || isInteger && (size < large || !isFloat(literal, f)):
		return append(dst, literal...)
	case size < 1e-6 || size >= large:
		return strconv.AppendFloat(dst, f, 'e', -1, 64)
	}
	return strconv.AppendFloat(dst, f, 'f', -1, 64)
}

// isFloat reports whether f is exactly the value of an integer literal.
func isFloat(literal string, f float64) bool {
	whole, _ := big.NewFloat(f).Int(nil)
	return whole.String() == literal
}
