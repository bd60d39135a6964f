package kinds

import (
	_ "embed" // fields.txt
	"fmt"
	"slices"
	"strings"
)

// Field is a field that selectors can ask for.
type Field struct {
	// Name is what selectors call it; Path is where it is in what is stored.
	Name string
	Path []string
	// Otherwise is where it is if there is nothing at Path, nil for nowhere.
	Otherwise []string
	// Absent is its value in objects that don't have it.
	Absent string
}

// StoredField returns what a field of a selector is called among the Fields of the kind that is
// stored. The error is what Kubernetes says to those who ask for a field that can't be selected.
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
	case k.Name == "Job":
		return "", fmt.Errorf("field label %q not supported for Job", name)
	case k.Name == "ResourceSlice":
		return "", fmt.Errorf("field label not supported for %s, Kind=%s: %s", k.APIVersion(k.Versions[0]), k.Name, name)
	}
	return "", fmt.Errorf("field label not supported: %s", name)
}

//go:embed fields.txt
var fieldsText string

// addFields gives kinds the fields that a text such as fields.txt has.
func addFields(kinds []*Kind, text string) error {
	rows, err := parseRows(kinds, text, "RESOURCE FIELD…", 2)
	if err != nil {
		return err
	}
	for _, row := range rows {
		for _, word := range row.words[1:] {
			row.kind.addField(word)
		}
	}
	return nil
}

func (k *Kind) addField(word string) {
	if alias, name, ok := strings.Cut(word, "->"); ok {
		if k.FieldAliases == nil {
			k.FieldAliases = map[string]string{}
		}
		k.FieldAliases[alias] = name
		return
	}
	var f Field
	word, f.Absent, _ = strings.Cut(word, "=")
	word, otherwise, hasOther := strings.Cut(word, "|")
	if hasOther {
		f.Otherwise = strings.Split(otherwise, ".")
	}
	name, path, elsewhere := strings.Cut(word, "@")
	if !elsewhere {
		path = name
	}
	f.Name, f.Path = name, strings.Split(path, ".")
	k.Fields = append(k.Fields, f)
}
