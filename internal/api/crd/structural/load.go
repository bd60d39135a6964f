package structural

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// loader creates nodes from the schema objects of a CustomResourceDefinition, which was validated when it was written. err is
// the error of the first schema object that is nevertheless invalid, with its path in the schema.
type loader struct {
	path []string
	err  error
	// nonSpineDepth is the number of allOf, anyOf, oneOf and not that enclose the current schema object; 0 in the spine.
	nonSpineDepth int
	// rules reports whether a node of the spine has CEL rules.
	rules bool
}

// load returns the node for v, a schema object, with the nodes for the schema objects inside it.
func (l *loader) load(v document.Value) *node {
	n := &node{
		nullable: v.Get("nullable").Bool(),
		minItems: limit(v, "minItems"), maxItems: limit(v, "maxItems"), unique: v.Get("uniqueItems").Bool(),
		minProps: limit(v, "minProperties"), maxProps: limit(v, "maxProperties"),
		required:     stringItems(v.Get("required")),
		preserve:     v.Get("x-kubernetes-preserve-unknown-fields").Bool(),
		embedded:     v.Get("x-kubernetes-embedded-resource").Bool(),
		keys:         stringItems(v.Get("x-kubernetes-list-map-keys")),
		list:         listTypes[v.Get("x-kubernetes-list-type").Text()],
		defaultValue: nonNullField(v, "default").Clone(),
	}
	for _, value := range v.Get("enum").Items() {
		n.enum = append(n.enum, value.Clone())
	}
	l.loadKinds(n, v)
	n.format = formatOf(n.kinds, v.Get("format").Text())
	n.numbers = numberLimitsOf(v, n.kinds, n.format.name)
	n.texts = textLimitsOf(v)
	l.rules = l.rules || l.nonSpineDepth == 0 && v.Get("x-kubernetes-validations").Len() > 0
	l.loadParts(n, v)
	return n
}

var listTypes = map[string]listType{"set": setList, "map": mapList}

func (l *loader) loadKinds(n *node, v document.Value) {
	if v.Get("x-kubernetes-int-or-string").Bool() {
		n.kinds, n.typeName = integer|text, "integer,string"
		return
	}
	name := v.Get("type").Text()
	n.kinds = kindsNamed(name)
	n.typeName = n.kinds.name() // a name from the document would retain the memory of the whole document
	if name != "" && n.kinds == 0 {
		l.fail("type", fmt.Sprintf("expected one of %s, received %q", strings.Join(kindNames[:], ", "), name))
	}
}

func (l *loader) loadParts(n *node, v document.Value) {
	for name, schema := range v.Get("properties").Fields() {
		n.fields = append(n.fields, property{strings.Clone(name), l.loadAt(schema, "properties", name)})
	}
	if more := nonNullField(v, "additionalProperties"); !more.IsAbsent() {
		n.open = true
		if more.Kind() == document.Bool {
			n.closed = !more.Bool()
		} else {
			n.additional = l.loadAt(more, "additionalProperties")
		}
	}
	if items := nonNullField(v, "items"); !items.IsAbsent() {
		n.items = l.loadAt(items, "items")
	}
	l.nonSpineDepth++
	n.allOf, n.anyOf, n.oneOf = l.loadAll(v, "allOf"), l.loadAll(v, "anyOf"), l.loadAll(v, "oneOf")
	if not := nonNullField(v, "not"); !not.IsAbsent() {
		n.not = l.loadAt(not, "not")
	}
	l.nonSpineDepth--
}

func (l *loader) loadAll(v document.Value, name string) (nodes []*node) {
	for i, schema := range v.Get(name).Items() {
		nodes = append(nodes, l.loadAt(schema, name, fmt.Sprint(i)))
	}
	return nodes
}

// loadAt returns the node for v, a schema object inside the current schema object; place is the relative path of v, such as
// "properties", "spec".
func (l *loader) loadAt(v document.Value, place ...string) *node {
	depth := len(l.path)
	l.path = append(l.path, place...)
	defer func() { l.path = l.path[:depth] }()
	if v.Kind() != document.Map {
		l.fail("", fmt.Sprintf("expected a schema object, received a %s", v.Kind()))
		return &node{minItems: noLimit, maxItems: noLimit, minProps: noLimit, maxProps: noLimit}
	}
	return l.load(v)
}

// fail sets err, unless an earlier error is set. keyword is the keyword of the current schema object that has the problem; ""
// means the object itself.
func (l *loader) fail(keyword, problem string) {
	if l.err == nil {
		place := strings.Join(append(slices.Clone(l.path), keyword), ".")
		l.err = fmt.Errorf("invalid schema: %s: %s", strings.Trim(place, "."), problem)
	}
}

// nonNullField returns the field name of v, a map; an absent value if the field is null.
func nonNullField(v document.Value, name string) document.Value {
	if field := v.Get(name); !field.IsNull() {
		return field
	}
	return document.Value{}
}

// limit returns the value of the size keyword name, such as maxItems; noLimit if v, a schema object, does not contain the
// keyword.
func limit(v document.Value, name string) int {
	n, ok := v.Get(name).Int64()
	if !ok {
		if f, isNumber := v.Get(name).Float64(); isNumber {
			n, ok = int64(f), true
		}
	}
	if !ok {
		return noLimit
	}
	return int(n)
}

func stringItems(list document.Value) (all []string) {
	for _, item := range list.Items() {
		all = append(all, strings.Clone(item.Text()))
	}
	return all
}

// textLimits are the keywords of a schema that restrict strings: minLength, maxLength and pattern.
type textLimits struct {
	minLength, maxLength int
	pattern              *regexp.Regexp
	// patternText is the source text of pattern; patternErr is the error if it does not compile.
	patternText string
	patternErr  error
}

func textLimitsOf(v document.Value) *textLimits {
	t := &textLimits{minLength: limit(v, "minLength"), maxLength: limit(v, "maxLength"), patternText: strings.Clone(v.Get("pattern").Text())}
	if t.minLength == noLimit && t.maxLength == noLimit && t.patternText == "" {
		return nil
	}
	if t.patternText != "" {
		t.pattern, t.patternErr = regexp.Compile(t.patternText)
	}
	return t
}
