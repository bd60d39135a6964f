package main

import (
	"go/ast"
	"reflect"
	"strconv"
	"strings"
)

// parseMarkers returns the markers in a comment, which are lines such as +optional and +listType=map: a map from the name of
// each marker to its values.
func parseMarkers(doc *ast.CommentGroup) map[string][]string {
	markers := map[string][]string{}
	if doc == nil {
		return markers
	}
	for _, comment := range doc.List {
		line, ok := strings.CutPrefix(strings.TrimSpace(strings.TrimPrefix(comment.Text, "//")), "+")
		if !ok {
			continue
		}
		name, value, _ := strings.Cut(line, "=")
		markers[name] = append(markers[name], value)
	}
	return markers
}

// mergeWords returns the words in markers.txt for the markers of list types and map types, such as list=map for
// +listType=map.
func mergeWords(markers map[string][]string) (words []string) {
	for _, marker := range []struct{ name, word string }{
		{"listType", "list="}, {"listMapKey", "key="}, {"mapType", "map="}, {"structType", "map="},
	} {
		for _, value := range markers[marker.name] {
			words = append(words, marker.word+value)
		}
	}
	return words
}

// fieldLine returns the line of a field in markers.txt, with the properties that its Go type and struct tags do not express;
// "" if there are none.
func (s *source) fieldLine(field *ast.Field) string {
	name, omitEmpty := jsonTag(field)
	if name == "" {
		return ""
	}
	markers := parseMarkers(field.Doc)
	words := mergeWords(markers)
	_, optional := markers["optional"]
	_, required := markers["required"]
	switch {
	case required && omitEmpty:
		words = append(words, "required")
	case optional && !omitEmpty && !required:
		words = append(words, "optional")
	}
	if _, ok := markers["unionDiscriminator"]; ok {
		words = append(words, "discriminator")
	}
	if value := markers["default"]; len(value) > 0 {
		words = append(words, "default="+s.literal(value[0]))
	}
	if len(words) == 0 {
		return ""
	}
	return name + " " + strings.Join(words, " ")
}

// literal returns the value of a +default marker as a Go literal. A reference to a constant, ref(NAME), is resolved.
func (s *source) literal(value string) string {
	if name, ok := strings.CutPrefix(value, "ref("); ok {
		return s.values[strings.TrimSuffix(name, ")")]
	}
	return value
}

func jsonTag(field *ast.Field) (name string, omitEmpty bool) {
	if field.Tag == nil {
		return "", false
	}
	text, err := strconv.Unquote(field.Tag.Value)
	if err != nil {
		return "", false
	}
	name, rest, _ := strings.Cut(reflect.StructTag(text).Get("json"), ",")
	return strings.TrimPrefix(name, "-"), strings.Contains(rest, "omitempty")
}
