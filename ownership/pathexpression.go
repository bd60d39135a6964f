package ownership

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// The syntax of written paths:
//
//	path  = [ "." ] step { step }             the first dot may be left out
//	step  = "." name                          a field
//	      | "[" quoted "]"                    a field whose name has dots, or the item of a set
//	      | "[" key "=" value { "," … } "]"   an item of a list, by some of its keys
//	      | "[" "=" value "]"                 the item of a set
//	      | "[" number "]"                    an item by its place, counted from 0
//	name  = characters up to the next . or [, of which any may have a backslash before it; or quoted
//	value = quoted, or characters up to the next , or ]
//
// Quotes are single or double. A value without quotes that could be a number or a boolean is whichever the
// object has.

// PathExpression is a path as users write it, such as spec.containers[name=app].image. The object decides which field
// it selects; see [PathExpression.Resolve].
type PathExpression struct {
	text  string
	steps []step
}

// step is one step of a written path.
type step struct {
	kind stepKind
	// name is the field's, or the text in the brackets.
	name string
	// keys are the keys of an item; the item of a set has one without a name.
	keys  []keyExpression
	index int
	// end is where the step ends in the text.
	end int
}

type stepKind uint8

const (
	nameStep   stepKind = iota // .name
	quotedStep                 // ["name"]
	keysStep                   // [key=value]
	valueStep                  // [=value]
	indexStep                  // [0]
)

// keyExpression is a key with its value as it was written.
type keyExpression struct {
	name, text string
	quoted     bool
}

// values returns what a written value may mean, the likeliest first.
func (k keyExpression) values() []document.Value {
	text := document.NewString(k.text)
	if !k.quoted {
		if v, err := document.ParseJSON(k.text); err == nil && v.IsScalar() {
			return []document.Value{v, text}
		}
	}
	return []document.Value{text}
}

// PathError is a problem with a path expression.
type PathError struct {
	// Path is the expression.
	Path string
	// At is the byte offset of the problem.
	At int
	// Problem has the expected and the received text, and what to do.
	Problem string
}

func (e *PathError) Error() string {
	if e.At <= 0 || e.At >= len(e.Path) {
		return fmt.Sprintf("path %s: %s", e.Path, e.Problem)
	}
	return fmt.Sprintf("path %s: after %s: %s", e.Path, e.Path[:e.At], e.Problem)
}

// ParsePath parses a path expression such as spec.containers[name=app].image or metadata.labels["example.com/team"],
// or the notation of [fieldset.Path]. Errors are of type [*PathError].
func ParsePath(text string) (PathExpression, error) {
	r := pathParser{text: text}
	p := PathExpression{text: text}
	for r.pos < len(text) {
		s, problem := r.step()
		if problem != "" {
			return PathExpression{}, &PathError{Path: text, At: r.pos, Problem: problem}
		}
		s.end = r.pos
		p.steps = append(p.steps, s)
	}
	if len(p.steps) == 0 {
		return PathExpression{}, &PathError{Path: strconv.Quote(text), Problem: "expected the path of a field, such as spec.replicas, received none"}
	}
	return p, nil
}

// String returns the expression as it was written.
func (p PathExpression) String() string { return p.text }

// pathParser reads a path step by step. On a problem pos is where it is.
type pathParser struct {
	text string
	pos  int
}

func (r *pathParser) rest() string { return r.text[r.pos:] }

// describeNext shows what comes next.
func (r *pathParser) describeNext() string {
	if r.pos == len(r.text) {
		return "the end"
	}
	return strconv.Quote(r.rest())
}

// consume goes past a text if it is next.
func (r *pathParser) consume(text string) bool {
	if strings.HasPrefix(r.rest(), text) {
		r.pos += len(text)
		return true
	}
	return false
}

func (r *pathParser) step() (s step, problem string) {
	switch {
	case r.consume("["):
		return r.brackets()
	case r.consume(".") || r.pos == 0:
		s.name, _, problem = r.word(".[", "the name of a field")
		return s, problem
	}
	return s, fmt.Sprintf("expected . or [, received %s", r.describeNext())
}

func (r *pathParser) brackets() (s step, problem string) {
	if r.consume("=") {
		s.kind = valueStep
		s.keys = []keyExpression{{}}
		s.keys[0].text, s.keys[0].quoted, problem = r.word("]", "the value of an item")
		return s, r.close(problem)
	}
	word, quoted, problem := r.word("=]", `an item, such as [name=app], [=value] or [0], or a name in quotes, such as ["a.b/c"]`)
	if problem != "" {
		return s, problem
	}
	if strings.HasPrefix(r.rest(), "=") {
		return r.keys(word)
	}
	if s.name = word; quoted {
		s.kind = quotedStep
		return s, r.close("")
	}
	index, err := strconv.Atoi(word)
	if err != nil || index < 0 {
		r.pos -= len(word)
		return s, fmt.Sprintf(`expected an item, such as [name=%[1]s] or [0], or a name in quotes, ["%[1]s"]; received [%[1]s]`, word)
	}
	s.kind, s.index = indexStep, index
	return s, r.close("")
}

// keys reads the keys of an item; the name of the first has been read.
func (r *pathParser) keys(name string) (s step, problem string) {
	s.kind = keysStep
	for {
		key := keyExpression{name: name}
		if !r.consume("=") {
			return s, fmt.Sprintf("expected = and the value of the key %s, received %s", name, r.describeNext())
		}
		if key.text, key.quoted, problem = r.word(",]", "the value of the key "+name); problem != "" {
			return s, problem
		}
		s.keys = append(s.keys, key)
		if !r.consume(",") {
			return s, r.close("")
		}
		if name, _, problem = r.word("=]", "the name of a key"); problem != "" {
			return s, problem
		}
	}
}

// close reads the bracket at the end, unless there has been a problem already.
func (r *pathParser) close(problem string) string {
	if problem == "" && !r.consume("]") {
		return fmt.Sprintf("expected ], received %s", r.describeNext())
	}
	return problem
}

// word reads what is in quotes, or up to any of the given characters.
func (r *pathParser) word(ends, what string) (word string, quoted bool, problem string) {
	if rest := r.rest(); rest != "" && (rest[0] == '"' || rest[0] == '\'') {
		word, problem = r.quoted(rest[0])
		return word, true, problem
	}
	var b strings.Builder
	for r.pos < len(r.text) && strings.IndexByte(ends, r.text[r.pos]) < 0 {
		if r.text[r.pos] == '\\' && r.pos+1 < len(r.text) {
			r.pos++
		}
		b.WriteByte(r.text[r.pos])
		r.pos++
	}
	if b.Len() == 0 {
		return "", false, fmt.Sprintf("expected %s, received %s", what, r.describeNext())
	}
	return b.String(), false, ""
}

// quoted reads what is in quotes. In double ones there are the escapes that Go has, as fieldset.Path shows
// them.
func (r *pathParser) quoted(quote byte) (word, problem string) {
	if quote == '"' {
		prefix, err := strconv.QuotedPrefix(r.rest())
		if err != nil {
			return "", fmt.Sprintf("expected a name or value in quotes, received %s without a closing quote", r.rest())
		}
		r.pos += len(prefix)
		word, _ = strconv.Unquote(prefix) // a prefix in quotes can be read
		return word, ""
	}
	end := strings.IndexByte(r.rest()[1:], quote)
	if end < 0 {
		return "", fmt.Sprintf("expected a name or value in quotes, received %s without a closing quote", r.rest())
	}
	word = r.rest()[1 : end+1]
	r.pos += end + 2
	return word, ""
}
