package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// jsonEncoding removes managedFields from responses in JSON.
var jsonEncoding = &encoding{mediaType: "application/json", strip: stripJSON, frames: jsonFrames}

// errJSON is the error for a response that cannot be scanned as JSON. The scanner does not detect all invalid JSON.
var errJSON = errors.New("expected JSON, received truncated text or a member without a name or a colon")

// stripJSON removes managedFields from a response in JSON, in place. The response may contain white space. Field names are
// compared without decoding escapes, because no server escapes letters.
func stripJSON(body []byte) ([]byte, error) {
	if !bytes.Contains(body, []byte(managedFieldsField)) {
		return body, nil
	}
	s := jsonStripper{text: body}
	return s.strip(s.response)
}

// jsonFrames returns a function that reads the next watch event from concatenated JSON objects and removes managedFields.
func jsonFrames(body io.Reader) func() ([]byte, error) {
	decoder := json.NewDecoder(body)
	return func() ([]byte, error) {
		var frame json.RawMessage
		if err := decoder.Decode(&frame); err != nil {
			return nil, err
		}
		short, err := stripJSONEvent(frame)
		return append(short, '\n'), err
	}
}

// stripJSONEvent removes managedFields from a watch event in JSON, in place.
func stripJSONEvent(event []byte) ([]byte, error) {
	if !bytes.Contains(event, []byte(managedFieldsField)) {
		return event, nil
	}
	s := jsonStripper{text: event}
	return s.strip(func() { s.member(objectField, s.response) })
}

// strip calls visit, which scans the text and removes members, and returns the remaining text. It returns errJSON if the
// scan failed.
func (s *jsonStripper) strip(visit func()) ([]byte, error) {
	visit()
	switch {
	case s.err:
		return nil, errJSON
	case s.out == nil:
		return s.text, nil
	}
	return append(s.out, s.text[s.consumed:]...), nil
}

// jsonStripper scans JSON from start to end and removes members of maps. Its methods without a documented result scan one
// value and advance s.at past that value.
type jsonStripper struct {
	text     []byte
	at       int
	out      []byte
	consumed int // the offset up to which the text has been copied to out or removed
	err      bool
}

// response scans an object, a list of objects or a table.
func (s *jsonStripper) response() {
	switch s.shape() {
	case listShape:
		s.list()
	case tableShape:
		s.member(rowsField, func() { s.items(func() { s.member(objectField, s.object) }) })
	default:
		s.object()
	}
}

// shape returns the shape of the value at the current position. It scans with a copy of the stripper, so the position of s
// does not change. The fields that determine the shape may be in any order.
func (s *jsonStripper) shape() shape {
	ahead := jsonStripper{text: s.text, at: s.at}
	var found shapeTraits
	ahead.members(func(name string) bool {
		start := ahead.at
		switch name {
		case metadataField:
			ahead.members(func(name string) bool {
				found.hasName = found.hasName || name == nameField || name == uidField
				ahead.skip()
				return false
			})
			found.hasMetadata = true
		case kindField, apiVersionField:
			ahead.skip()
			found.set(name, strings.Trim(string(ahead.text[start:ahead.at]), " \t\r\n\""))
		default:
			ahead.skip()
		}
		if found.complete() {
			ahead.at = len(ahead.text) // end the scan, because the remaining fields cannot change the shape
		}
		return false
	})
	return found.shape()
}

// object scans an API object or any other value, and removes managedFields from its metadata.
func (s *jsonStripper) object() { s.member(metadataField, s.metadata) }

// metadata scans the metadata of an object and removes managedFields.
func (s *jsonStripper) metadata() {
	s.members(func(name string) bool {
		s.skip()
		return name == managedFieldsField
	})
}

// list scans a list of API objects, or an object without name and uid. It removes managedFields from the items, and
// from the metadata of the list itself.
func (s *jsonStripper) list() {
	s.members(func(name string) bool {
		switch name {
		case metadataField:
			s.metadata()
		case itemsField:
			s.items(s.object)
		default:
			s.skip()
		}
		return false
	})
}

// member scans a map and calls visit to scan the value of the member with the given name. It skips all other members.
func (s *jsonStripper) member(wanted string, visit func()) {
	s.members(func(name string) bool {
		if name == wanted {
			visit()
		} else {
			s.skip()
		}
		return false
	})
}

// items scans a list and calls visit to scan each item. It skips values of other kinds.
func (s *jsonStripper) items(visit func()) {
	if !s.begins('[') {
		s.skip()
		return
	}
	s.at++
	for !s.ends(']') {
		visit()
	}
}

// members scans a map and calls visit for each member. visit must scan the value of the member, and returns true to remove
// the member. members skips values of other kinds.
func (s *jsonStripper) members(visit func(name string) bool) {
	if !s.begins('{') {
		s.skip()
		return
	}
	s.at++
	last := -1 // offset of the end of the last member that was not removed
	for !s.ends('}') {
		start := s.at
		name := s.name()
		switch drop := visit(name); {
		case !drop:
			last = s.at
		case last >= 0:
			s.remove(last, s.at) // also removes the comma before the member
		default:
			if s.space(); s.at < len(s.text) && s.text[s.at] == ',' {
				s.at++ // also removes the comma after the member
				s.space()
			}
			s.remove(start, s.at)
		}
	}
}

// remove removes text[start:end]. It moves the remaining text toward the start of the buffer, which never overwrites text
// that has not been scanned, because the result is shorter than the scanned text.
func (s *jsonStripper) remove(start, end int) {
	if s.out == nil {
		s.out = s.text[:0]
	}
	s.out = append(s.out, s.text[s.consumed:max(s.consumed, start)]...)
	s.consumed = end
}

// name scans the name of a member and the colon, and returns the name without quotes.
func (s *jsonStripper) name() string {
	start := s.at
	s.skip()
	name := s.text[start:s.at]
	if s.space(); s.at >= len(s.text) || s.text[s.at] != ':' || len(name) < 2 {
		s.fail()
		return ""
	}
	s.at++
	return string(name[1 : len(name)-1])
}

// begins reports whether the next value starts with the given bracket.
func (s *jsonStripper) begins(bracket byte) bool {
	s.space()
	return s.at < len(s.text) && s.text[s.at] == bracket
}

// ends skips a comma, if there is one. It then reports whether the next character is the given closing bracket, and skips
// that bracket. After an error it returns true, so that the callers' loops terminate.
func (s *jsonStripper) ends(bracket byte) bool {
	s.space()
	if s.at < len(s.text) && s.text[s.at] == ',' {
		s.at++
		s.space()
	}
	switch {
	case s.err:
		return true
	case s.at >= len(s.text):
		s.fail()
		return true
	case s.text[s.at] == bracket:
		s.at++
		return true
	}
	return false
}

// space skips white space.
func (s *jsonStripper) space() {
	for s.at < len(s.text) && (s.text[s.at] == ' ' || s.text[s.at] == '\n' || s.text[s.at] == '\t' || s.text[s.at] == '\r') {
		s.at++
	}
}

// skip skips white space and a value. A missing value is an error: if skip did not advance, the loops in members and items
// would not terminate.
func (s *jsonStripper) skip() {
	s.space()
	start := s.at
	if s.scan(); s.at == start || s.at > len(s.text) {
		s.fail()
	}
}

// scan advances past the value at the current position. It does not advance if there is no value.
func (s *jsonStripper) scan() {
	depth := 0
	for ; s.at < len(s.text); s.at++ {
		switch s.text[s.at] {
		case '"':
			s.skipString()
		case '{', '[':
			depth++
			continue
		case '}', ']':
			if depth--; depth < 0 {
				return // the bracket closes the enclosing list or map
			}
		case ',', ':', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return
			}
			continue
		default:
			continue
		}
		if depth == 0 {
			s.at++
			return
		}
	}
	if depth > 0 {
		s.fail()
	}
}

// skipString advances to the closing quote of a string.
func (s *jsonStripper) skipString() {
	for s.at++; s.at < len(s.text) && s.text[s.at] != '"'; s.at++ {
		if s.text[s.at] == '\\' {
			s.at++
		}
	}
}

// fail records an error and ends the scan.
func (s *jsonStripper) fail() {
	s.err = true
	s.at = len(s.text)
}
