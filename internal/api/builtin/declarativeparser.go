package builtin

import (
	"cmp"
	_ "embed" // declarative.txt
	"fmt"
	"slices"
	"strings"
)

//go:embed declarative.txt
var declarativeTags string

// fieldTags maps the OpenAPI names of structs to the tags of their fields by JSON name.
type fieldTags map[string]map[string][]tag

// tag is a validation tag: LEVEL NAME(ARGUMENT)=VALUE. All parts except the name are optional; the value can be another tag.
type tag struct {
	level           tagLevel
	name            string
	argument, value string
}

// readTags parses the text of declarative.txt: lines with the OpenAPI name of a struct, each followed by lines of its fields, which
// consist of a JSON name and tags.
func readTags(text string) (fieldTags, error) {
	all := fieldTags{}
	structName := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "\t"):
			parts := strings.Split(line[1:], "\t")
			for _, part := range parts[1:] {
				t, err := parseTag(part)
				if err != nil {
					return nil, fmt.Errorf("%s.%s: %w", structName, parts[0], err)
				}
				all[structName][parts[0]] = append(all[structName][parts[0]], t)
			}
		default:
			structName = line
			all[structName] = map[string][]tag{}
		}
	}
	return all, nil
}

func parseTag(text string) (t tag, err error) {
	t.level = tagStable
	if rest, ok := strings.CutPrefix(text, "alpha "); ok {
		t.level, text = tagAlpha, rest
	} else if rest, ok := strings.CutPrefix(text, "beta "); ok {
		t.level, text = tagBeta, rest
	}
	end := strings.IndexAny(text, "(=")
	if end < 0 {
		t.name = text
		return t, nil
	}
	t.name, text = text[:end], text[end:]
	if strings.HasPrefix(text, "(") {
		var ok bool
		if t.argument, text, ok = strings.Cut(text[1:], ")"); !ok {
			return t, fmt.Errorf("expected ) after the argument of the tag %s", t.name)
		}
	}
	t.value = strings.TrimPrefix(text, "=")
	return t, nil
}

// inner returns the tag that is the value of t.
func (t tag) inner() (tag, error) {
	inner, err := parseTag(t.value)
	inner.level = t.level
	return inner, err
}

// declarations compiles the tags of structs.
type declarations struct {
	tags      fieldTags
	factories map[string]tagFactory
	compiled  map[*Type]*declaredType
}

// newDeclarations returns declarations for the tags in declarative.txt.
func newDeclarations() (*declarations, error) {
	tags, err := readTags(declarativeTags)
	if err != nil {
		return nil, fmt.Errorf("declarative.txt: %w", err)
	}
	d := &declarations{tags: tags, compiled: map[*Type]*declaredType{}}
	d.factories = d.tagFactories()
	return d, nil
}

// of returns the declarative validation of t, a struct; nil if its tags have no effect.
func (d *declarations) of(t *Type) (*declaredType, error) {
	if found, ok := d.compiled[t]; ok {
		return found, nil
	}
	d.compiled[t] = nil // stops the recursion; no tagged struct contains itself
	declared := &declaredType{}
	tags := d.tags[t.Name]
	var err error
	if len(tags) > 0 {
		if declared.rules, err = d.structRules(t, tags); err != nil {
			return nil, fmt.Errorf("%s: %w", t.Name, err)
		}
	}
	for i := range t.Fields {
		f := &t.Fields[i]
		if nested, err := d.nested(f.Type); err == nil && nested == nil && len(tags[f.Name]) == 0 {
			continue
		}
		made, hasEffect, err := d.field(f, tags[f.Name])
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", t.Name, f.Name, err)
		}
		if hasEffect {
			declared.fields = append(declared.fields, made)
		}
	}
	slices.SortFunc(declared.fields, func(a, b declaredField) int { return cmp.Compare(a.position, b.position) })
	if len(declared.rules)+len(declared.fields) == 0 {
		return nil, nil
	}
	d.compiled[t] = declared
	return declared, nil
}

// nested returns the declarative validation of the struct that t or its elements are; nil if there is none.
func (d *declarations) nested(t *Type) (*declaredType, error) {
	if t.Elem != nil {
		t = t.Elem
	}
	if t.Kind != Struct {
		return nil, nil
	}
	return d.of(t)
}

// inGoOrder returns the fields of t, a struct, in the order of the Go struct.
func inGoOrder(t *Type) []Field {
	return slices.SortedFunc(slices.Values(t.Fields), func(a, b Field) int { return cmp.Compare(a.position, b.position) })
}

// field compiles the tags of a field. hasEffect is false if they cannot cause errors that are reported.
func (d *declarations) field(f *Field, tags []tag) (declared declaredField, hasEffect bool, err error) {
	declared = declaredField{name: f.Name, position: f.position, typ: f.Type, pointer: f.Pointer, items: matchOf(tags)}
	isOptional, validatesAbsent, isOpaque := false, false, false
	for _, t := range tags {
		if t.name == "listType" && slices.ContainsFunc(tags, func(t tag) bool { return t.name == "customUnique" }) {
			continue
		}
		switch {
		case t.name == "optional":
			isOptional = true
		case t.name == "required" || t.name == "immutable" || t.name == "update" || t.name == "subfield":
			validatesAbsent = true
		case t.name == "opaqueType" || t.name == "eachVal" && t.value == "opaqueType":
			isOpaque = true
		}
		reports, err := d.add(&declared, t)
		if err != nil {
			return declared, false, fmt.Errorf("tag %s: %w", t.name, err)
		}
		hasEffect = hasEffect || reports && t.level != tagAlpha
	}
	items, err := itemRules(&declared, tags)
	if err != nil {
		return declared, false, err
	}
	declared.rest = append(declared.rest, items...)
	hasEffect = hasEffect || len(items) > 0
	if !isOpaque {
		if declared.nested, err = d.nested(f.Type); err != nil {
			return declared, false, err
		}
	}
	hasItems := f.Type.Kind == List || f.Type.Kind == Map
	declared.skipIfAbsent = !validatesAbsent && (isOptional || f.Pointer || hasItems)
	return declared, hasEffect || declared.nested != nil, nil
}

// add compiles a tag of f. reports is false if the tag cannot cause errors: it only skips the rest of the validation, or only
// modifies other tags.
func (d *declarations) add(f *declaredField, t tag) (reports bool, err error) {
	if t.name == "subfield" {
		return true, d.addSubfield(f, t)
	}
	if slices.Contains(otherTags, t.name) {
		return false, nil
	}
	factory, ok := d.factories[t.name]
	if !ok {
		return false, fmt.Errorf("expected a validation tag listed in tagchecks.go")
	}
	made, err := factory.make(f, t)
	if err != nil || made == nil {
		return false, err
	}
	effective := t
	if t.name == "ifEnabled" || t.name == "ifDisabled" {
		if effective, err = t.inner(); err != nil {
			return false, err
		}
	}
	rule := tagRule{t.level, made}
	if d.factories[effective.name].skips {
		f.first = append(f.first, rule)
	} else {
		f.rest = append(f.rest, rule)
	}
	return effective.name != "optional", nil
}

// addSubfield compiles the tag subfield(NAME)=TAG of f.
func (d *declarations) addSubfield(f *declaredField, t tag) error {
	inner, err := t.inner()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(f.subfields, func(s declaredField) bool { return s.name == t.argument })
	if i < 0 {
		found, ok := f.typ.Field(t.argument)
		if !ok {
			return fmt.Errorf("expected a field of %s, received %s", f.typ.Name, t.argument)
		}
		i = len(f.subfields)
		f.subfields = append(f.subfields, declaredField{name: found.Name, typ: found.Type, pointer: found.Pointer})
	}
	_, err = d.add(&f.subfields[i], inner)
	return err
}

// matchOf returns the listMatch for a list with the given tags.
func matchOf(tags []tag) (m listMatch) {
	for _, t := range tags {
		switch {
		case t.name == "listMapKey":
			m.keys = append(m.keys, t.value)
		case (t.name == "listType" || t.name == "unique") && t.value == "set":
			m.byValue = true
		}
	}
	return m
}
