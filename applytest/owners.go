package applytest

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
)

// nobody is what is written where there are no managedFields.
const nobody = "nobody"

// An owner is an entry of managedFields.
type owner struct {
	manager, operation, version, subresource string
	time                                     string
	fields                                   fieldset.Set
}

// who is the owner without its fields, as a line starts.
func (o owner) who() string {
	words := []string{quoted(o.manager), quoted(o.operation), quoted(o.version)}
	if o.subresource != "" {
		words = append(words, quoted(o.subresource))
	}
	return strings.Join(words, " ")
}

// quoted writes a word so that splitWords reads it back.
func quoted(word string) string {
	if word == "" || strings.ContainsAny(word, " \t\"\\:\n") || word == nobody {
		return strconv.Quote(word)
	}
	return word
}

// ownersOf reads the managedFields of an object, in their order.
func ownersOf(object document.Value) ([]owner, error) {
	var owners []owner
	for i, entry := range object.Lookup("metadata", "managedFields").Items() {
		o := owner{
			manager: entry.Get("manager").Text(), operation: entry.Get("operation").Text(),
			version: entry.Get("apiVersion").Text(), subresource: entry.Get("subresource").Text(),
			time: entry.Get("time").Text(),
		}
		if fields := entry.Get("fieldsV1"); !fields.IsAbsent() {
			set, err := fieldset.ParseFieldsV1(fields.JSON())
			if err != nil {
				return nil, fmt.Errorf(".metadata.managedFields[%d].fieldsV1: %w", i, err)
			}
			o.fields = set
		}
		owners = append(owners, o)
	}
	return owners, nil
}

// sortOwners gives them an order that does not depend on the time.
func sortOwners(owners []owner) {
	slices.SortStableFunc(owners, func(a, b owner) int {
		return cmp.Or(cmp.Compare(a.operation, b.operation), cmp.Compare(a.manager, b.manager),
			cmp.Compare(a.version, b.version), cmp.Compare(a.subresource, b.subresource))
	})
}

// lineWidth is how long a line with an owner's fields may be; longer ones have a line for each field.
const lineWidth = 100

// formatOwners writes them as parseOwners reads them.
func formatOwners(owners []owner) string {
	if len(owners) == 0 {
		return nobody + "\n"
	}
	var text strings.Builder
	for _, o := range owners {
		line := o.who() + ":"
		for _, path := range pathsOf(o.fields) {
			line += " " + path
		}
		if len(line) > lineWidth {
			line = o.who() + ":\n  " + strings.Join(pathsOf(o.fields), "\n  ")
		}
		text.WriteString(line + "\n")
	}
	return text.String()
}

// pathsOf lists the members of a set, each before those below it.
func pathsOf(set fieldset.Set) []string {
	paths := set.Paths()
	slices.SortFunc(paths, fieldset.Path.Compare)
	var texts []string
	for _, path := range paths {
		texts = append(texts, path.Quoted())
	}
	return texts
}

// parseOwners reads lines such as "alice Apply v1: .data.a .data.b". Fields may go on in indented lines.
func parseOwners(text string) ([]owner, error) {
	var owners []owner
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \r\n")
		switch {
		case strings.TrimSpace(line) == "" || strings.TrimSpace(line) == nobody:
		case line[0] == ' ' || line[0] == '\t':
			if len(owners) == 0 {
				return nil, fmt.Errorf("expected an owner before its fields, received %q", line)
			}
			if err := owners[len(owners)-1].addFields(line); err != nil {
				return nil, err
			}
		default:
			o, fields, err := parseOwner(line)
			if err != nil {
				return nil, err
			}
			if err := o.addFields(fields); err != nil {
				return nil, err
			}
			owners = append(owners, o)
		}
	}
	return owners, nil
}

// parseOwner reads who it is, up to the colon.
func parseOwner(line string) (o owner, fields string, err error) {
	end := outside(line, ':')
	if end < 0 {
		return owner{}, "", fmt.Errorf("expected a line such as %q, received %q", "alice Apply v1: .data.a .data.b", line)
	}
	words, err := splitWords(line[:end])
	if err != nil {
		return owner{}, "", err
	}
	if len(words) < 3 || len(words) > 4 {
		return owner{}, "", fmt.Errorf("expected manager, operation, version and perhaps subresource before the colon, received %q", line[:end])
	}
	o = owner{manager: words[0], operation: words[1], version: words[2]}
	if len(words) == 4 {
		o.subresource = words[3]
	}
	return o, line[end+1:], nil
}

func (o *owner) addFields(text string) error {
	for text = strings.TrimLeft(text, " \t"); text != ""; text = strings.TrimLeft(text, " \t") {
		end := outside(text, ' ')
		if end < 0 {
			end = len(text)
		}
		path, err := fieldset.ParsePath(text[:end])
		if err != nil {
			return fmt.Errorf("%q: %w", text[:end], err)
		}
		o.fields, text = o.fields.Insert(path), text[end:]
	}
	return nil
}

// outside finds a character that is neither in quotes nor in brackets; -1 if there is none.
func outside(text string, wanted byte) int {
	depth, inQuotes := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inQuotes && c == '\\':
			i++
		case c == '"':
			inQuotes = !inQuotes
		case inQuotes:
		case c == '[':
			depth++
		case c == ']':
			depth--
		case c == wanted && depth == 0:
			return i
		}
	}
	return -1
}

func (e *expectation) inOrder() bool { return e.kind == "owners in order" }

func compareOwners(p *play, e *expectation, a *answer) []string {
	text, err := p.variables.expand(e.text)
	if err != nil {
		return []string{err.Error()}
	}
	expected, err := parseOwners(text)
	if err != nil {
		return []string{err.Error()}
	}
	received, err := ownersOf(a.body)
	if err != nil {
		return []string{err.Error()}
	}
	return ownersDiffer(expected, received, e.inOrder())
}

func recordOwners(p *play, e *expectation, a *answer) (string, error) {
	owners, err := ownersOf(a.body)
	if err != nil {
		return "", err
	}
	if !e.inOrder() {
		sortOwners(owners)
	}
	return p.maskedOwners(formatOwners(owners)), nil
}

// ownersDiffer tells how. In order means in the order of managedFields.
func ownersDiffer(expected, received []owner, inOrder bool) []string {
	if !inOrder {
		sortOwners(expected)
		sortOwners(received)
	}
	var complaints []string
	for _, e := range expected {
		i := indexOf(received, e)
		if i < 0 {
			complaints = append(complaints, fmt.Sprintf("%s: expected to own %s, is no owner", e.who(), list(e.fields)))
			continue
		}
		if lacks := e.fields.Difference(received[i].fields); !lacks.IsEmpty() {
			complaints = append(complaints, fmt.Sprintf("%s: expected to own %s, does not", e.who(), list(lacks)))
		}
		if more := received[i].fields.Difference(e.fields); !more.IsEmpty() {
			complaints = append(complaints, fmt.Sprintf("%s: owns %s, which is not expected", e.who(), list(more)))
		}
	}
	for _, r := range received {
		if indexOf(expected, r) < 0 {
			complaints = append(complaints, fmt.Sprintf("%s: owns %s, but is not expected to be an owner", r.who(), list(r.fields)))
		}
	}
	if names := namesOf(received); len(complaints) == 0 && !slices.Equal(namesOf(expected), names) {
		complaints = append(complaints, fmt.Sprintf("expected the order %s, received %s", strings.Join(namesOf(expected), ", "), strings.Join(names, ", ")))
	}
	return complaints
}

func indexOf(owners []owner, o owner) int {
	return slices.IndexFunc(owners, func(other owner) bool { return other.who() == o.who() })
}

func namesOf(owners []owner) []string {
	var names []string
	for _, o := range owners {
		names = append(names, o.who())
	}
	return names
}

func list(set fieldset.Set) string {
	if set.IsEmpty() {
		return "nothing"
	}
	return strings.Join(pathsOf(set), " ")
}
