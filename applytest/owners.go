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

// noOwners is the text of the expectation that an object has no managedFields.
const noOwners = "none"

// managedEntry is a managed fields entry of an object.
type managedEntry struct {
	manager, operation, version, subresource string
	time                                     string
	fields                                   fieldset.Set
}

// identity returns the part of an entry's line before its fields: manager, operation, version and subresource.
func (owner managedEntry) identity() string {
	words := []string{quoteIfNeeded(owner.manager), quoteIfNeeded(owner.operation), quoteIfNeeded(owner.version)}
	if owner.subresource != "" {
		words = append(words, quoteIfNeeded(owner.subresource))
	}
	return strings.Join(words, " ")
}

// quoteIfNeeded returns word, quoted if splitWords would otherwise split it into several words.
func quoteIfNeeded(word string) string {
	if word == "" || strings.ContainsAny(word, " \t\"\\:\n") || word == noOwners {
		return strconv.Quote(word)
	}
	return word
}

// ownersOf returns the managed fields entries of object, in the order of its managedFields.
func ownersOf(object document.Value) ([]managedEntry, error) {
	var owners []managedEntry
	for i, entry := range object.Lookup("metadata", "managedFields").Items() {
		owner := managedEntry{
			manager: entry.Get("manager").Text(), operation: entry.Get("operation").Text(),
			version: entry.Get("apiVersion").Text(), subresource: entry.Get("subresource").Text(),
			time: entry.Get("time").Text(),
		}
		if fields := entry.Get("fieldsV1"); !fields.IsAbsent() {
			set, err := fieldset.ParseFieldsV1(fields.JSON())
			if err != nil {
				return nil, fmt.Errorf(".metadata.managedFields[%d].fieldsV1: %w", i, err)
			}
			owner.fields = set
		}
		owners = append(owners, owner)
	}
	return owners, nil
}

// sortOwners sorts owners in an order that does not depend on their timestamps.
func sortOwners(owners []managedEntry) {
	slices.SortStableFunc(owners, func(a, b managedEntry) int {
		return cmp.Or(cmp.Compare(a.operation, b.operation), cmp.Compare(a.manager, b.manager),
			cmp.Compare(a.version, b.version), cmp.Compare(a.subresource, b.subresource))
	})
}

// lineWidth is the maximum length of the line of a managed fields entry; a longer line is split into one line per
// field.
const lineWidth = 100

// formatOwners formats managed fields entries in the syntax that parseOwners parses.
func formatOwners(owners []managedEntry) string {
	if len(owners) == 0 {
		return noOwners + "\n"
	}
	var text strings.Builder
	for _, owner := range owners {
		line := owner.identity() + ":"
		for _, path := range pathsOf(owner.fields) {
			line += " " + path
		}
		if len(line) > lineWidth {
			line = owner.identity() + ":\n  " + strings.Join(pathsOf(owner.fields), "\n  ")
		}
		text.WriteString(line + "\n")
	}
	return text.String()
}

// pathsOf returns the paths of set as text, each path before the paths below it.
func pathsOf(set fieldset.Set) []string {
	paths := set.Paths()
	slices.SortFunc(paths, fieldset.Path.Compare)
	var texts []string
	for _, path := range paths {
		texts = append(texts, path.Quoted())
	}
	return texts
}

// parseOwners parses managed fields entries from lines such as "alice Apply v1: .data.a .data.b". Fields may continue on
// indented lines.
func parseOwners(text string) ([]managedEntry, error) {
	var owners []managedEntry
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \r\n")
		switch {
		case strings.TrimSpace(line) == "" || strings.TrimSpace(line) == noOwners:
		case line[0] == ' ' || line[0] == '\t':
			if len(owners) == 0 {
				return nil, fmt.Errorf("expected a field manager before its fields, received %q", line)
			}
			if err := owners[len(owners)-1].addFields(line); err != nil {
				return nil, err
			}
		default:
			owner, fields, err := parseOwner(line)
			if err != nil {
				return nil, err
			}
			if err := owner.addFields(fields); err != nil {
				return nil, err
			}
			owners = append(owners, owner)
		}
	}
	return owners, nil
}

// parseOwner parses the part of line before the colon as a managed fields entry, and returns the text after the colon as
// fields.
func parseOwner(line string) (owner managedEntry, fields string, err error) {
	end := indexOutside(line, ':')
	if end < 0 {
		return managedEntry{}, "", fmt.Errorf("expected a line such as %q, received %q", "alice Apply v1: .data.a .data.b", line)
	}
	words, err := splitWords(line[:end])
	if err != nil {
		return managedEntry{}, "", err
	}
	if len(words) < 3 || len(words) > 4 {
		return managedEntry{}, "", fmt.Errorf("expected manager, operation, version and optionally subresource before the colon, received %q", line[:end])
	}
	owner = managedEntry{manager: words[0], operation: words[1], version: words[2]}
	if len(words) == 4 {
		owner.subresource = words[3]
	}
	return owner, line[end+1:], nil
}

func (owner *managedEntry) addFields(text string) error {
	for text = strings.TrimLeft(text, " \t"); text != ""; text = strings.TrimLeft(text, " \t") {
		end := indexOutside(text, ' ')
		if end < 0 {
			end = len(text)
		}
		path, err := fieldset.ParsePath(text[:end])
		if err != nil {
			return fmt.Errorf("%q: %w", text[:end], err)
		}
		owner.fields, text = owner.fields.Insert(path), text[end:]
	}
	return nil
}

// indexOutside returns the byte index of the first wanted byte in text that is neither in quotes nor in brackets; -1 if
// there is none.
func indexOutside(text string, wanted byte) int {
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

func compareOwners(run *scriptRun, e *expectation, resp *serverResponse) []string {
	text, err := run.variables.expand(e.text)
	if err != nil {
		return []string{err.Error()}
	}
	expected, err := parseOwners(text)
	if err != nil {
		return []string{err.Error()}
	}
	received, err := ownersOf(resp.body)
	if err != nil {
		return []string{err.Error()}
	}
	return ownersDiffer(expected, received, e.inOrder())
}

func recordOwners(run *scriptRun, e *expectation, resp *serverResponse) (string, error) {
	owners, err := ownersOf(resp.body)
	if err != nil {
		return "", err
	}
	if !e.inOrder() {
		sortOwners(owners)
	}
	return run.maskedOwners(formatOwners(owners)), nil
}

// ownersDiffer returns the differences between the expected and the received managed fields entries, as texts for the
// report. If inOrder is set, it also compares the order of the entries.
func ownersDiffer(expected, received []managedEntry, inOrder bool) []string {
	if !inOrder {
		sortOwners(expected)
		sortOwners(received)
	}
	var complaints []string
	for _, e := range expected {
		i := indexOf(received, e)
		if i < 0 {
			complaints = append(complaints, fmt.Sprintf("%s: expected to own %s, received no such entry", e.identity(), pathList(e.fields)))
			continue
		}
		if lacks := e.fields.Difference(received[i].fields); !lacks.IsEmpty() {
			complaints = append(complaints, fmt.Sprintf("%s: expected to own %s, received an entry without these fields", e.identity(), pathList(lacks)))
		}
		if more := received[i].fields.Difference(e.fields); !more.IsEmpty() {
			complaints = append(complaints, fmt.Sprintf("%s: expected not to own %s, received an entry with these fields", e.identity(), pathList(more)))
		}
	}
	for _, r := range received {
		if indexOf(expected, r) < 0 {
			complaints = append(complaints, fmt.Sprintf("%s: expected no such entry, received an entry with %s", r.identity(), pathList(r.fields)))
		}
	}
	if names := identities(received); len(complaints) == 0 && !slices.Equal(identities(expected), names) {
		complaints = append(complaints, fmt.Sprintf("expected the order %s, received %s", strings.Join(identities(expected), ", "), strings.Join(names, ", ")))
	}
	return complaints
}

func indexOf(owners []managedEntry, owner managedEntry) int {
	return slices.IndexFunc(owners, func(other managedEntry) bool { return other.identity() == owner.identity() })
}

func identities(owners []managedEntry) []string {
	var names []string
	for _, owner := range owners {
		names = append(names, owner.identity())
	}
	return names
}

func pathList(set fieldset.Set) string {
	if set.IsEmpty() {
		return "nothing"
	}
	return strings.Join(pathsOf(set), " ")
}
