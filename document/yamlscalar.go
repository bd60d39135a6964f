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

// scalar is what a YAML scalar means.
type scalar struct {
	kind  Kind
	text  string  // as in node
	float float64 // of a number that was written as a float
	// isFloat tells how a number becomes a field name; unspeakable marks the
	// floats that JSON has no number for.
	isFloat, unspeakable bool
}

var (
	yamlNull  = scalar{kind: Null}
	yamlTrue  = scalar{kind: Bool, text: "true"}
	yamlFalse = scalar{kind: Bool, text: "false"}
)

// yamlWords are the plain scalars that are not strings although they are words.
var yamlWords = map[string]scalar{
	"": yamlNull, "~": yamlNull, "null": yamlNull, "Null": yamlNull, "NULL": yamlNull,

	"true": yamlTrue, "True": yamlTrue, "TRUE": yamlTrue,
	"y": yamlTrue, "Y": yamlTrue, "yes": yamlTrue, "Yes": yamlTrue, "YES": yamlTrue,
	"on": yamlTrue, "On": yamlTrue, "ON": yamlTrue,

	"false": yamlFalse, "False": yamlFalse, "FALSE": yamlFalse,
	"n": yamlFalse, "N": yamlFalse, "no": yamlFalse, "No": yamlFalse, "NO": yamlFalse,
	"off": yamlFalse, "Off": yamlFalse, "OFF": yamlFalse,

	".nan": unspeakable(math.NaN()), ".NaN": unspeakable(math.NaN()), ".NAN": unspeakable(math.NaN()),
	".inf": unspeakable(math.Inf(1)), ".Inf": unspeakable(math.Inf(1)), ".INF": unspeakable(math.Inf(1)),
	"+.inf": unspeakable(math.Inf(1)), "+.Inf": unspeakable(math.Inf(1)), "+.INF": unspeakable(math.Inf(1)),
	"-.inf": unspeakable(math.Inf(-1)), "-.Inf": unspeakable(math.Inf(-1)), "-.INF": unspeakable(math.Inf(-1)),
}

func unspeakable(f float64) scalar {
	return scalar{kind: Number, float: f, isFloat: true, unspeakable: true}
}

// resolve decides what a scalar node means; if its tag forbids that, it says why.
func (t *yamlTree) resolve(n *yaml.Node) (s scalar, problem string) {
	asString := scalar{kind: String, text: n.Value}
	if n.Style&yaml.TaggedStyle == 0 {
		if n.Style != 0 || t.bare[place{n.Line, n.Column}] {
			return asString, ""
		}
		return resolvePlain(n.Value), ""
	}
	s = resolvePlain(n.Value)
	fits := false
	switch n.Tag {
	case "!!null":
		fits = s.kind == Null
	case "!!bool":
		fits = s.kind == Bool
	case "!!int":
		fits = s.kind == Number && !s.isFloat
	case "!!float":
		return resolveFloat(n.Value, s)
	case "!!timestamp":
		s, fits = asString, isTimestamp(n.Value)
	case "!!binary":
		data, err := base64.StdEncoding.DecodeString(n.Value)
		s, fits = scalar{kind: String, text: string(data)}, err == nil
	default: // !!str and tags that we know nothing of
		s, fits = asString, true
	}
	return s, misfit(fits, n.Tag, n.Value)
}

// resolveFloat reads a scalar with the tag !!float, which also makes numbers of
// the literals that are beyond the range of float64.
func resolveFloat(text string, s scalar) (_ scalar, problem string) {
	if s.kind == Number {
		s.float, s.isFloat = s.asFloat(), true
		return s, ""
	}
	if text != "" && scanNumber(text, 0) == len(text) {
		f, _ := strconv.ParseFloat(text, 64)
		return floatScalar(text, f), ""
	}
	return s, misfit(false, "!!float", text)
}

func misfit(fits bool, tag, text string) (problem string) {
	if fits {
		return ""
	}
	return "expected a scalar that can be read as " + tag + ", received " + strconv.Quote(shorten(text))
}

// shorten keeps errors readable.
func shorten(s string) string {
	if len(s) <= 40 {
		return s
	}
	return strings.ToValidUTF8(s[:40], "") + "…"
}

// resolvePlain reads a scalar that has neither quotes nor a tag, by YAML 1.1.
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

// resolveNumber reads decimal, 0x, 0o, 0b and 0-prefixed octal integers that fit 64
// bits, and decimal floats. Numbers beyond the range of float64 stay strings.
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

// integerLiteral keeps a decimal spelling, which matters for -0 only.
func integerLiteral(written, value string) string {
	if written == "-0" {
		return written
	}
	return value
}

// floatScalar keeps the spelling of a number as far as JSON allows it: it does not
// allow a plus sign, leading zeros, or a point without digits on both sides.
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

// value makes a document of a scalar that JSON can express.
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

// asName turns a scalar into a field name as sigs.k8s.io/yaml does; floats lose
// precision on the way. There is no name for null, nor for integers beyond int64.
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

// isTimestamp tells whether a text may have the tag !!timestamp.
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

// bareTags finds the nodes whose tag is a lone "!". It makes a scalar a string,
// but the library's nodes do not tell. Places in strings and comments are found as
// well; no node starts there, so that they do no harm.
func bareTags(text []byte) map[place]bool {
	if bytes.IndexByte(text, '!') < 0 {
		return nil
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // takes no column
	found := map[place]bool{}
	at := place{1, 1}
	node := at // where a node starts whose tag is still to come
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
			at = place{at.line + 1, 0}
		}
		at.column++
	}
	return found
}

// All of the breaks end lines in YAML 1.1.
const (
	yamlBreaks = "\n\r\u0085\u2028\u2029"
	yamlBlanks = " \t" + yamlBreaks
)
