package encoding

import (
	"bytes"

	"github.com/cadastre/cadastre/document"
)

// member is a member of a JSON object, described by its offsets in the text:
//
//	{"kind":"Pod","metadata":{…}}
//	        start─┘          │  │
//	                   value─┘  └─end
//
//	start < value < end
type member struct {
	name              []byte // the name as in the text: escaped, without quotes
	start, value, end int
}

// nextMember returns the member that starts at offset, which must be the offset after the opening brace or after a comma. ok is
// false if the object ends at offset, or if text is not compact JSON.
func nextMember(text []byte, offset int) (m member, ok bool) {
	if offset >= len(text) || text[offset] != '"' {
		return m, false
	}
	m.start = offset
	end := skipString(text, offset)
	if end < 0 || end >= len(text) || text[end] != ':' {
		return m, false
	}
	m.name = text[offset+1 : end-1]
	m.value = end + 1
	m.end = skipValue(text, m.value)
	return m, m.end > m.value
}

// findMember returns the member of the object text with the given name, which must need no escaping in JSON. ok is false if
// there is none.
func findMember(text []byte, name string) (m member, ok bool) {
	for at := 1; ; at = m.end + 1 {
		m, ok = nextMember(text, at)
		if !ok || string(m.name) == name {
			return m, ok
		}
		if m.end >= len(text) || text[m.end] != ',' {
			return m, false
		}
	}
}

// skipValue returns the offset after the value that starts at offset; -1 if the value is malformed.
func skipValue(text []byte, offset int) int {
	if offset >= len(text) {
		return -1
	}
	switch text[offset] {
	case '"':
		return skipString(text, offset)
	case '{', '[':
		return skipContainer(text, offset)
	}
	end := bytes.IndexAny(text[offset:], ",]}")
	if end < 0 {
		return -1
	}
	return offset + end
}

// skipContainer returns the offset after the list or object that starts at offset; -1 if the list or object is not closed. It
// examines only brackets and strings.
func skipContainer(text []byte, offset int) int {
	for depth := 0; offset < len(text); {
		switch text[offset] {
		case '"':
			if offset = skipString(text, offset); offset < 0 {
				return -1
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return offset + 1
			}
		}
		offset++
	}
	return -1
}

// skipString returns the offset after the string that starts at offset; -1 if the string is not closed.
func skipString(text []byte, offset int) int {
	for offset++; ; offset++ {
		quote := bytes.IndexByte(text[offset:], '"')
		if quote < 0 {
			return -1
		}
		offset += quote
		escapes := 0
		for text[offset-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return offset + 1
		}
	}
}

// metadataOf returns the JSON of the metadata of text, the JSON of an object; {} if the object has no metadata.
func metadataOf(text []byte) []byte {
	if m, ok := findMember(text, "metadata"); ok {
		return text[m.value:m.end]
	}
	// The text is not compact, or there is no metadata.
	v, err := document.ParseJSONLimited(text, noLimit)
	if err != nil || v.Get("metadata").Kind() != document.Map {
		return []byte("{}")
	}
	return v.Get("metadata").AppendJSON(nil)
}

// withoutType removes apiVersion and kind from the JSON of an object, in place. These members are usually adjacent, so one move
// suffices.
func withoutType(text []byte) []byte {
	version, ok := findMember(text, "apiVersion")
	if !ok {
		return withoutMember(text, "kind")
	}
	if kind, ok := nextMember(text, version.end+1); ok && string(kind.name) == "kind" {
		return cutMembers(text, version.start, kind.end)
	}
	return withoutMember(cutMembers(text, version.start, version.end), "kind")
}

func withoutMember(text []byte, name string) []byte {
	m, ok := findMember(text, name)
	if !ok {
		return text
	}
	return cutMembers(text, m.start, m.end)
}

// cutMembers removes text[start:end], which must consist of whole members of an object, and one adjacent comma. It modifies
// text in place.
func cutMembers(text []byte, start, end int) []byte {
	switch {
	case end < len(text) && text[end] == ',':
		end++
	case text[start-1] == ',':
		start--
	}
	return append(text[:start], text[end:]...)
}
