package document

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// yamlTree makes a document out of the YAML library's nodes. Aliases share the
// part that they stand for, so that they cost no memory here; but whoever writes
// or walks the document pays for each of them, which is what budget is about.
type yamlTree struct {
	limits   Limits
	anchored map[*yaml.Node]*anchor // the nodes that an alias may stand for
	budget   int                    // how many bytes aliases may still add
	bare     map[place]bool         // where the nodes start whose tag is "!"
}

// built is a finished part of the document.
type built struct {
	value  Value
	size   int // about how many bytes it takes when written
	height int // how many containers are nested in it, itself included
}

// anchor is a node with an anchor; value is nil while it is being read.
type anchor struct{ value *built }

// node builds a node inside of depth containers.
func (t *yamlTree) node(n *yaml.Node, depth int) (*built, *SyntaxError) {
	if n.Kind == yaml.AliasNode {
		return t.alias(n, depth)
	}
	if n.Anchor == "" {
		return t.fresh(n, depth)
	}
	a := &anchor{}
	t.anchored[n] = a
	b, err := t.fresh(n, depth)
	a.value = b
	return b, err
}

func (t *yamlTree) fresh(n *yaml.Node, depth int) (*built, *SyntaxError) {
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

func (t *yamlTree) alias(n *yaml.Node, depth int) (*built, *SyntaxError) {
	a := t.anchored[n.Alias]
	if a == nil {
		// The anchor is on a key, which is not built as a value.
		return t.node(n.Alias, depth)
	}
	if a.value == nil {
		return nil, yamlErrorf(n, "the alias *%s stands for something that contains it", shorten(n.Value))
	}
	if depth+a.value.height > t.limits.MaxDepth {
		return nil, t.tooDeep(n)
	}
	return a.value, t.spend(n, a.value.size)
}

// spend pays for what an alias or a merge key adds to the document.
func (t *yamlTree) spend(n *yaml.Node, size int) *SyntaxError {
	if t.budget -= size; t.budget < 0 {
		return yamlErrorf(n, "aliases and merge keys expand the document beyond the limit; write it out or raise the limit")
	}
	return nil
}

func (t *yamlTree) tooDeep(n *yaml.Node) *SyntaxError {
	return yamlErrorf(n, "lists and maps are nested more than %d deep", t.limits.MaxDepth)
}

func (t *yamlTree) scalar(n *yaml.Node) (*built, *SyntaxError) {
	s, problem := t.resolve(n)
	if problem != "" {
		return nil, yamlErrorf(n, "%s", problem)
	}
	switch {
	case s.unspeakable:
		return nil, yamlErrorf(n, "expected a number that JSON can express, received %s", n.Value)
	case s.kind == String && !utf8.ValidString(s.text):
		return nil, yamlErrorf(n, "expected binary data that is UTF-8; leave out !!binary to keep it in base64")
	}
	return &built{value: s.value(), size: len(s.text) + 4}, nil
}

func (t *yamlTree) list(n *yaml.Node, depth int) (*built, *SyntaxError) {
	if len(n.Content) == 0 {
		return &built{value: NewList(), size: 2, height: 1}, nil
	}
	b := &built{size: 2}
	items := make([]Value, len(n.Content))
	for i, item := range n.Content {
		value, err := t.node(item, depth)
		if err != nil {
			return nil, err.in("[" + strconv.Itoa(i) + "]")
		}
		items[i] = value.value
		b.add(value)
	}
	b.value = NewList(items...)
	b.height++
	return b, nil
}

// add accounts for a part of b.
func (b *built) add(part *built) {
	b.size += part.size
	b.height = max(b.height, part.height)
}

// A yamlField is a field of a map that is being built.
type yamlField struct {
	Field
	key *yaml.Node // nil if a merge key brought the field
}

func (t *yamlTree) mapping(n *yaml.Node, depth int) (*built, *SyntaxError) {
	b := &built{size: 2}
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
	members, err := settleFields(fields)
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

func (t *yamlTree) field(to []yamlField, b *built, key, content *yaml.Node, depth int) ([]yamlField, *SyntaxError) {
	name, err := t.name(key)
	if err != nil {
		return nil, err
	}
	value, err := t.node(content, depth)
	if err != nil {
		return nil, err.in("." + name)
	}
	b.add(value)
	b.size += len(name) + 4
	return append(to, yamlField{Field{name, value.value}, key}), nil
}

// name reads a key, which need not be a string in YAML.
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
		return "", yamlErrorf(at, "expected a field name, received %s; quote it", nameless(key, s))
	}
	if !utf8.ValidString(name) {
		return "", yamlErrorf(at, "expected binary data that is UTF-8; leave out !!binary to keep it in base64")
	}
	return name, nil
}

func nameless(key *yaml.Node, s scalar) string {
	if s.kind == Null {
		return "null"
	}
	return shorten(key.Value)
}

func isMergeKey(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!merge" }

// merge adds the fields of the map, or of the list of maps, that a merge key has.
// The first map of a list wins over the later ones, so that it is added last.
func (t *yamlTree) merge(to []yamlField, b *built, n *yaml.Node, depth int) ([]yamlField, *SyntaxError) {
	sources := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		sources = n.Content
	}
	for _, source := range slices.Backward(sources) {
		if target(source).Kind != yaml.MappingNode {
			return nil, yamlErrorf(source, "expected a map, or a list of maps, to merge, received %s", kindOf(target(source))).in(".<<")
		}
		value, err := t.node(source, depth-1)
		if err == nil {
			err = t.spend(source, value.size)
		}
		if err != nil {
			return nil, err.in(".<<")
		}
		for name, field := range value.value.Fields() {
			to = append(to, yamlField{Field: Field{name, field}})
		}
		b.size += value.size
		b.height = max(b.height, value.height-1)
	}
	return to, nil
}

// kindOf says what a node is that is no map.
func kindOf(n *yaml.Node) string {
	if n.Kind == yaml.SequenceNode {
		return "a list"
	}
	return strconv.Quote(shorten(n.Value))
}

func target(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// settleFields puts fields in order. Of fields with one name the last wins if
// merge keys are involved; to write a name twice is an error.
func settleFields(fields []yamlField) ([]Field, *SyntaxError) {
	slices.SortStableFunc(fields, func(a, b yamlField) int { return strings.Compare(a.Name, b.Name) })
	members := make([]Field, 0, len(fields))
	var written *yaml.Node // the key of the last name, if it was written out
	for i, f := range fields {
		if i == 0 || f.Name != fields[i-1].Name {
			members = append(members, f.Field)
			written = f.key
			continue
		}
		if f.key != nil && written != nil {
			return nil, twice(place{written.Line, written.Column}, place{f.key.Line, f.key.Column}, f.Name)
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
