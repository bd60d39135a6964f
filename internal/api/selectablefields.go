package api

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cadastre/cadastre/internal/api/builtin/kinds"
)

// Field is a selectable field: a field that field selectors support.
type Field struct {
	// Name is the label in field selectors; Path is the field's path in the stored object.
	Name string
	Path []string
	// Otherwise is the path that is read if the field at Path is absent; nil if there is none.
	Otherwise []string
	// Absent is the value for objects without the field.
	Absent string
}

// StoredField returns the name, among the Fields of the stored kind, of a field selector's label. For a label that is
// not selectable it returns Kubernetes' error.
func (k *Kind) StoredField(name string) (string, error) {
	if other, ok := k.FieldAliases[name]; ok {
		return other, nil
	}
	if slices.ContainsFunc(k.Fields, func(f Field) bool { return f.Name == name }) {
		return name, nil
	}
	hasOwn := len(k.Fields) > 0 || len(k.FieldAliases) > 0
	switch {
	case name == "metadata.name", name == "metadata.namespace" && (k.Namespaced || !hasOwn):
		return name, nil
	case !hasOwn:
		return "", fmt.Errorf("%q is not a known field selector: only %q, %q", name, "metadata.name", "metadata.namespace")
	case k.unsupportedField != "":
		return "", fmt.Errorf(k.unsupportedField, name)
	}
	return "", fmt.Errorf("field label not supported: %s", name)
}

// setSelectableFields reads the selectable fields of a kind file.
func (k *Kind) setSelectableFields(d *kinds.Declaration) error {
	for _, s := range d.Sections(kinds.SelectableFields) {
		lines, err := s.Lines()
		if err != nil {
			return err
		}
		for _, l := range lines {
			if err := k.addSelectableField(l.Text); err != nil {
				return s.Errorf(l.Number, "%w", err)
			}
		}
	}
	return nil
}

// addSelectableField parses a line, one of
//
//	NAME [at PATH [or PATH]] [default VALUE]
//	NAME alias of NAME
//	unsupported "MESSAGE"
func (k *Kind) addSelectableField(line string) (err error) {
	if message, ok := strings.CutPrefix(line, "unsupported "); ok {
		k.unsupportedField, err = strconv.Unquote(message)
		return err
	}
	words := strings.Fields(line)
	name, words := words[0], words[1:]
	if len(words) == 3 && words[0] == "alias" && words[1] == "of" {
		if k.FieldAliases == nil {
			k.FieldAliases = map[string]string{}
		}
		k.FieldAliases[name] = words[2]
		return nil
	}
	f := Field{Name: name, Path: strings.Split(name, ".")}
	for ; len(words) > 1; words = words[2:] {
		switch words[0] {
		case "at":
			f.Path = strings.Split(words[1], ".")
		case "or":
			f.Otherwise = strings.Split(words[1], ".")
		case "default":
			f.Absent = words[1]
		default:
			return errSelectableField(line)
		}
	}
	if len(words) > 0 {
		return errSelectableField(line)
	}
	k.Fields = append(k.Fields, f)
	return nil
}

func errSelectableField(line string) error {
	return errExpected("NAME [at PATH [or PATH]] [default VALUE] or NAME alias of NAME", line)
}
