package kinds

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// CoreGroup is the name of the core group in kind files; in the API its name is empty.
const CoreGroup = "core"

// The names of the sections of a declaration. README.md documents the content of each section.
const (
	Strategy         = "strategy"
	SelectableFields = "selectable fields"
	ResetFields      = "reset fields"
	DisabledFields   = "disabled fields"
	Defaults         = "defaults"
	OneOfs           = "one-ofs"
	Validation       = "validation"
	RequestWarnings  = "request warnings"
	Warnings         = "warnings"
	StatusWarnings   = "status warnings"
	Columns          = "columns"
)

// subresourceValidation is the entry in kindNames for the sections "NAME validation" of all subresources of a kind.
const subresourceValidation = "SUBRESOURCE validation"

// ValidationOf returns the name of the section that contains the validation of writes to a subresource.
func ValidationOf(subresource string) string { return subresource + " " + Validation }

// Review is the trait of kinds such as SubjectAccessReview, whose objects are not stored and have no name.
const Review = "review"

// The names of the properties and sections of declarations, in the order in which files must contain them.
var (
	// kindNames are the names of the properties and sections of a kind.
	kindNames = []string{
		"group", "versions", "deprecated", "stored as", "also served as", "scope", "plural", "singular", "short names", "categories",
		"verbs", "acts on", "subresources", "generation", "fields of", "pod spec", "traits",
		Strategy, SelectableFields, ResetFields, DisabledFields, Defaults, OneOfs, Validation, subresourceValidation,
		RequestWarnings, Warnings, StatusWarnings, Columns,
	}
	// typeNames are the names of the properties and sections of a type.
	typeNames = []string{"structs", Defaults, OneOfs, Validation, Warnings, Columns}
	// sectionNames are the entries of kindNames that are sections; the entries before them are properties.
	sectionNames = kindNames[slices.Index(kindNames, Strategy):]
)

// Declaration is the declaration of a kind, or of a type whose rules kinds share, with its properties and unparsed sections.
type Declaration struct {
	// File and Line are the file that contains the declaration, and the number of its first line.
	File string
	Line int
	// IsKind reports whether the declaration is a kind.
	IsKind bool
	// Name is the kind, such as Deployment, or the name by which rules refer to the type.
	Name string

	properties []Property
	sections   []Section
}

// Property is a line "NAME: VALUE" of a declaration or of a section.
type Property struct {
	Name, Value string
	Line        int
}

// Section is a named section of a declaration.
type Section struct {
	Name string
	// Version is the version that the section applies to; "" for all versions of the kind.
	Version string

	file string
	line int // line is the number of the line with the section's name.

	text string
}

// Line is a line of a section.
type Line struct {
	Number int
	// Indent is the indentation level of the line within its section.
	Indent int
	Text   string
}

// Errorf returns an error about a line of the declaration's file.
func (d *Declaration) Errorf(line int, format string, args ...any) error {
	return &Error{d.File, line, fmt.Errorf(format, args...)}
}

// Errorf returns an error about a line of the section's file.
func (s *Section) Errorf(line int, format string, args ...any) error {
	return &Error{s.file, line, fmt.Errorf(format, args...)}
}

// Property returns the property with the given name. If there is none, the value of the result is "".
func (d *Declaration) Property(name string) Property {
	for _, p := range d.properties {
		if p.Name == name {
			return p
		}
	}
	return Property{Name: name, Line: d.Line}
}

// Words returns the words of a property's value.
func (p Property) Words() []string { return strings.Fields(p.Value) }

// Sections returns the sections with the given name: nil if there is none, one for all versions, or one for each version.
func (d *Declaration) Sections(name string) (found []*Section) {
	for i := range d.sections {
		if d.sections[i].Name == name {
			found = append(found, &d.sections[i])
		}
	}
	return found
}

// Group returns the API group of a kind; "" for the core group.
func (d *Declaration) Group() string {
	if group := d.Property("group").Value; group != CoreGroup {
		return group
	}
	return ""
}

// Versions returns the versions of the kind to which s applies; all versions if s is nil.
func (d *Declaration) Versions(s *Section) []string {
	if s != nil && s.Version != "" {
		return []string{s.Version}
	}
	return d.Property("versions").Words()
}

// Structs returns the names of the Go structs to which s, a section of d, applies, such as apps.v1.Deployment: for a type, the
// structs that the type declares; for a kind, its structs at the versions of the section.
func (d *Declaration) Structs(s *Section) (names []string) {
	if !d.IsKind {
		return d.Property("structs").Words()
	}
	for _, version := range d.Versions(s) {
		names = append(names, StructName(d.Group(), version, d.Name))
	}
	return names
}

// StructName returns the name of the Go struct of kind at the given version, such as apps.v1.Deployment or
// storage.v1.StorageClass (for the group storage.k8s.io).
func StructName(group, version, kind string) string {
	first, _, _ := strings.Cut(group, ".")
	if group == "" {
		first = CoreGroup
	}
	return first + "." + version + "." + kind
}

// Lines returns the lines of a section without comments and empty lines. It returns an error if an indent is invalid.
func (s *Section) Lines() (lines []Line, err error) {
	number := s.line
	for line := range strings.Lines(s.text) {
		number++
		text := strings.TrimSpace(line)
		if text == "" || text[0] == '#' {
			continue
		}
		spaces := indentOf(line)
		if spaces%4 != 0 || spaces < 8 {
			return nil, s.Errorf(number, "expected an indent of a multiple of 4 spaces and at least 8, received %d", spaces)
		}
		lines = append(lines, Line{number, spaces/4 - 2, text})
	}
	return lines, nil
}

// Properties returns the lines of a section that consists of lines "NAME: VALUE". It returns an error for other lines.
func (s *Section) Properties() (properties []Property, err error) {
	lines, err := s.Lines()
	if err != nil {
		return nil, err
	}
	for _, l := range lines {
		name, value, ok := strings.Cut(l.Text, ": ")
		if !ok || l.Indent > 0 {
			return nil, s.Errorf(l.Number, "expected NAME: VALUE, received %q", l.Text)
		}
		properties = append(properties, Property{name, strings.TrimSpace(value), l.Number})
	}
	return properties, nil
}

// parseFile splits a kind file or type file into declarations. The error joins the errors of all invalid lines; declarations
// contains the valid declarations.
func parseFile(name, text string) (declarations []*Declaration, err error) {
	p := fileParser{file: name}
	number, offset := 0, 0
	for line := range strings.Lines(text) {
		number++
		p.line(number, line, text, offset)
		offset += len(line)
	}
	for _, d := range p.declarations {
		p.errs = append(p.errs, d.checkFileName())
	}
	if kinds := slices.IndexFunc(p.declarations, func(d *Declaration) bool { return d.IsKind }); kinds != 0 && path.Ext(name) == ".kind" {
		p.errs = append(p.errs, &Error{name, 1, errors.New("expected a kind as the first declaration")})
	}
	return p.declarations, errors.Join(p.errs...)
}

// fileParser is the state of parseFile.
type fileParser struct {
	file         string
	declarations []*Declaration
	inSection    bool
	errs         []error
}

// line parses line, which begins at offset in text, the content of the file. It adds a line of a section to the section without
// parsing the line.
func (p *fileParser) line(number int, line, text string, offset int) {
	content := strings.TrimSpace(line)
	isBlank := content == "" || content[0] == '#'
	switch indent := indentOf(line); {
	case p.inSection && (isBlank || indent >= 8):
		d := p.declarations[len(p.declarations)-1]
		s := &d.sections[len(d.sections)-1]

		s.text = text[offset-len(s.text) : offset+len(line)]
	case isBlank:
	case strings.HasPrefix(line[indent:], "\t"):
		p.fail(number, "expected an indent by spaces, received a tab")
	case indent == 0:
		p.inSection = false
		p.header(number, content)
	case indent != 4:
		p.fail(number, "expected a declaration, or a property or section indented by 4 spaces, received an indent of %d", indent)
	case len(p.declarations) == 0:
		p.fail(number, "expected kind NAME or type NAME before %q", content)
	default:
		p.member(number, content)
	}
}

func (p *fileParser) fail(number int, format string, args ...any) {
	p.errs = append(p.errs, &Error{p.file, number, fmt.Errorf(format, args...)})
}

// header parses the first line of a declaration: "kind NAME" or "type NAME".
func (p *fileParser) header(number int, content string) {
	words := strings.Fields(content)
	if len(words) != 2 || words[0] != "kind" && words[0] != "type" {
		p.fail(number, "expected kind NAME or type NAME, received %q", content)
	}
	isKind := words[0] == "kind"
	if isKind && len(p.declarations) > 0 {
		p.fail(number, "expected one kind in a file, and before its types")
	}
	p.declarations = append(p.declarations, &Declaration{File: p.file, Line: number, IsKind: isKind, Name: words[len(words)-1]})
}

// member parses a property, "NAME: VALUE", or the first line of a section, "NAME:" or "NAME VERSION:".
func (p *fileParser) member(number int, content string) {
	d := p.declarations[len(p.declarations)-1]
	name, value, ok := strings.Cut(content, ":")
	if !ok {
		p.fail(number, "expected NAME: VALUE or SECTION:, received %q", content)
		return
	}
	value = strings.TrimSpace(value)
	version := ""
	if i := strings.LastIndexByte(name, ' '); i >= 0 && slices.Contains(d.Versions(nil), name[i+1:]) {
		name, version = name[:i], name[i+1:]
	}
	allowed := typeNames
	if d.IsKind {
		allowed = kindNames
	}
	place := slices.Index(allowed, d.listEntry(name))
	isSection := slices.Contains(sectionNames, d.listEntry(name))
	p.inSection = isSection
	switch {
	case place < 0:
		p.fail(number, "expected one of %q, received %q", allowed, name)
	case isSection != (value == ""):
		p.fail(number, "expected a value after the name of a property and none after the name of a section, received %q", content)
	case place < d.lastPosition(allowed):
		p.fail(number, "expected names in the order %q; move %s up", allowed, name)
	case slices.ContainsFunc(d.Sections(name), func(s *Section) bool { return s.Version == version || s.Version == "" || version == "" }),
		d.Property(name).Value != "":
		p.fail(number, "expected %s once, or once for each version", name)
	}
	if isSection {
		d.sections = append(d.sections, Section{Name: name, Version: version, file: p.file, line: number})
	} else {
		d.properties = append(d.properties, Property{name, value, number})
	}
}

// lastPosition returns the index, in the list allowed, of the last property or section of the declaration so far; -1 if the
// declaration has no property or section.
func (d *Declaration) lastPosition(allowed []string) int {
	switch {
	case len(d.sections) > 0:
		return slices.Index(allowed, d.listEntry(d.sections[len(d.sections)-1].Name))
	case len(d.properties) > 0:
		return slices.Index(allowed, d.properties[len(d.properties)-1].Name)
	}
	return -1
}

// listEntry returns the entry of kindNames for name, the name of a property or section: subresourceValidation for the
// validation of a subresource, and name itself for all other properties and sections.
func (d *Declaration) listEntry(name string) string {
	for _, subresource := range d.Property("subresources").Words() {
		if name == ValidationOf(subresource) {
			return subresourceValidation
		}
	}
	return name
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }
