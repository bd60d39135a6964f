package discovery

import (
	_ "embed" // markers.txt
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

//go:generate go run ./generate markers.txt

//go:embed markers.txt
var markersText string

// fieldMarkers are the markers of a Go type or struct field. They are read from markers.txt, because reflection cannot access
// comments.
type fieldMarkers struct {
	optional, required   bool
	union, discriminator bool
	listType, mapType    string
	listKeys             []string
	defaultValue         any
	enum                 []any
}

// markers maps a Go type (PACKAGE.TYPE), or a struct field (PACKAGE.TYPE, a tab, and the field's JSON name), to its markers.
type markers map[string]*fieldMarkers

// ofType returns the markers of a Go type; a zero fieldMarkers if it has none.
func (m markers) ofType(t reflect.Type) *fieldMarkers { return m.at(t.PkgPath() + "." + t.Name()) }

// ofField returns the markers of the field of t whose JSON name is name; a zero fieldMarkers if it has none.
func (m markers) ofField(t reflect.Type, name string) *fieldMarkers {
	return m.at(t.PkgPath() + "." + t.Name() + "\t" + name)
}

func (m markers) at(key string) *fieldMarkers {
	if found := m[key]; found != nil {
		return found
	}
	return &fieldMarkers{}
}

// parseMarkers parses the content of markers.txt.
func parseMarkers(text string) (markers, error) {
	all := markers{}
	typeName := ""
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "#") || line == "" {
			continue
		}
		name, words, _ := strings.Cut(strings.TrimPrefix(line, "\t"), " ")
		key := typeName + "\t" + name
		if line[0] != '\t' {
			typeName, key = name, name
		}
		found, err := parseWords(words)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		all[key] = found
	}
	return all, nil
}

// parseWords parses the words after the name of a type or field in markers.txt.
func parseWords(words string) (*fieldMarkers, error) {
	m := &fieldMarkers{}
	for words != "" {
		word, rest, _ := strings.Cut(words, " ")
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "default", "enum": // the value is the rest of the line
			value, rest = strings.TrimPrefix(words, name+"="), ""
		}
		if err := m.set(name, value); err != nil {
			return nil, err
		}
		words = rest
	}
	return m, nil
}

func (m *fieldMarkers) set(name, value string) error {
	switch name {
	case "optional":
		m.optional = true
	case "required":
		m.required = true
	case "union":
		m.union = true
	case "discriminator":
		m.discriminator = true
	case "list":
		m.listType = value
	case "map":
		m.mapType = value
	case "key":
		m.listKeys = append(m.listKeys, value)
	case "default":
		return json.Unmarshal([]byte(value), &m.defaultValue)
	case "enum":
		return json.Unmarshal([]byte(value), &m.enum)
	default:
		return fmt.Errorf("expected a marker that the header describes, received %q", name)
	}
	return nil
}
