package kinds

import (
	_ "embed" // builtin.txt
	"errors"
	"fmt"
	"slices"
	"strings"
)

//go:embed builtin.txt
var builtinText string

// Builtin returns the built-in kinds. Each call makes its own.
func Builtin() []*Kind {
	kinds, err := parseKinds(builtinText)
	if err == nil {
		err = errors.Join(addWipes(kinds, wipesText), addFields(kinds, fieldsText), addTraits(kinds, traitsText))
	}
	if err != nil {
		panic(err) // a test reads them
	}
	for _, k := range kinds {
		k.prepare, k.fold, k.podSpec = preparers[k.String()], folders[k.String()], podSpecs[k.String()]
	}
	return kinds
}

// coreGroup is how texts spell the group that has no name.
const coreGroup = "core"

// parseKinds reads a text such as builtin.txt.
func parseKinds(text string) (kinds []*Kind, err error) {
	number := 0
	for line := range strings.Lines(text) {
		number++
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		k, err := parseKind(words)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		kinds = append(kinds, k)
	}
	return kinds, nil
}

func parseKind(words []string) (*Kind, error) {
	if len(words) < 4 {
		return nil, fmt.Errorf("expected GROUP/VERSION KIND RESOURCE SCOPE, received %q", words)
	}
	group, versions, ok := strings.Cut(words[0], "/")
	if !ok {
		return nil, fmt.Errorf("expected GROUP/VERSION, received %q", words[0])
	}
	if group == coreGroup {
		group = ""
	}
	k := &Kind{Group: group, Versions: strings.Split(versions, ","), Name: words[1], Resource: words[2]}
	k.Deprecated = deprecations[k.String()]
	switch words[3] {
	case "namespaced":
		k.Namespaced = true
	case "cluster":
	default:
		return nil, fmt.Errorf("expected namespaced or cluster, received %q", words[3])
	}
	for _, word := range words[4:] {
		if err := k.setProperty(word); err != nil {
			return nil, err
		}
	}
	return k, nil
}

func (k *Kind) setProperty(word string) error {
	name, value, hasValue := strings.Cut(word, "=")
	if hasValue != slices.Contains([]string{"short", "in", "generation", "also", "stored"}, name) || hasValue && value == "" {
		return errProperty(word)
	}
	var err error
	switch name {
	case "short":
		k.ShortNames = strings.Split(value, ",")
	case "in":
		k.Categories = strings.Split(value, ",")
	case "status":
		k.HasStatus = true
	case "scale":
		k.HasScale = true
	case "create":
		k.OnlyCreate = true
	case "also":
		k.AlsoAt = value
	case "stored":
		k.StoredAt = value
	case "generation":
		k.Generation, err = parseGeneration(value)
	default:
		return errProperty(word)
	}
	return err
}

func errProperty(word string) error {
	return fmt.Errorf("expected short=NAME,…, in=CATEGORY,…, generation=FIRST+PATH…, also=APIVERSION, stored=APIVERSION, status, scale or create, received %q", word)
}
