package ownership

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// The syntax of path expressions:
//
//	path  = [ "." ] step { step }             the first dot is optional
//	step  = "." name                          a field
//	      | "[" quoted "]"                    a field whose name may contain dots, or an item of a list of type set
//	      | "[" key "=" value { "," … } "]"   an item of a list of type map, by some of its keys
//	      | "[" "=" value "]"                 an item of a list of type set
//	      | "[" number "]"                    an item by its index
//	name  = characters up to the next . or [, each optionally escaped by a backslash; or quoted
//	value = quoted, or characters up to the next , or ]
//
// Quotes are single or double. A value without quotes that is a valid number or boolean matches both that number or boolean
// and the string with the same text.

// PathExpression is a parsed path in the notation of the command line, such as spec.containers[name=app].image. The field
// that it selects depends on the object; see [PathExpression.Resolve].
type PathExpression struct {
	text  string
	steps []step
}

// step is one step of a path expression.
type step struct {
	kind stepKind
	// name is the field name of a nameStep, and the unquoted text in the brackets of a quotedStep.
	name string
	// keys are the keys of a keysStep. A valueStep has one key, without a name.
	keys []keyExpression
	// index is the index of an indexStep.
	index int
	// end is the byte offset in the path expression at which the step ends.
	end int
}

// stepKind is the syntactic form of a step.
type stepKind uint8

const (
	nameStep   stepKind = iota // a field: .name
	quotedStep                 // a quoted field name or set item: ["name"]
	keysStep                   // a list item by keys: [key=value]
	valueStep                  // a set item by value: [=value]
	indexStep                  // a list item by index: [0]
)

// keyExpression is a key of a list item, with the text of its value and whether that text was quoted.
type keyExpression struct {
	name, text string
	quoted     bool
}

// values returns the values that the text may denote: a number, boolean or null, if the text is one and not quoted, and the
// string.
func (k keyExpression) values() []document.Value {
	text := document.NewString(k.text)
	if !k.quoted {
		if v, err := document.ParseJSON(k.text); err == nil && v.IsScalar() {
			return []document.Value{v, text}
		}
	}
	return []document.Value{text}
}

// PathError reports that a path expression is invalid, or cannot be resolved in an object.
type PathError struct {
	// Path is the text of the expression.
	Path string
	// At is the byte offset of the error in the expression.
	At int
	// Problem describes the expected text, the received text, and the remedy.
	Problem string
}

func (e *PathError) Error() string {
	if e.At <= 0 || e.At >= len(e.Path) {
		return fmt.Sprintf("path %s: %s", e.Path, e.Problem)
	}
	return fmt.Sprintf("path %s: after %s: %s", e.Path, e.Path[:e.At], e.Problem)
}

// ParsePath parses a path expression such as spec.containers[name=app].image or metadata.labels["example.com/team"];
// the notation of [fieldset.Path] is also valid. Errors are of type [*PathError].
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

// String returns the text of the expression.
func (p PathExpression) String() string { return p.text }

// pathParser parses a path expression step by step. After an error, pos is the byte offset of the error.
type pathParser struct {
	text string
	pos  int
}

// rest returns the text that is not parsed yet.
func (p *pathParser) rest() string { return p.text[p.pos:] }

// describeNext describes the text at the current position, for errors.
func (p *pathParser) describeNext() string {
	if p.pos == len(p.text) {
		return "the end"
	}
	return strconv.Quote(p.rest())
}

// consume reports whether the given text is at the current position, and if so, advances past that text.
func (p *pathParser) consume(text string) bool {
	if strings.HasPrefix(p.rest(), text) {
		p.pos += len(text)
		return true
	}
	return false
}

// step parses one step. Like the other methods that parse, it returns the description of a syntax error as problem, which is
// empty on success.
func (p *pathParser) step() (s step, problem string) {
	switch {
	case p.consume("["):
		return p.brackets()
	case p.consume(".") || p.pos == 0:
		s.name, _, problem = p.word(".[", "the name of a field")
		return s, problem
	}
	return s, fmt.Sprintf("expected . or [, received %s", p.describeNext())
}

// brackets parses the part of a step after its opening bracket.
func (p *pathParser) brackets() (s step, problem string) {
	if p.consume("=") {
		s.kind = valueStep
		s.keys = []keyExpression{{}}
		s.keys[0].text, s.keys[0].quoted, problem = p.word("]", "the value of an item")
		return s, p.close(problem)
	}
	word, quoted, problem := p.word("=]", `an item, such as [name=app], [=value] or [0], or a name in quotes, such as ["a.b/c"]`)
	if problem != "" {
		return s, problem
	}
	if strings.HasPrefix(p.rest(), "=") {
		return p.keys(word)
	}
	if s.name = word; quoted {
		s.kind = quotedStep
		return s, p.close("")
	}
	index, err := strconv.Atoi(word)
	if err != nil || index < 0 {
		p.pos -= len(word)
		return s, fmt.Sprintf(`expected an item, such as [name=%[1]s] or [0], or a name in quotes, ["%[1]s"]; received [%[1]s]`, word)
	}
	s.kind, s.index = indexStep, index
	return s, p.close("")
}

// keys parses the keys of an item after the name of the first key.
func (p *pathParser) keys(name string) (s step, problem string) {
	s.kind = keysStep
	for {
		key := keyExpression{name: name}
		if !p.consume("=") {
			return s, fmt.Sprintf("expected = and the value of the key %s, received %s", name, p.describeNext())
		}
		if key.text, key.quoted, problem = p.word(",]", "the value of the key "+name); problem != "" {
			return s, problem
		}
		s.keys = append(s.keys, key)
		if !p.consume(",") {
			return s, p.close("")
		}
		if name, _, problem = p.word("=]", "the name of a key"); problem != "" {
			return s, problem
		}
	}
}

// close parses the closing bracket and returns the description of a syntax error, which is empty on success. If the argument
// problem, from parsing the text before the bracket, is not empty, close returns it without parsing.
func (p *pathParser) close(problem string) string {
	if problem == "" && !p.consume("]") {
		return fmt.Sprintf("expected ], received %s", p.describeNext())
	}
	return problem
}

// word parses a quoted text, or a non-empty text that ends before any of the characters in ends. what describes the expected
// text in problem.
func (p *pathParser) word(ends, what string) (word string, quoted bool, problem string) {
	if rest := p.rest(); rest != "" && (rest[0] == '"' || rest[0] == '\'') {
		word, problem = p.quoted(rest[0])
		return word, true, problem
	}
	var b strings.Builder
	for p.pos < len(p.text) && strings.IndexByte(ends, p.text[p.pos]) < 0 {
		if p.text[p.pos] == '\\' && p.pos+1 < len(p.text) {
			p.pos++
		}
		b.WriteByte(p.text[p.pos])
		p.pos++
	}
	if b.Len() == 0 {
		return "", false, fmt.Sprintf("expected %s, received %s", what, p.describeNext())
	}
	return b.String(), false, ""
}

// quoted parses a text in the given quotes. In double quotes, the escapes of Go are valid, as in [fieldset.Path.Quoted].
func (p *pathParser) quoted(quote byte) (word, problem string) {
	if quote == '"' {
		prefix, err := strconv.QuotedPrefix(p.rest())
		if err != nil {
			return "", fmt.Sprintf("expected a name or value in quotes, received %s without a closing quote", p.rest())
		}
		p.pos += len(prefix)
		word, _ = strconv.Unquote(prefix) // QuotedPrefix returns only valid literals
		return word, ""
	}
	end := strings.IndexByte(p.rest()[1:], quote)
	if end < 0 {
		return "", fmt.Sprintf("expected a name or value in quotes, received %s without a closing quote", p.rest())
	}
	word = p.rest()[1 : end+1]
	p.pos += end + 2
	return word, ""
}
