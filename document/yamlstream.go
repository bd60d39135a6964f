package document

import (
	"bytes"
	"iter"
	"strings"
)

// ParseYAMLStream parses a stream as kubectl does: YAML documents separated by lines of ---, or concatenated JSON
// objects. Empty and null documents are skipped. The limits apply to each document; line numbers in errors count from
// the start of the stream. The first error ends the stream.
func ParseYAMLStream(text []byte, limits Limits) iter.Seq2[Value, error] {
	limits = limits.withDefaults()
	return func(yield func(Value, error) bool) {
		rest, line, done := readJSONStream(text, limits, yield)
		if !done {
			readYAMLStream(rest, line, limits, yield)
		}
	}
}

// readJSONStream parses the consecutive JSON objects at the start of a text. It returns the rest of the text and the
// line on which the rest starts. done is true if an error was reported or the caller stopped the iteration. If the text
// after at most one object is not JSON, it is left to the YAML parser; after two objects it is a syntax error.
func readJSONStream(text []byte, limits Limits, yield func(Value, error) bool) (rest []byte, line int, done bool) {
	line = 1
	for count := 0; startsLikeJSON(text); count++ {
		v, size, err := firstJSON(text, limits)
		if err != nil && count < 2 {
			return text, line, false
		}
		if err != nil {
			err.addLines(line - 1)
			yield(Value{}, err)
			return nil, 0, true
		}
		if !yield(v, nil) {
			return nil, 0, true
		}
		line += bytes.Count(text[:size], []byte("\n"))
		text = text[size:]
		// The white space after the object, up to the end of its line, is removed because YAML does not allow it at the
		// start of a document.
		if blank := len(text) - len(bytes.TrimLeft(text, " \t\r")); blank < len(text) && text[blank] == '\n' {
			text = text[blank+1:]
			line++
		}
	}
	return text, line, false
}

// firstJSON parses the JSON object at the start of a text and returns its size in bytes.
func firstJSON(text []byte, limits Limits) (v Value, size int, failure *SyntaxError) {
	text = text[:jsonSize(text)]
	if err := limits.checkSize(len(text)); err != nil {
		return Value{}, 0, err.(*SyntaxError)
	}
	p := newParser(string(text), limits)
	defer p.release()
	return p.parseFirst(nil)
}

// jsonSize returns the size in bytes of the JSON object at the start of text, which it finds by matching braces. If the
// object is not closed, it returns the size of text.
func jsonSize(text []byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i + 1
			}
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		}
	}
	return len(text)
}

// readYAMLStream parses the YAML documents of a text that starts on the given line of the stream.
func readYAMLStream(text []byte, line int, limits Limits, yield func(Value, error) bool) {
	for len(text) > 0 {
		chunk, after, err := cutYAML(text)
		var v Value
		if err == nil {
			var problem error
			if v, problem = ParseYAMLLimited(chunk, limits); problem != nil {
				err = problem.(*SyntaxError)
			}
		}
		if err != nil {
			err.addLines(line - 1)
			yield(Value{}, err)
			return
		}
		if !v.IsNull() && !yield(v, nil) {
			return
		}
		line += bytes.Count(text[:len(text)-len(after)], []byte("\n"))
		text = after
	}
}

// cutYAML returns the first document of a text and the text after the separator line (---) that ends the document. A
// separator line before the document belongs to the document.
func cutYAML(text []byte) (chunk, after []byte, failure *SyntaxError) {
	size, line := 0, 0
	for content := range bytes.Lines(text) {
		line++
		if note, found := bytes.CutPrefix(content, []byte("---")); found {
			if note := strings.TrimSpace(string(note)); note != "" && note[0] != '#' {
				return nil, nil, &SyntaxError{Line: line, Column: 4,
					Problem: "expected --- to stand alone on its line; start the document on the next one"}
			}
			if size > 0 {
				return text[:size], text[size+len(content):], nil
			}
		}
		size += len(content)
	}
	return text, nil, nil
}
