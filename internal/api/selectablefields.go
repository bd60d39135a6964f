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
	// Name is the field label in field selectors; Path is the path of the field in the stored object.
	Name string
	Path []string
	// Fallback is the path of a second field, whose value is used if the field at Path is absent; nil if there is no second
	// field.
	Fallback []string
	// Absent is the value of an absent field in field selectors.
	Absent string
}

// StoredField returns the name of the selectable field that the field label name selects. The field has another name for
// kinds whose objects are stored as another kind, such as events.k8s.io events, which are stored as core events. For a label
// that is not selectable it returns Kubernetes' error.
func (k *Kind) StoredField(name string) (string, error) {
	if stored, ok := k.FieldAliases[name]; ok {
		return stored, nil
	}
	if slices.ContainsFunc(k.Fields, func(f Field) bool { return f.Name == name }) {
		return name, nil
	}
	hasSelectable := len(k.Fields) > 0 || len(k.FieldAliases) > 0
	switch {
	case name == "metadata.name", name == "metadata.namespace" && (k.Namespaced || !hasSelectable):
		return name, nil
	case !hasSelectable:
		return "", fmt.Errorf("%q is not a known field selector: only %q, %q", name, "metadata.name", "metadata.namespace")
	case k.unsupportedLabelFormat != "":
		return "", fmt.Errorf(k.unsupportedLabelFormat, name)
	}
	return "", fmt.Errorf("field label not supported: %s", name)
}

// setSelectableFields sets Fields and FieldAliases from the section "selectable fields" of a kind file.
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

// addSelectableField parses a line of the section "selectable fields" and adds its field or alias to the kind. The syntax is
// one of
//
//	NAME [at PATH [or PATH]] [default VALUE]
//	NAME alias of NAME
//	unsupported "MESSAGE"
func (k *Kind) addSelectableField(line string) (err error) {
	if message, ok := strings.CutPrefix(line, "unsupported "); ok {
		k.unsupportedLabelFormat, err = strconv.Unquote(message)
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
			f.Fallback = strings.Split(words[1], ".")
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
