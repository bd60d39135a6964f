package fieldset

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// The syntax of paths:
//
//	path    = { element }                       the first dot may be left out
//	element = "." name | "[" keys "]" | "[" "=" value "]" | "[" index "]"
//	keys    = [ name "=" value { "," name "=" value } ]
//	name    = a string in quotes, or characters up to the next . or [ (of a
//	          field), = or ] (of a key)
//	value   = a string in quotes, or JSON
//
// Strings are in quotes as in Go, which is how Kubernetes shows them.

// ParsePath reads the syntax that String and Quoted write. The leading dot may be
// left out. String does not quote names, so that only what Quoted writes is sure
// to be read back as the same path. Errors are of type [*SyntaxError].
func ParsePath(text string) (Path, error) {
	r := pathReader{text: text}
	var p Path
	for r.pos < len(text) {
		e, err := r.element()
		if err != nil {
			return nil, &SyntaxError{What: "path " + shorten(text), At: r.pos, Err: err}
		}
		p = append(p, e)
	}
	return p, nil
}

// pathReader reads a path element by element. On an error pos is where it is.
type pathReader struct {
	text string
	pos  int
}

func (r *pathReader) rest() string { return r.text[r.pos:] }

func (r *pathReader) element() (Element, error) {
	switch {
	case r.at("[="):
		v, err := r.value()
		if err != nil {
			return Element{}, err
		}
		return ValueElement(v), r.expect("]")
	case r.at("["):
		return r.keysOrIndex()
	case r.at(".") || r.pos == 0:
		name, err := r.name(".[", "a field name")
		return NameElement(name), err
	}
	return Element{}, r.expected(". or [")
}

func (r *pathReader) keysOrIndex() (Element, error) {
	if r.at("]") {
		return KeyElement(), nil
	}
	end := strings.IndexAny(r.rest(), `="]`)
	if end < 0 && r.rest() != "" {
		r.pos = len(r.text)
		return Element{}, r.expected("= and the key's value, or ]")
	}
	if end > 0 && r.rest()[end] == ']' {
		i, err := strconv.Atoi(r.rest()[:end])
		if err != nil {
			return Element{}, r.expected("an index, key=value or =value")
		}
		r.pos += end + 1
		return IndexElement(i), nil
	}
	var fields []KeyField
	for {
		name, err := r.name("=]", "a key's name")
		if err == nil && !r.at("=") {
			err = r.expected("= and the key's value")
		}
		if err != nil {
			return Element{}, err
		}
		v, err := r.value()
		if err != nil {
			return Element{}, err
		}
		fields = append(fields, KeyField{name, v})
		if !r.at(",") {
			return KeyElement(fields...), r.expect("]")
		}
	}
}

// name reads a name in quotes, or one that ends before any of the given characters.
func (r *pathReader) name(ends, what string) (string, error) {
	if strings.HasPrefix(r.rest(), `"`) {
		return r.quoted()
	}
	name := r.rest()
	if end := strings.IndexAny(name, ends); end >= 0 {
		name = name[:end]
	}
	if name == "" {
		return "", fmt.Errorf(`%w; an empty one is written ""`, r.expected(what))
	}
	r.pos += len(name)
	return name, nil
}

func (r *pathReader) value() (document.Value, error) {
	if strings.HasPrefix(r.rest(), `"`) {
		s, err := r.quoted()
		return document.NewString(s), err
	}
	text := r.rest()[:extent(r.rest())]
	v, err := document.ParseJSON([]byte(text))
	if err != nil {
		return v, r.expected("a string in quotes, or JSON such as 1, true or null")
	}
	r.pos += len(text)
	return v, nil
}

func (r *pathReader) quoted() (string, error) {
	prefix, err := strconv.QuotedPrefix(r.rest())
	if err != nil {
		return "", r.expected("a string in quotes")
	}
	s, err := strconv.Unquote(prefix)
	if err != nil {
		return "", r.expected("a string in quotes")
	}
	r.pos += len(prefix)
	return s, nil
}

// at steps over the token if it is next.
func (r *pathReader) at(token string) bool {
	if !strings.HasPrefix(r.rest(), token) {
		return false
	}
	r.pos += len(token)
	return true
}

func (r *pathReader) expect(token string) error {
	if r.at(token) {
		return nil
	}
	return r.expected(token)
}

func (r *pathReader) expected(what string) error {
	if r.pos == len(r.text) {
		return fmt.Errorf("expected %s, received the end", what)
	}
	return fmt.Errorf("expected %s, received %s", what, shorten(r.rest()))
}
