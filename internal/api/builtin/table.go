package rules

import (
	"bytes"
	"compress/gzip"
	_ "embed" // types.txt.gz
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:generate go run ./generate types.txt.gz

//go:embed types.txt.gz
var packedTypes []byte

// table is all types.
type table struct {
	types   []*Type
	structs map[string]*Type
}

// builtin reads the table when it is first asked for.
var builtin = sync.OnceValue(func() *table {
	t, err := readTable()
	if err != nil {
		panic(err) // a test reads it
	}
	return t
})

func readTable() (*table, error) {
	r, err := gzip.NewReader(bytes.NewReader(packedTypes))
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	t, err := parseTypes(string(text))
	if err != nil {
		return nil, fmt.Errorf("types.txt.gz: %w", err)
	}
	if err := t.parseDefaults(defaultsText); err != nil {
		return nil, fmt.Errorf("defaults.txt: %w", err)
	}
	t.settle()
	return t, nil
}

// parseTypes reads a text such as generate writes: KIND GONAME and NAME or the number of the
// element's type, and below it the fields, each with the number of its type, flags, and the embedded
// structs that it comes from. All types come into being first, since they refer to each other.
func parseTypes(text string) (*table, error) {
	var t table
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	count := 0
	for _, line := range lines {
		if !strings.HasPrefix(line, "\t") {
			count++
		}
	}
	all := make([]Type, count)
	fields := make([]Field, 0, len(lines)-count)
	t.structs = make(map[string]*Type, count)
	for i := range all {
		t.types = append(t.types, &all[i])
	}
	next, start := 0, 0
	for number, line := range lines {
		var err error
		if rest, isField := strings.CutPrefix(line, "\t"); isField {
			fields, err = t.appendField(fields, rest)
			all[next-1].Fields = fields[start:len(fields):len(fields)]
		} else {
			err = t.parseType(&all[next], line)
			next, start = next+1, len(fields)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number+1, err)
		}
	}
	return &t, nil
}

func (t *table) parseType(to *Type, line string) error {
	kind, rest, _ := strings.Cut(line, "\t")
	goName, last, _ := strings.Cut(rest, "\t")
	place := slices.Index(kindNames[:], kind)
	if place < 0 {
		return fmt.Errorf("expected a kind, received %q", kind)
	}
	to.Kind, to.GoName = Kind(place), goName
	switch to.Kind {
	case Struct:
		to.Name = last
		t.structs[last] = to
	case List, Map:
		return t.refer(last, &to.Elem)
	}
	return nil
}

func (t *table) appendField(to []Field, line string) ([]Field, error) {
	name, rest, _ := strings.Cut(line, "\t")
	number, rest, _ := strings.Cut(rest, "\t")
	flags, via, _ := strings.Cut(rest, "\t")
	f := Field{Name: name, goName: name, Always: strings.Contains(flags, "a"), Pointer: strings.Contains(flags, "p")}
	if via != "" {
		f.goName = via + name
	}
	err := t.refer(number, &f.Type)
	return append(to, f), err
}

// refer sets to the type of that number.
func (t *table) refer(number string, to **Type) error {
	i, err := strconv.Atoi(number)
	if err != nil || i < 0 || i >= len(t.types) {
		return fmt.Errorf("expected the number of a type, received %q", number)
	}
	*to = t.types[i]
	return nil
}
