package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

var jsonEncoding = &encoding{mediaType: "application/json", strip: stripJSON, frames: jsonFrames}

var errJSON = errors.New("expected JSON, received what ends too early or lacks a name or a colon")

// stripJSON removes managedFields from JSON with any white space. Names are compared in their written form: no server
// escapes letters.
func stripJSON(answer []byte) ([]byte, error) {
	if !bytes.Contains(answer, []byte(inManaged)) {
		return answer, nil
	}
	s := jsonStripper{text: answer}
	return s.result(s.answer)
}

// jsonFrames reads events that follow one another.
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
	if !bytes.Contains(event, []byte(inManaged)) {
		return event, nil
	}
	s := jsonStripper{text: event}
	return s.result(func() { s.member(inObject, s.answer) })
}

// result returns what is left of the text when something has gone through it.
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

// jsonStripper goes through JSON from the first byte to the last, and leaves members out.
type jsonStripper struct {
	text []byte
	at   int
	out  []byte
	kept int // how far the text is in out, or left out
	err  bool
}

// answer goes through an object, a list of objects or a table.
func (s *jsonStripper) answer() {
	switch s.shape() {
	case isList:
		s.list()
	case isTable:
		s.member(inRows, func() { s.items(func() { s.member(inObject, s.object) }) })
	default:
		s.object()
	}
}

// shape looks ahead for what tells objects, lists and tables apart: names may come in any order.
func (s *jsonStripper) shape() shape {
	ahead := jsonStripper{text: s.text, at: s.at}
	var found signs
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
			ahead.at = len(ahead.text) // the rest says nothing more
		}
		return false
	})
	return found.shape()
}

// object goes through a value that may be an object of Kubernetes.
func (s *jsonStripper) object() { s.member(inMetadata, s.metadata) }

func (s *jsonStripper) metadata() {
	s.members(func(name string) bool {
		s.skip()
		return name == inManaged
	})
}

// list goes through a list, or an object that nobody has named.
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

// member goes through a map, of which only one member matters.
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

// members goes through the members of a map; of what is no map there are none. visit goes through a value, and says
// whether the member is left out.
func (s *jsonStripper) members(visit func(name string) bool) {
	if !s.begins('{') {
		s.skip()
		return
	}
	s.at++
	last := -1 // the end of the member before that stays
	for !s.ends('}') {
		start := s.at
		name := s.name()
		switch drop := visit(name); {
		case !drop:
			last = s.at
		case last >= 0:
			s.leaveOut(last, s.at) // with the comma before it
		default:
			if s.space(); s.at < len(s.text) && s.text[s.at] == ',' {
				s.at++ // with the comma after it
				s.space()
			}
			s.leaveOut(start, s.at)
		}
	}
}

// leaveOut leaves out a part of the text. What stays is moved to its beginning: it never gets longer, so that what was
// not read yet is never written over.
func (s *jsonStripper) leaveOut(start, end int) {
	if s.out == nil {
		s.out = s.text[:0]
	}
	s.out = append(s.out, s.text[s.kept:max(s.kept, start)]...)
	s.kept = end
}

// name reads the name of a member, and the colon.
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

// begins reports whether the next value begins with a bracket.
func (s *jsonStripper) begins(bracket byte) bool {
	s.space()
	return s.at < len(s.text) && s.text[s.at] == bracket
}

// ends goes past a comma, or past the end of a list or a map.
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

// skip goes past a value. That there is none is an error: who goes on would never come to the end.
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
				return // it is the end of what the value is in
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

// skipString goes to the closing quote of a string.
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
