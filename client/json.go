package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

var jsonEncoding = &encoding{mediaType: "application/json", strip: stripJSON, frames: jsonFrames}

var errJSON = errors.New("expected JSON, received truncated text or a member without a name or a colon")

// stripJSON removes managedFields from JSON with any white space. Names are compared in their encoded form, because no
// server escapes letters.
func stripJSON(body []byte) ([]byte, error) {
	if !bytes.Contains(body, []byte(inManagedFields)) {
		return body, nil
	}
	s := jsonStripper{text: body}
	return s.result(s.response)
}

// jsonFrames reads concatenated JSON events.
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

// stripJSONEvent removes managedFields from a watch event.
func stripJSONEvent(event []byte) ([]byte, error) {
	if !bytes.Contains(event, []byte(inManagedFields)) {
		return event, nil
	}
	s := jsonStripper{text: event}
	return s.result(func() { s.member(inObject, s.response) })
}

// result calls visit and returns the text without the removed members.
func (s *jsonStripper) result(visit func()) ([]byte, error) {
	visit()
	switch {
	case s.err:
		return nil, errJSON
	case s.out == nil:
		return s.text, nil
	}
	return append(s.out, s.text[s.kept:]...), nil
}

// jsonStripper scans JSON once from start to end, and removes members.
type jsonStripper struct {
	text []byte
	at   int
	out  []byte
	kept int // the offset up to which the text has been copied to out or removed
	err  bool
}

// response scans an object, a list of objects or a table.
func (s *jsonStripper) response() {
	switch s.shape() {
	case isList:
		s.list()
	case isTable:
		s.member(inRows, func() { s.items(func() { s.member(inObject, s.object) }) })
	default:
		s.object()
	}
}

// shape determines, by looking ahead, whether the value is an object, a list or a table: names may be in any order.
func (s *jsonStripper) shape() shape {
	ahead := jsonStripper{text: s.text, at: s.at}
	var found shapeTraits
	ahead.members(func(name string) bool {
		start := ahead.at
		switch name {
		case inMetadata:
			ahead.members(func(name string) bool {
				found.hasName = found.hasName || name == inName || name == inUID
				ahead.skip()
				return false
			})
			found.hasMetadata = true
		case inKind, inAPIVersion:
			ahead.skip()
			found.note(name, strings.Trim(string(ahead.text[start:ahead.at]), " \t\r\n\""))
		default:
			ahead.skip()
		}
		if found.complete() {
			ahead.at = len(ahead.text) // the rest can't change the shape
		}
		return false
	})
	return found.shape()
}

// object scans a value that may be an API object.
func (s *jsonStripper) object() { s.member(inMetadata, s.metadata) }

func (s *jsonStripper) metadata() {
	s.members(func(name string) bool {
		s.skip()
		return name == inManagedFields
	})
}

// list scans a list, or an object without name and uid.
func (s *jsonStripper) list() {
	s.members(func(name string) bool {
		switch name {
		case inMetadata:
			s.metadata()
		case inItems:
			s.items(s.object)
		default:
			s.skip()
		}
		return false
	})
}

// member scans a map and calls visit for the value of one member.
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

// members scans the members of a map; other values are skipped. visit must scan the member's value and reports whether
// the member is removed.
func (s *jsonStripper) members(visit func(name string) bool) {
	if !s.begins('{') {
		s.skip()
		return
	}
	s.at++
	last := -1 // the end of the last member that is kept
	for !s.ends('}') {
		start := s.at
		name := s.name()
		switch drop := visit(name); {
		case !drop:
			last = s.at
		case last >= 0:
			s.remove(last, s.at) // with the comma before it
		default:
			if s.space(); s.at < len(s.text) && s.text[s.at] == ',' {
				s.at++ // with the comma after it
				s.space()
			}
			s.remove(start, s.at)
		}
	}
}

// remove removes a part of the text. The kept parts are moved to the start of the text: they never overwrite text that
// has not been read, because the result only gets shorter.
func (s *jsonStripper) remove(start, end int) {
	if s.out == nil {
		s.out = s.text[:0]
	}
	s.out = append(s.out, s.text[s.kept:max(s.kept, start)]...)
	s.kept = end
}

// name reads the name of a member and the colon.
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

// ends skips a comma and reports whether the list or map ends, in which case it skips the closing bracket.
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

func (s *jsonStripper) space() {
	for s.at < len(s.text) && (s.text[s.at] == ' ' || s.text[s.at] == '\n' || s.text[s.at] == '\t' || s.text[s.at] == '\r') {
		s.at++
	}
}

// skip skips a value. A missing value is an error, because otherwise the caller's loop would not terminate.
func (s *jsonStripper) skip() {
	s.space()
	start := s.at
	if s.scan(); s.at == start || s.at > len(s.text) {
		s.fail()
	}
}

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
				return // the end of the enclosing list or map
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

func (s *jsonStripper) fail() {
	s.err = true
	s.at = len(s.text)
}
