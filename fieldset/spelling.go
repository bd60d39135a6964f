package fieldset

import (
	"cmp"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// This file compares elements by their spelling; in common cases the spelling is not decoded. A key or a value in
// FieldsV1 is JSON inside of a JSON string, so its quotes are escaped: {\"name\":\"app\"}. Package fieldsv1 writes that
// spelling. A simple string is a string whose spelling contains no escapes other than those of its two quotes; a simple
// integer is a non-negative integer.

// compareKeys compares the spellings of two keys field by field, first by name, then by value. If one key is a prefix
// of the other, the shorter key is less.
func compareKeys(a, b string) int {
	restA, restB := a, b
	for {
		fieldA, okA := cutKeyField(&restA)
		fieldB, okB := cutKeyField(&restB)
		if !okA || !okB {
			return compareKeysSlowly(a, b)
		}
		if fieldA == fieldB {
			if fieldA == (keyFieldText{}) {
				return 0
			}
			continue
		}
		switch {
		case fieldA == keyFieldText{}:
			return -1
		case fieldB == keyFieldText{}:
			return 1
		}
		if c := strings.Compare(fieldA.name, fieldB.name); c != 0 {
			return c
		}
		if c := compareValues(fieldA.value, fieldB.value); c != 0 {
			return c
		}
	}
}

// compareKeysSlowly compares two keys as compareKeys does, but decodes them.
func compareKeysSlowly(a, b string) int {
	fieldsA, fieldsB := Element{Key, a}.KeyFields(), Element{Key, b}.KeyFields()
	for i := range min(len(fieldsA), len(fieldsB)) {
		if c := strings.Compare(fieldsA[i].Name, fieldsB[i].Name); c != 0 {
			return c
		}
		if c := document.Compare(fieldsA[i].Value, fieldsB[i].Value); c != 0 {
			return c
		}
	}
	return len(fieldsA) - len(fieldsB)
}

// compareValues compares the values of two spellings, in the order of document.Compare.
func compareValues(a, b string) int {
	if isSimpleString(a) && isSimpleString(b) {
		return compareSimpleStrings(a, b)
	}
	if isSimpleInteger(a) && isSimpleInteger(b) {
		return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
	}
	return document.Compare(decodeValue(a), decodeValue(b))
}

// isSimpleString reports whether a spelling is a simple string.
func isSimpleString(text string) bool {
	return len(text) >= 4 && text[0] == '\\' && strings.IndexByte(text[2:], '\\') == len(text)-4
}

// compareSimpleStrings compares the contents of two simple strings.
func compareSimpleStrings(a, b string) int { return strings.Compare(a[2:len(a)-2], b[2:len(b)-2]) }

// isSimpleInteger reports whether a spelling is a simple integer.
func isSimpleInteger(text string) bool { return skipDigits(text, 0) == len(text) }

// keyFieldText is the spelling of one field of a key.
type keyFieldText struct{ name, value string }

// cutKeyField removes the first field from *rest, the spelling of the rest of a key, and returns that field as f. It
// supports simple strings as names, and simple strings and literals as values; ok is false for other fields. At the end
// of the key it returns the zero field and true.
func cutKeyField(rest *string) (f keyFieldText, ok bool) {
	s := *rest
	if s == "}" || s == "{}" {
		return f, true
	}
	if len(s) < 4 || s[1] != '\\' || s[2] != '"' {
		return f, false
	}
	end := strings.IndexByte(s[3:], '\\')
	if end < 0 || !strings.HasPrefix(s[3+end:], `\":`) {
		return f, false
	}
	f.name = s[3 : 3+end]
	s = s[3+end+3:]
	size := valueSize(s)
	if size <= 0 || size >= len(s) {
		return f, false
	}
	f.value = s[:size]
	*rest = s[size:]
	return f, true
}

// valueSize returns the length of the simple string or literal at the start of s, 0 for other values.
func valueSize(s string) int {
	if strings.HasPrefix(s, `\"`) {
		end := strings.IndexByte(s[2:], '\\')
		if end < 0 || !strings.HasPrefix(s[2+end:], `\"`) {
			return 0
		}
		return end + 4
	}
	if s == "" || s[0] == '{' || s[0] == '[' {
		return 0
	}
	return strings.IndexAny(s, ",}")
}
