package document

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// yamlTree builds a document from the YAML library's nodes. An alias shares the value of its anchor and costs no memory
// here, but encoding or walking the document expands it; budget limits that expansion.
type yamlTree struct {
	limits      Limits
	anchored    map[*yaml.Node]*anchor // the nodes with an anchor, to which aliases may refer
	budget      int                    // the number of bytes that aliases and merge keys may still add
	nonSpecific map[lineColumn]bool    // the positions of nodes with the tag "!"
}

// yamlPart is a value that was built from a YAML node.
type yamlPart struct {
	value  Value
	size   int // the estimated size as JSON, in bytes
	height int // the nesting depth of lists and maps, including the value itself; 0 for scalars
}

// anchor is the value of a node with an anchor; value is nil while the node is being built, which makes an alias to an
// enclosing node detectable.
type anchor struct{ value *yamlPart }

// node returns the value of n, which is at the given nesting depth. If n is an alias, it returns the value of the node
// that n refers to.
func (t *yamlTree) node(n *yaml.Node, depth int) (*yamlPart, *SyntaxError) {
	if n.Kind == yaml.AliasNode {
		return t.alias(n, depth)
	}
	if n.Anchor == "" {
		return t.build(n, depth)
	}
	a := &anchor{}
	t.anchored[n] = a
	b, err := t.build(n, depth)
	a.value = b
	return b, err
}

func (t *yamlTree) build(n *yaml.Node, depth int) (*yamlPart, *SyntaxError) {
	if n.Kind == yaml.ScalarNode {
		return t.scalar(n)
	}
	if depth++; depth > t.limits.MaxDepth {
		return nil, t.tooDeep(n)
	}
	if n.Kind == yaml.SequenceNode {
		return t.list(n, depth)
	}
	return t.mapping(n, depth)
}

func (t *yamlTree) alias(n *yaml.Node, depth int) (*yamlPart, *SyntaxError) {
	a := t.anchored[n.Alias]
	if a == nil {
		// The anchor is on a mapping key; keys are not built as values.
		return t.node(n.Alias, depth)
	}
	if a.value == nil {
		return nil, yamlErrorf(n, "the alias *%s refers to a node that contains it; remove the alias", shorten(n.Value))
	}
	if depth+a.value.height > t.limits.MaxDepth {
		return nil, t.tooDeep(n)
	}
	return a.value, t.charge(n, a.value.size)
}

// charge reduces the budget by the size in bytes that an alias or a merge key adds to the document, and returns an
// error if the budget is exceeded.
func (t *yamlTree) charge(n *yaml.Node, size int) *SyntaxError {
	if t.budget -= size; t.budget < 0 {
		return yamlErrorf(n, "aliases and merge keys expand the document beyond the limit; write it out or raise the limit")
	}
	return nil
}

func (t *yamlTree) tooDeep(n *yaml.Node) *SyntaxError {
	return yamlErrorf(n, "lists and maps are nested more than %d deep", t.limits.MaxDepth)
}

func (t *yamlTree) scalar(n *yaml.Node) (*yamlPart, *SyntaxError) {
	s, problem := t.resolve(n)
	if problem != "" {
		return nil, yamlErrorf(n, "%s", problem)
	}
	switch {
	case s.nonFinite:
		return nil, yamlErrorf(n, "expected a number that JSON can express, received %s", n.Value)
	case s.kind == Number && t.limits.FiniteNumbers && !isFinite(s.text): // possible only with the tag !!float
		err := yamlErrorf(n, "%s", rangeProblem(s.text))
		err.cause = ErrNumberRange
		return nil, err
	case s.kind == String && !utf8.ValidString(s.text):
		return nil, yamlErrorf(n, "expected binary data that is UTF-8; leave out !!binary to keep it in base64")
	}
	return &yamlPart{value: s.value(), size: len(s.text) + 4}, nil
}

func (t *yamlTree) list(n *yaml.Node, depth int) (*yamlPart, *SyntaxError) {
	if len(n.Content) == 0 {
		return &yamlPart{value: NewList(), size: 2, height: 1}, nil
	}
	b := &yamlPart{size: 2}
	items := make([]Value, len(n.Content))
	for i, item := range n.Content {
		value, err := t.node(item, depth)
		if err != nil {
			return nil, err.prefixPath("[" + strconv.Itoa(i) + "]")
		}
		items[i] = value.value
		b.add(value)
	}
	b.value = NewList(items...)
	b.height++
	return b, nil
}

// add includes the size and height of part, a field or item of p, in the size and height of p.
func (p *yamlPart) add(part *yamlPart) {
	p.size += part.size
	p.height = max(p.height, part.height)
}

// yamlField is a field of a map that is being built.
type yamlField struct {
	Field
	key *yaml.Node // nil if the field comes from a merge key
}

func (t *yamlTree) mapping(n *yaml.Node, depth int) (*yamlPart, *SyntaxError) {
	b := &yamlPart{size: 2}
	fields := make([]yamlField, 0, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, content := n.Content[i], n.Content[i+1]
		var err *SyntaxError
		if isMergeKey(key) {
			fields, err = t.merge(fields, b, content, depth)
		} else {
			fields, err = t.field(fields, b, key, content, depth)
		}
		if err != nil {
			return nil, err
		}
	}
	members, err := mergeFields(fields)
	if err != nil {
		return nil, err
	}
	b.height++
	b.value = Value{d: &doc{kind: Map, members: members}}
	if len(members) == 0 {
		b.value = NewMap()
	}
	return b, nil
}

func (t *yamlTree) field(to []yamlField, b *yamlPart, key, content *yaml.Node, depth int) ([]yamlField, *SyntaxError) {
	name, err := t.name(key)
	if err != nil {
		return nil, err
	}
	value, err := t.node(content, depth)
	if err != nil {
		return nil, err.prefixPath("." + name)
	}
	b.add(value)
	b.size += len(name) + 4
	return append(to, yamlField{Field{name, value.value}, key}), nil
}

// name resolves a mapping key to a field name; YAML keys need not be strings.
func (t *yamlTree) name(key *yaml.Node) (string, *SyntaxError) {
	at := key
	if key.Kind == yaml.AliasNode {
		key = key.Alias
	}
	if key.Kind != yaml.ScalarNode {
		return "", yamlErrorf(at, "expected a field name, received a list or map")
	}
	s, problem := t.resolve(key)
	if problem != "" {
		return "", yamlErrorf(at, "%s", problem)
	}
	name, ok := s.asName()
	if !ok {
		return "", yamlErrorf(at, "expected a field name, received %s; quote it", describeKey(key, s))
	}
	if !utf8.ValidString(name) {
		return "", yamlErrorf(at, "expected binary data that is UTF-8; leave out !!binary to keep it in base64")
	}
	return name, nil
}

func describeKey(key *yaml.Node, s scalar) string {
	if s.kind == Null {
		return "null"
	}
	return shorten(key.Value)
}

func isMergeKey(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!merge" }

// merge appends the fields of n, the value of a merge key, to the slice to. n is a map or a list of maps. The first map
// of a list has precedence, so the maps are appended in reverse order.
func (t *yamlTree) merge(to []yamlField, b *yamlPart, n *yaml.Node, depth int) ([]yamlField, *SyntaxError) {
	sources := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		sources = n.Content
	}
	for _, source := range slices.Backward(sources) {
		if target(source).Kind != yaml.MappingNode {
			return nil, yamlErrorf(source, "expected a map, or a list of maps, to merge, received %s", describeNode(target(source))).prefixPath(".<<")
		}
		value, err := t.node(source, depth-1)
		if err == nil {
			err = t.charge(source, value.size)
		}
		if err != nil {
			return nil, err.prefixPath(".<<")
		}
		for name, field := range value.value.Fields() {
			to = append(to, yamlField{Field: Field{name, field}})
		}
		b.size += value.size
		b.height = max(b.height, value.height-1)
	}
	return to, nil
}

// describeNode describes, for an error message, a node that is not a map.
func describeNode(n *yaml.Node) string {
	if n.Kind == yaml.SequenceNode {
		return "a list"
	}
	return strconv.Quote(shorten(n.Value))
}

// target returns the node that an alias refers to; it returns every other node itself.
func target(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// mergeFields sorts fields by name. Of fields with the same name the last one wins if a merge key is involved;
// otherwise the duplicate is an error.
func mergeFields(fields []yamlField) ([]Field, *SyntaxError) {
	slices.SortStableFunc(fields, func(a, b yamlField) int { return strings.Compare(a.Name, b.Name) })
	members := make([]Field, 0, len(fields))
	var written *yaml.Node // the explicit key of the current name; nil if all its fields come from merge keys
	for i, f := range fields {
		if i == 0 || f.Name != fields[i-1].Name {
			members = append(members, f.Field)
			written = f.key
			continue
		}
		if f.key != nil && written != nil {
			return nil, duplicateField(lineColumn{written.Line, written.Column}, lineColumn{f.key.Line, f.key.Column}, f.Name)
		}
		members[len(members)-1] = f.Field
		if written == nil {
			written = f.key
		}
	}
	return members, nil
}

func yamlErrorf(n *yaml.Node, format string, args ...any) *SyntaxError {
	return &SyntaxError{Line: n.Line, Column: n.Column, Problem: fmt.Sprintf(format, args...)}
}
