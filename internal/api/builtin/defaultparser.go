package builtin

import (
	"fmt"
	"strings"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api/builtin/kinds"
)

// readDefaults parses the sections "defaults" of all kind files, and adds their rules to the types.
func (t *table) readDefaults(set *kinds.Set) error {
	return t.forEachRule(set, kinds.Defaults, func(of *Type, words []string) error {
		r, err := parseRule(of, words)
		of.rules = append(of.rules, r)
		return err
	})
}

// forEachRule calls add with the words of each line in the sections with the given name, once for each struct that the section
// applies to, because a path resolves to a different field in each struct.
func (t *table) forEachRule(set *kinds.Set, section string, add func(of *Type, words []string) error) error {
	for _, d := range set.All() {
		for _, s := range d.Sections(section) {
			types, err := t.structsOf(d, s)
			if err != nil {
				return err
			}
			lines, err := s.Lines()
			if err != nil {
				return err
			}
			for _, l := range lines {
				for _, of := range types {
					if err := add(of, strings.Fields(l.Text)); err != nil {
						return s.Errorf(l.Number, "%s: %w", of.Name, err)
					}
				}
			}
		}
	}
	return nil
}

// structsOf returns the structs that s, a section of d, applies to. It returns an error if there are none.
func (t *table) structsOf(d *kinds.Declaration, s *kinds.Section) (types []*Type, err error) {
	for _, name := range d.Structs(s) {
		found, ok := t.structs[openAPINamePrefix+name]
		if !ok {
			return nil, d.Errorf(d.Property("structs").Line, "expected the name of a struct in types.txt.gz, received %q", name)
		}
		types = append(types, found)
	}
	if len(types) == 0 {
		return nil, d.Errorf(d.Line, "expected structs: NAME… in a type with %s", s.Name)
	}
	return types, nil
}

func parseRule(t *Type, words []string) (r rule, err error) {
	if words[0] == "go" && len(words) == 2 {
		step, ok := steps[words[1]]
		if !ok {
			return r, fmt.Errorf("expected a step listed in steps.go, received %q", words[1])
		}
		return rule{operation: callStep, step: step}, nil
	}
	if len(words) < 2 {
		return r, fmt.Errorf("expected TARGET OPERATION, received %q", words)
	}
	r.target, err = parsePath(t, words[0])
	if err != nil {
		return r, err
	}
	holder := r.target.holderType(t)
	rest, err := r.parseOperation(t, holder, words[1:])
	if err != nil || len(rest) == 0 {
		return r, err
	}
	if rest[0] != "when" {
		return r, fmt.Errorf("expected \"when\", received %q", rest[0])
	}
	r.conditions, err = parseConditions(t, holder, rest[1:])
	return r, err
}

// holderType returns the type of the struct that contains the last element of p; t is the type at which p starts.
func (p *path) holderType(t *Type) *Type {
	if len(p.names) > 1 {
		t = p.names[len(p.names)-2].fieldType.Innermost()
	}
	return t
}

// parseOperation parses the first words as the operation of the rule and its value or source. rest contains the remaining
// words.
func (r *rule) parseOperation(t, holder *Type, words []string) (rest []string, err error) {
	switch words[0] {
	case "drop":
		r.operation = dropField
		return words[1:], nil
	case "rounded":
		r.operation = roundUp
		return words[1:], nil
	case "=":
		r.operation = setIfUnset
	case ":=":
		r.operation = setAlways
	case "+=":
		r.operation = mergeKeys
	default:
		return nil, fmt.Errorf("expected =, :=, +=, drop or rounded, received %q", words[0])
	}
	words = words[1:]
	if len(words) == 0 {
		return nil, fmt.Errorf("expected a value at the end of the line")
	}
	switch {
	case words[0] == "from" && len(words) > 1:
		source, err := parseEither(t, holder, words[1])
		r.source = &source
		return words[2:], err
	case r.operation == mergeKeys:
		return nil, fmt.Errorf("expected \"from SOURCE\", received %q", words)
	case words[0] == "now":
		r.currentTime = true
	default:
		r.value, err = parseValue(words[0])
	}
	return words[1:], err
}

// parseValue parses a word as JSON; a word that does not begin like a JSON value is a string without quotes.
func parseValue(word string) (document.Value, error) {
	if strings.ContainsAny(word[:1], `{["-0123456789`) || word == "true" || word == "false" {
		v, err := document.ParseJSON([]byte(word))
		if err != nil {
			err = fmt.Errorf("expected JSON, received %s: %w", word, err)
		}
		return v, err
	}
	return document.NewString(word), nil
}

// parseEither parses a path that starts at the struct of the rule or, if it has a leading dot, at holder, the struct that
// contains the rule's target.
func parseEither(t, holder *Type, text string) (path, error) {
	rest, isSibling := strings.CutPrefix(text, ".")
	if !isSibling {
		return parsePath(t, text)
	}
	p, err := parsePath(holder, rest)
	p.sibling = true
	return p, err
}

func parsePath(t *Type, text string) (p path, err error) {
	for _, name := range splitPath(text) {
		name, each := strings.CutSuffix(name, "[]")
		n := pathElement{name: name, each: each}
		switch {
		case t.Kind == Map:
			n.fieldType = t.Elem
		default:
			f, ok := t.Field(name)
			if !ok {
				return p, fmt.Errorf("%s: %s has no field %q", text, t.GoName, name)
			}
			n.fieldType, n.pointer = f.Type, f.Pointer
		}
		if each != (n.fieldType.Kind == List) && each {
			return p, fmt.Errorf("%s: expected a list before [], received %q, which is not a list", text, name)
		}
		t = n.fieldType
		if each {
			t = t.Elem
		}
		p.names = append(p.names, n)
	}
	return p, nil
}

// splitPath splits a path at the dots that are not inside double quotes, and removes the quotes.
func splitPath(text string) (names []string) {
	for text != "" {
		if quoted, ok := strings.CutPrefix(text, `"`); ok {
			name, rest, _ := strings.Cut(quoted, `"`)
			names, text = append(names, name), strings.TrimPrefix(rest, ".")
			continue
		}
		name, rest, _ := strings.Cut(text, ".")
		names, text = append(names, name), rest
	}
	return names
}

func parseConditions(t, holder *Type, words []string) (all []condition, err error) {
	for len(words) > 0 {
		var c condition
		switch {
		case words[0] == "only" && len(words) > 1:
			c.test = isOnlyField
			c.path, err = parsePath(t, words[1])
			words = words[2:]
		case len(words) > 2 && words[1] == "is":
			c.path, err = parseEither(t, holder, words[0])
			c.setTest(words[2])
			words = words[3:]
		default:
			err = fmt.Errorf("expected a condition, received %q", words)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, c)
		if len(words) == 0 {
			break
		}
		if words[0] != "and" || len(words) == 1 {
			return nil, fmt.Errorf("expected \"and CONDITION\", received %q", words)
		}
		words = words[1:]
	}
	return all, nil
}

func (c *condition) setTest(word string) {
	switch word {
	case "set":
		c.test = isSet
	case "unset":
		c.test = isUnset
	case "absent":
		c.test = isAbsent
	case "latest":
		c.test = isLatest
	default:
		c.test = isOneOf
		c.values = strings.Split(word, "|")
	}
}
