package document

import (
	"bytes"
	"encoding/base64"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// scalar is the kind and value of a YAML scalar, as determined by the rules of YAML 1.1.
type scalar struct {
	kind  Kind
	text  string  // the text of the value, as defined in node
	float float64 // the value of a number in float notation
	// isFloat marks numbers in float notation, which are formatted differently when they are field names. nonFinite
	// marks NaN and the infinities, which JSON can't express.
	isFloat, nonFinite bool
}

var (
	yamlNull  = scalar{kind: Null}
	yamlTrue  = scalar{kind: Bool, text: "true"}
	yamlFalse = scalar{kind: Bool, text: "false"}
)

// yamlWords are the plain scalars that look like words but are not strings.
var yamlWords = map[string]scalar{
	"": yamlNull, "~": yamlNull, "null": yamlNull, "Null": yamlNull, "NULL": yamlNull,

	"true": yamlTrue, "True": yamlTrue, "TRUE": yamlTrue,
	"y": yamlTrue, "Y": yamlTrue, "yes": yamlTrue, "Yes": yamlTrue, "YES": yamlTrue,
	"on": yamlTrue, "On": yamlTrue, "ON": yamlTrue,

	"false": yamlFalse, "False": yamlFalse, "FALSE": yamlFalse,
	"n": yamlFalse, "N": yamlFalse, "no": yamlFalse, "No": yamlFalse, "NO": yamlFalse,
	"off": yamlFalse, "Off": yamlFalse, "OFF": yamlFalse,

	".nan": nonFinite(math.NaN()), ".NaN": nonFinite(math.NaN()), ".NAN": nonFinite(math.NaN()),
	".inf": nonFinite(math.Inf(1)), ".Inf": nonFinite(math.Inf(1)), ".INF": nonFinite(math.Inf(1)),
	"+.inf": nonFinite(math.Inf(1)), "+.Inf": nonFinite(math.Inf(1)), "+.INF": nonFinite(math.Inf(1)),
	"-.inf": nonFinite(math.Inf(-1)), "-.Inf": nonFinite(math.Inf(-1)), "-.INF": nonFinite(math.Inf(-1)),
}

func nonFinite(f float64) scalar {
	return scalar{kind: Number, float: f, isFloat: true, nonFinite: true}
}

// resolve determines the kind and value of a scalar node from its tag, its quotes and its text. If the text does not
// match the tag, problem is the error message; it is empty if the text matches.
func (t *yamlTree) resolve(n *yaml.Node) (s scalar, problem string) {
	asString := scalar{kind: String, text: n.Value}
	if n.Style&yaml.TaggedStyle == 0 {
		if n.Style != 0 || t.nonSpecific[lineColumn{n.Line, n.Column}] {
			return asString, ""
		}
		return resolvePlain(n.Value), ""
	}
	s = resolvePlain(n.Value)
	matches := false
	switch n.Tag {
	case "!!null":
		matches = s.kind == Null
	case "!!bool":
		matches = s.kind == Bool
	case "!!int":
		matches = s.kind == Number && !s.isFloat
	case "!!float":
		return resolveFloat(n.Value, s)
	case "!!timestamp":
		s, matches = asString, isTimestamp(n.Value)
	case "!!binary":
		data, err := base64.StdEncoding.DecodeString(n.Value)
		s, matches = scalar{kind: String, text: string(data)}, err == nil
	default: // !!str and unknown tags
		s, matches = asString, true
	}
	return s, tagMismatch(matches, n.Tag, n.Value)
}

// resolveFloat resolves a scalar with the tag !!float; s is the result without the tag. A literal beyond the range of
// float64 is a number with this tag and a string without it.
func resolveFloat(text string, s scalar) (_ scalar, problem string) {
	if s.kind == Number {
		s.float, s.isFloat = s.asFloat(), true
		return s, ""
	}
	if text != "" && scanNumber(text, 0) == len(text) {
		f, _ := strconv.ParseFloat(text, 64)
		return floatScalar(text, f), ""
	}
	return s, tagMismatch(false, "!!float", text)
}

func tagMismatch(matches bool, tag, text string) (problem string) {
	if matches {
		return ""
	}
	return "expected a scalar that can be read as " + tag + ", received " + strconv.Quote(shorten(text))
}

// shorten truncates a text to about 40 bytes for an error message.
func shorten(s string) string {
	if len(s) <= 40 {
		return s
	}
	return strings.ToValidUTF8(s[:40], "") + "…"
}

// resolvePlain resolves a scalar without quotes and tag by the rules of YAML 1.1.
func resolvePlain(text string) scalar {
	if s, ok := yamlWords[text]; ok {
		return s
	}
	switch c := text[0]; {
	case c == '.':
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			return floatScalar(text, f)
		}
	case c == '+' || c == '-' || '0' <= c && c <= '9':
		if s, ok := resolveNumber(strings.ReplaceAll(text, "_", "")); ok {
			return s
		}
	}
	return scalar{kind: String, text: text}
}

var yamlFloat = regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)

// resolveNumber parses integers of up to 64 bits, in decimal, with the prefixes 0x, 0o and 0b, or as octal with a
// leading 0, and decimal floats. ok is false for other texts and for numbers beyond the range of float64; YAML treats
// both as strings.
func resolveNumber(text string) (s scalar, ok bool) {
	if i, err := strconv.ParseInt(text, 0, 64); err == nil {
		return scalar{kind: Number, text: integerLiteral(text, strconv.FormatInt(i, 10))}, true
	}
	if u, err := strconv.ParseUint(text, 0, 64); err == nil {
		return scalar{kind: Number, text: strconv.FormatUint(u, 10)}, true
	}
	if !yamlFloat.MatchString(text) {
		return scalar{}, false
	}
	f, err := strconv.ParseFloat(text, 64)
	return floatScalar(text, f), err == nil
}

// integerLiteral returns the decimal spelling of an integer: value, or -0 if the integer is spelled -0 in the YAML text
// (written).
func integerLiteral(written, value string) string {
	if written == "-0" {
		return written
	}
	return value
}

// floatScalar returns the scalar of a float. It keeps the spelling of the input except where JSON does not allow it:
// JSON allows no plus sign, no leading zeros, and no point without digits on both sides of it.
func floatScalar(text string, f float64) scalar {
	s := scalar{kind: Number, float: f, isFloat: true}
	digits := strings.TrimLeft(text, "+-")
	digits = strings.TrimLeft(digits, "0")
	if digits == "" || digits[0] < '0' || digits[0] > '9' {
		digits = "0" + digits
	}
	if strings.HasPrefix(text, "-") {
		digits = "-" + digits
	}
	if scanNumber(digits, 0) == len(digits) {
		s.text = digits
	} else {
		s.text = string(appendFloat(nil, f))
	}
	return s
}

func (s scalar) asFloat() float64 {
	if s.isFloat {
		return s.float
	}
	f, _ := strconv.ParseFloat(s.text, 64)
	return f
}

// value converts a scalar to a document value; the scalar must not be NaN or an infinity.
func (s scalar) value() Value {
	switch s.kind {
	case Null:
		return NewNull()
	case Bool:
		return NewBool(s.text == "true")
	case Number:
		return newLiteral(s.text)
	}
	return NewString(s.text)
}

// asName returns the field name for a mapping key that is a scalar, as sigs.k8s.io/yaml converts it, with floats
// rounded to 32 bits. ok is false for null and for integers beyond int64.
func (s scalar) asName() (name string, ok bool) {
	switch {
	case s.kind == String || s.kind == Bool:
		return s.text, true
	case s.kind != Number:
		return "", false
	case !s.isFloat:
		i, err := strconv.ParseInt(s.text, 10, 64)
		return strconv.FormatInt(i, 10), err == nil
	case math.IsNaN(s.float):
		return ".nan", true
	}
	switch name = strconv.FormatFloat(s.float, 'g', -1, 32); name {
	case "+Inf":
		name = ".inf"
	case "-Inf":
		name = "-.inf"
	}
	return name, true
}

// isTimestamp reports whether YAML accepts a text with the tag !!timestamp.
func isTimestamp(text string) bool {
	if len(text) < 5 || skipDigits(text, 0) != 4 || text[4] != '-' {
		return false
	}
	for _, layout := range []string{
		"2006-1-2T15:4:5.999999999Z07:00", "2006-1-2t15:4:5.999999999Z07:00", "2006-1-2 15:4:5.999999999", "2006-1-2",
	} {
		if _, err := time.Parse(layout, text); err == nil {
			return true
		}
	}
	return false
}

// nonSpecificTags returns the positions of nodes with the non-specific tag "!", which makes a scalar a string. The YAML
// library does not report this tag. The result includes exclamation marks in strings and comments, which have no effect
// because no node starts at their positions.
func nonSpecificTags(text []byte) map[lineColumn]bool {
	if bytes.IndexByte(text, '!') < 0 {
		return nil
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // the YAML library does not count the byte order mark as a column
	found := map[lineColumn]bool{}
	at := lineColumn{1, 1}
	node := at // the start of the node that the next tag belongs to
	inAnchor, afterAnchor := false, false
	for i, r := range string(text) {
		next, _ := utf8.DecodeRune(text[i+utf8.RuneLen(r):])
		switch {
		case r == '&':
			node, inAnchor, afterAnchor = at, true, false
		case strings.ContainsRune(yamlBlanks, r):
			inAnchor, afterAnchor = false, inAnchor || afterAnchor
		case r == '!' && !afterAnchor:
			node = at
			fallthrough
		case r == '!':
			if i+1 == len(text) || strings.ContainsRune(yamlBlanks+",]}", next) {
				found[node] = true
			}
			fallthrough
		default:
			afterAnchor = false
		}
		if strings.ContainsRune(yamlBreaks, r) && (r != '\r' || next != '\n') {
			at = lineColumn{at.line + 1, 0}
		}
		at.column++
	}
	return found
}

// yamlBreaks contains the line breaks of YAML 1.1, yamlBlanks all white space.
const (
	yamlBreaks = "\n\r\u0085\u2028\u2029"
	yamlBlanks = " \t" + yamlBreaks
)
