package main

import (
	"go/ast"
	"reflect"
	"strconv"
	"strings"
)

// marked returns the markers of a comment: lines such as +optional and +listType=map.
func marked(doc *ast.CommentGroup) map[string][]string {
	said := map[string][]string{}
	if doc == nil {
		return said
	}
	for _, comment := range doc.List {
		line, ok := strings.CutPrefix(strings.TrimSpace(strings.TrimPrefix(comment.Text, "//")), "+")
		if !ok {
			continue
		}
		name, value, _ := strings.Cut(line, "=")
		said[name] = append(said[name], value)
	}
	return said
}

// mergeWords returns the words of the merge markers of a type or field.
func mergeWords(said map[string][]string) (words []string) {
	for _, marker := range []struct{ name, word string }{
		{"listType", "list="}, {"listMapKey", "key="}, {"mapType", "map="}, {"structType", "map="},
	} {
		for _, value := range said[marker.name] {
			words = append(words, marker.word+value)
		}
	}
	return words
}

// fieldLine returns the line of a field with the markers that its Go type and tags do not imply; "" if there are none.
func (s *source) fieldLine(field *ast.Field) string {
	name, omitEmpty := jsonTag(field)
	if name == "" {
		return ""
	}
	said := marked(field.Doc)
	words := mergeWords(said)
	_, optional := said["optional"]
	_, required := said["required"]
	switch {
	case required && omitEmpty:
		words = append(words, "required")
	case optional && !omitEmpty && !required:
		words = append(words, "optional")
	}
	if _, ok := said["unionDiscriminator"]; ok {
		words = append(words, "discriminator")
	}
	if value := said["default"]; len(value) > 0 {
		words = append(words, "default="+s.literal(value[0]))
	}
	if len(words) == 0 {
		return ""
	}
	return name + " " + strings.Join(words, " ")
}

// literal returns a default value, resolving a reference to a constant.
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
