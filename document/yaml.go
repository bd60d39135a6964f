package document

import (
	"bytes"
	"fmt"
	"io"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// The YAML parser works in three steps:
//
//	syntax     the YAML library parses the text to a tree of nodes with lines and
//	           columns; yamlerror.go locates syntax errors
//	scalars    yamlscalar.go determines the type of a scalar by the rules of YAML 1.1
//	           as kubectl does, ignoring the type that the library has determined
//	document   yamltree.go builds the document, resolves aliases and merge keys, and
//	           rejects nodes that JSON can't express
//
// The library limits its recursion to 10,000 levels of flow and of block containers, so hostile nesting can't exhaust
// the stack.

// ParseYAML parses one YAML document with the default limits, as kubectl does. A document that starts with { is parsed
// as JSON if it is JSON. An empty document is null.
func ParseYAML(text []byte) (Value, error) { return ParseYAMLLimited(text, Limits{}) }

// ParseYAMLLimited parses one YAML document with the given limits. The size limit includes the expansion of aliases and
// merge keys.
func ParseYAMLLimited(text []byte, limits Limits) (Value, error) {
	limits = limits.withDefaults()
	if err := limits.checkSize(len(text)); err != nil {
		return Value{}, err
	}
	if !startsLikeJSON(text) {
		v, err := readYAML(text, limits)
		if err == nil {
			return v, nil
		}
		// JSON with an escape that YAML 1.1 lacks fails above, so the text is parsed as JSON.
		if v, err := ParseJSONLimited(text, limits); err == nil {
			return v, nil
		}
		return Value{}, err
	}
	v, jsonErr := ParseJSONLimited(text, limits)
	if jsonErr == nil {
		return v, nil
	}
	v, yamlErr := readYAML(text, limits)
	if yamlErr == nil {
		return v, nil
	}
	return Value{}, furthestError(jsonErr.(*SyntaxError), yamlErr)
}

// startsLikeJSON reports whether the first character of a text is {, in which case kubectl first tries to parse the
// text as JSON.
func startsLikeJSON(text []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("{"))
}

// furthestError returns the error with the later position in the text, because the parser that reported it understood
// more of the text.
func furthestError(a, b *SyntaxError) *SyntaxError {
	if b.Line > a.Line || b.Line == a.Line && b.Column > a.Column {
		return b
	}
	return a
}

// readYAML parses a YAML text that must contain at most one document. The result is null if the text contains none.
func readYAML(text []byte, limits Limits) (Value, *SyntaxError) {
	if err := checkUTF8(text); err != nil {
		return Value{}, err
	}
	root, second, err := yamlNodes(bytes.NewReader(text))
	if err != nil {
		return Value{}, locateError(text, err)
	}
	if second != nil && !isEmptyYAML(second) {
		return Value{}, &SyntaxError{Line: second.Line, Column: second.Column,
			Problem: "expected one document, received a second one"}
	}
	if root == nil {
		return NewNull(), nil
	}
	t := &yamlTree{
		limits:      limits,
		anchored:    map[*yaml.Node]*anchor{},
		budget:      limits.aliasBudget(len(text)),
		nonSpecific: nonSpecificTags(text),
	}
	n, failure := t.node(root, 0)
	if failure != nil {
		return Value{}, failure
	}
	return n.value, nil
}

// yamlNodes parses the first two documents of a text with the YAML library; first or second is nil if the text does not
// contain that document.
func yamlNodes(text io.Reader) (first, second *yaml.Node, err error) {
	defer func() {
		// The YAML library panics for some invalid texts.
		if r := recover(); r != nil {
			err = fmt.Errorf("yaml: the text can't be parsed: %v", r)
		}
	}()
	decoder := yaml.NewDecoder(text)
	if first, err = nextYAMLNode(decoder); first == nil {
		return nil, nil, err
	}
	second, err = nextYAMLNode(decoder)
	return first, second, err
}

// nextYAMLNode returns the root node of the next document, nil at the end of the text.
func nextYAMLNode(decoder *yaml.Decoder) (*yaml.Node, error) {
	var document yaml.Node
	switch err := decoder.Decode(&document); {
	case err == io.EOF:
		return nil, nil
	case err != nil:
		return nil, err
	}
	return document.Content[0], nil
}

// isEmptyYAML reports whether a document consists of an empty scalar, as after a final "---".
func isEmptyYAML(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Value == "" && n.Style == 0 && n.Anchor == ""
}

func checkUTF8(text []byte) *SyntaxError {
	if utf8.Valid(text) {
		return nil
	}
	bad := 0
	for {
		r, size := utf8.DecodeRune(text[bad:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		bad += size
	}
	at := position(string(text), bad)
	return &SyntaxError{Line: at.line, Column: at.column, Path: yamlPath(text, at),
		Problem: fmt.Sprintf("expected UTF-8, received the byte 0x%02x", text[bad])}
}

// aliasBudget returns the maximum number of bytes that aliases and merge keys may add to a document of size bytes.
func (l Limits) aliasBudget(size int) int {
	if l.MaxBytes >= 0 {
		return l.MaxBytes
	}
	return max(DefaultMaxBytes, 10*size)
}
