package fieldset

import (
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/scan"
)

// This file makes elements of the names in FieldsV1. An element's text is the
// spelling that Kubernetes writes; a name that is surely spelled so already is
// taken as it stands.

// dot stands for the name "." that makes the element above a member. Like what an
// unknown prefix stands for, it is of no kind.
var dot = Element{text: "."}

// element reads a name. An unknown prefix gives the zero Element.
func (r *reader) element() (Element, error) {
	s, pos := r.text, r.pos
	if len(s)-pos < len(`"f:"`) || s[pos] != '"' {
		return r.decodedElement()
	}
	kind, start, end := ElementKind(0), pos+len(`"f:`), 0
	switch s[pos+1 : start] {
	case "f:":
		kind, end = FieldName, scan.Ordinary(s, start)
	case "k:":
		kind, end = Key, skipUsualKey(s, start)
	case "v:":
		kind, end = SetValue, skipUsualString(s, start)
	case `."`:
		r.pos = start
		return dot, nil
	}
	if kind == 0 || end >= len(s) || s[end] != '"' {
		return r.decodedElement()
	}
	r.pos = end + 1
	return Element{kind, s[start:end]}, nil
}

// decodedElement reads a name whatever its spelling.
func (r *reader) decodedElement() (Element, error) {
	if err := r.expect('"'); err != nil {
		return Element{}, err
	}
	start, end := r.pos, r.pos
	for end < len(r.text) && r.text[end] != '"' {
		if r.text[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(r.text) {
		return Element{}, r.errorf("expected a closing quote, received the end")
	}
	name, err := document.ParseJSON([]byte(r.text[start-1 : end+1]))
	if err != nil {
		return Element{}, r.errorf("expected a path element: %w", err)
	}
	if name.Text() == dot.text {
		r.pos = end + 1
		return dot, nil
	}
	e, err := ParseElement(name.Text())
	if err != nil {
		return Element{}, r.errorf("%w", err)
	}
	r.pos = end + 1
	return e, nil
}

func skipDigits(s string, i int) int {
	for i < len(s) && '0' <= s[i] && s[i] <= '9' {
		i++
	}
	return i
}

// skipUsualString returns the end of the string that starts at i, without escapes
// but for its quotes: \"app\". If there is no such string it returns len(s).
func skipUsualString(s string, i int) int {
	if len(s)-i < len(`\"\"`) || s[i] != '\\' || s[i+1] != '"' {
		return len(s)
	}
	i = scan.Ordinary(s, i+2)
	if len(s)-i < 2 || s[i] != '\\' || s[i+1] != '"' {
		return len(s)
	}
	return i + 2
}

// skipUsualInteger does the same for an integer that is not negative, has no
// leading zero and is small enough that Kubernetes keeps its digits.
func skipUsualInteger(s string, i int) int {
	end := skipDigits(s, i)
	if size := end - i; size == 0 || size > 15 || size > 1 && s[i] == '0' {
		return len(s)
	}
	return end
}

// skipUsualKey does the same for an object whose names are in order, whose strings
// have no escapes, and whose other values are integers.
func skipUsualKey(s string, i int) int {
	if i >= len(s) || s[i] != '{' {
		return len(s)
	}
	last := ""
	for {
		start := i + 1 // behind the brace or the comma
		i = skipUsualString(s, start)
		if i >= len(s) || s[i] != ':' {
			return len(s)
		}
		name := s[start:i]
		if last != "" && compareUsualStrings(last, name) >= 0 {
			return len(s)
		}
		last = name
		if i++; i < len(s) && s[i] == '\\' {
			i = skipUsualString(s, i)
		} else {
			i = skipUsualInteger(s, i)
		}
		switch {
		case i >= len(s):
			return len(s)
		case s[i] == '}':
			return i + 1
		case s[i] != ',':
			return len(s)
		}
	}
}
