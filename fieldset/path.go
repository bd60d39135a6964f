package fieldset

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/lib/scan"
)

// Path is the path of a field or list item. The empty path is the path of the whole document.
type Path []Element

// Names returns the path that consists of the given field names, such as .spec.replicas for Names("spec", "replicas").
func Names(names ...string) Path {
	p := make(Path, len(names))
	for i, name := range names {
		p[i] = NameElement(name)
	}
	return p
}

// String returns the path in the notation of Kubernetes' error messages: .spec.containers[name="app"].image. Names with
// dots or brackets are not quoted; see Quoted.
func (p Path) String() string {
	var array [128]byte
	dst := array[:0]
	for _, e := range p {
		dst = e.appendString(dst)
	}
	return string(dst)
}

// Quoted returns the path in a notation that ParsePath parses to the same path, with quotes around names that need them
// and lists and maps as JSON: .metadata.labels."example.com/app".
func (p Path) Quoted() string {
	var array [128]byte
	dst := array[:0]
	for _, e := range p {
		dst = e.appendQuoted(dst)
	}
	return string(dst)
}

func (e Element) appendQuoted(dst []byte) []byte {
	switch e.kind {
	case FieldName:
		return appendQuotedName(append(dst, '.'), e.text)
	case Key:
		return append(e.appendQuotedKey(append(dst, '[')), ']')
	case SetValue:
		dst = append(dst, "[="...)
		dst = append(dst, quotedValue(e.Value())...)
		return append(dst, ']')
	}
	return e.appendString(dst)
}

// appendQuotedKey appends the keys of a Key element in the notation of Quoted. That notation equals the notation of
// String if no name needs quotes.
func (e Element) appendQuotedKey(dst []byte) []byte {
	if simple, ok := e.appendSimpleKey(dst, isPlainName); ok {
		return simple
	}
	for i, f := range e.KeyFields() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendQuotedName(dst, f.Name), '=')
		dst = append(dst, quotedValue(f.Value)...)
	}
	return dst
}

// isPlainName reports whether ParsePath parses the unquoted name to the same name.
func isPlainName(name string) bool {
	return name != "" && scan.IsPlain(name) && !strings.ContainsAny(name, ".[]=, \x7f")
}

func appendQuotedName(dst []byte, name string) []byte {
	if isPlainName(name) {
		return append(dst, name...)
	}
	return append(dst, quotedName(name)...)
}

// quotedName returns name in the notation of Quoted: in quotes if ParsePath would reject or misread the unquoted name.
func quotedName(name string) string {
	quoted := strconv.Quote(name)
	if name == "" || len(quoted) != len(name)+2 || strings.ContainsAny(name, ".[]=, ") {
		return quoted
	}
	return name
}

func quotedValue(v document.Value) string {
	if v.Kind() == document.String {
		return strconv.Quote(v.Text())
	}
	return v.JSON()
}

// Equal reports whether two paths are equal.
func (p Path) Equal(other Path) bool { return p.Compare(other) == 0 }

// Compare compares two paths element by element; a path is less than the paths below it.
func (p Path) Compare(other Path) int {
	if len(p) > 0 && len(other) > 0 && &p[0] == &other[0] {
		return len(p) - len(other) // both paths are slices of one array, so one is a prefix of the other
	}
	for i := range min(len(p), len(other)) {
		if c := p[i].Compare(other[i]); c != 0 {
			return c
		}
	}
	return len(p) - len(other)
}

// The syntax of paths:
//
//	path    = { element }                       the dot at the start of a path may be left out
//	element = "." name | "[" keys "]" | "[" "=" value "]" | "[" index "]"
//	keys    = [ name "=" value { "," name "=" value } ]
//	name    = a string in quotes, or characters up to the next . or [ (of a
//	          field), = or ] (of a key)
//	value   = a string in quotes, or JSON
//
// Quoted strings have the syntax of Go strings, as in Kubernetes' messages.

// ParsePath parses a path in the notation of String or Quoted. The leading dot is optional. String does not quote
// names, so only the result of Quoted is guaranteed to be parsed to the same path. Errors are of type [*SyntaxError].
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

// pathReader parses a path element by element. After an error pos is the offset of the error.
type pathReader struct {
	text string
	pos  int
}

func (r *pathReader) rest() string { return r.text[r.pos:] }

func (r *pathReader) element() (Element, error) {
	switch {
	case r.accept("[="):
		v, err := r.value()
		if err != nil {
			return Element{}, err
		}
		return ValueElement(v), r.expect("]")
	case r.accept("["):
		return r.keysOrIndex()
	case r.accept(".") || r.pos == 0:
		name, err := r.name(".[", "a field name")
		return NameElement(name), err
	}
	return Element{}, r.expected(". or [")
}

func (r *pathReader) keysOrIndex() (Element, error) {
	if r.accept("]") {
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
		if err == nil && !r.accept("=") {
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
		if !r.accept(",") {
			return KeyElement(fields...), r.expect("]")
		}
	}
}

// name parses a quoted name, or an unquoted name that ends before any of the characters in ends. what describes the
// name in the error.
func (r *pathReader) name(ends, what string) (string, error) {
	if strings.HasPrefix(r.rest(), `"`) {
		return r.quoted()
	}
	name := r.rest()
	if end := strings.IndexAny(name, ends); end >= 0 {
		name = name[:end]
	}
	if name == "" {
		return "", fmt.Errorf(`%w; an empty name is written ""`, r.expected(what))
	}
	r.pos += len(name)
	return name, nil
}

func (r *pathReader) value() (document.Value, error) {
	if strings.HasPrefix(r.rest(), `"`) {
		s, err := r.quoted()
		return document.NewString(s), err
	}
	text := r.rest()[:valueEnd(r.rest())]
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

// accept skips the token and returns true if the rest of the text starts with it.
func (r *pathReader) accept(token string) bool {
	if !strings.HasPrefix(r.rest(), token) {
		return false
	}
	r.pos += len(token)
	return true
}

func (r *pathReader) expect(token string) error {
	if r.accept(token) {
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
