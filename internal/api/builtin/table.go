package builtin

import (
	"bytes"
	"compress/gzip"
	_ "embed" // types.txt.gz
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/cadastre/cadastre/internal/api/builtin/kinds"
)

//go:generate go run ./generate types.txt.gz declarative.txt

//go:embed types.txt.gz
var packedTypes []byte

// table holds all types; structs maps the OpenAPI names of structs to their types.
type table struct {
	types   []*Type
	structs map[string]*Type
}

// builtin returns the table of the types of built-in kinds, which is decoded on first use.
var builtin = sync.OnceValue(func() *table {
	t, err := readTable()
	if err != nil {
		panic(err) // unreachable: the table is embedded, and a test decodes it
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
	set := kinds.Builtin()
	if err := errors.Join(t.addCopies(set), t.readDefaults(set)); err != nil {
		return nil, err
	}
	t.findDefaults()
	return t, nil
}

// openAPINamePrefix is the prefix of the names that OpenAPI schemas give to structs of k8s.io/api. Kind files omit the prefix.
const openAPINamePrefix = "io.k8s.api."

// addCopies adds a struct for each kind that shares the fields of another struct, which the property "fields of" names.
func (t *table) addCopies(set *kinds.Set) error {
	for _, d := range set.Kinds {
		of := d.Property("fields of")
		if of.Value == "" {
			continue
		}
		original := t.structs[openAPINamePrefix+of.Value]
		if original == nil {
			return d.Errorf(of.Line, "expected the name of a struct in types.txt.gz, received %q", of.Value)
		}
		for _, name := range d.Structs(nil) {
			added := &Type{Name: openAPINamePrefix + name, GoName: original.GoName, Kind: Struct, Fields: original.Fields}
			t.types, t.structs[added.Name] = append(t.types, added), added
		}
	}
	return nil
}

// parseTypes parses the table that the generator writes. After a comment, there is a line for each type: its kind, its Go name,
// and its OpenAPI name (of a struct) or the index of its element type (of a list or map). A line for each of its fields
// follows: the JSON name, the index of its type, flags, its position in the Go struct, and the embedded structs that contain it.
// All types are allocated first, because they refer to each other.
func parseTypes(text string) (*table, error) {
	var t table
	header, text, _ := strings.Cut(text, "\n")
	if !strings.HasPrefix(header, "#") {
		return nil, fmt.Errorf("line 1: expected a comment that names the generator, received %q", header)
	}
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
			return nil, fmt.Errorf("line %d: %w", number+2, err)
		}
	}
	return &t, nil
}

func (t *table) parseType(typ *Type, line string) error {
	kind, rest, _ := strings.Cut(line, "\t")
	goName, last, _ := strings.Cut(rest, "\t")
	place := slices.Index(kindNames[:], kind)
	if place < 0 {
		return fmt.Errorf("expected a kind, received %q", kind)
	}
	typ.Kind, typ.GoName = Kind(place), goName
	switch typ.Kind {
	case Struct:
		typ.Name = last
		t.structs[last] = typ
	case List, Map:
		return t.refer(last, &typ.Elem)
	}
	return nil
}

func (t *table) appendField(fields []Field, line string) ([]Field, error) {
	name, rest, _ := strings.Cut(line, "\t")
	number, rest, _ := strings.Cut(rest, "\t")
	flags, rest, _ := strings.Cut(rest, "\t")
	position, via, _ := strings.Cut(rest, "\t")
	f := Field{Name: name, goName: name, Always: strings.Contains(flags, "a"), Pointer: strings.Contains(flags, "p")}
	if via != "" {
		f.goName = via + name
	}
	var err error
	if f.position, err = strconv.Atoi(position); err != nil {
		return nil, fmt.Errorf("expected the position of a field, received %q", position)
	}
	err = t.refer(number, &f.Type)
	return append(fields, f), err
}

// refer sets *target to the type at the index number, which is a decimal number, in the table.
func (t *table) refer(number string, target **Type) error {
	i, err := strconv.Atoi(number)
	if err != nil || i < 0 || i >= len(t.types) {
		return fmt.Errorf("expected the number of a type, received %q", number)
	}
	*target = t.types[i]
	return nil
}
