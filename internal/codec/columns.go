package codec

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/cadastre/cadastre/document"
)

// columnsText has the columns of built-in kinds, and says how they are written down.
//
//go:embed columns.txt
var columnsText string

// Column is what a table says about a column.
type Column struct {
	Name, Type, Format, Description string
	// Priority is 0 for columns that everybody sees, and more for those that only some do.
	Priority int
}

// Columns say how objects of a kind become rows. They never change.
type Columns struct {
	definitions []Column
	header      []byte // the definitions as JSON
	cells       []cell
	// completed says which rows are about something that has ended.
	completed []completion
	// order compares rows of a list; nil if they come in the order of the objects.
	order func(a, b document.Value) int
	// nullRows is for tables that have null instead of no rows, as the usual columns do.
	nullRows bool
}

// completion is the condition of rows whose object has a value at a path.
type completion struct {
	path           []string
	value, message string
}

// Definitions returns the columns. They must not be changed.
func (c *Columns) Definitions() []Column { return c.definitions }

// usual is what has the columns of kinds that have none of their own.
const usual = "*"

var builtinColumns = sync.OnceValue(func() map[string]*Columns {
	all, err := parseColumns(columnsText)
	if err != nil {
		panic(err) // a test reads it
	}
	return all
})

// ColumnsOf returns the columns of a built-in kind. Kinds that have none of their own are shown by
// name and time of creation.
func ColumnsOf(group, kind string) *Columns {
	if group == "" {
		group = "core"
	}
	all := builtinColumns()
	if c := all[group+"/"+kind]; c != nil {
		return c
	}
	return all[usual]
}

// newColumns returns columns with their header.
func newColumns(c Columns) *Columns {
	c.header = append(c.header, '[')
	for i, column := range c.definitions {
		if i > 0 {
			c.header = append(c.header, ',')
		}
		c.header = column.appendJSON(c.header)
	}
	c.header = append(c.header, ']')
	return &c
}

func (c *Column) appendJSON(dst []byte) []byte {
	for _, field := range [...]struct{ opening, value string }{
		{`{"name":`, c.Name},
		{`,"type":`, c.Type},
		{`,"format":`, c.Format},
		{`,"description":`, c.Description},
	} {
		dst = append(dst, field.opening...)
		dst = document.AppendString(dst, field.value)
	}
	dst = append(dst, `,"priority":`...)
	dst = strconv.AppendInt(dst, int64(c.Priority), 10)
	return append(dst, '}')
}

// parseColumns reads columns.txt.
func parseColumns(text string) (map[string]*Columns, error) {
	all := map[string]*Columns{}
	kind, now := "", Columns{}
	done := func() {
		if kind != "" {
			now.nullRows = kind == usual
			all[kind] = newColumns(now)
		}
		now = Columns{}
	}
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimRight(line, "\n")
		switch {
		case line == "" || line[0] == '#':
		case line[0] != ' ':
			done()
			kind = line
		default:
			if err := now.parseLine(strings.TrimSpace(line)); err != nil {
				return nil, fmt.Errorf("columns.txt:%d: %w", number, err)
			}
		}
	}
	done()
	return all, nil
}

// parseLine adds what a line of a kind says.
func (c *Columns) parseLine(line string) error {
	words := strings.Fields(line)
	switch words[0] {
	case "@name":
		return c.parseColumn("Name | string:name | text .metadata.name | The name of the object.")
	case "@age":
		return c.parseColumn("Age | string | age .metadata.creationTimestamp | How long ago the object was created.")
	case "@pods":
		if len(words) != 2 {
			return fmt.Errorf("expected @pods and a path, received %q", line)
		}
		containers := words[1] + ".spec.containers"
		if err := c.parseColumn("Containers | string wide | each " + containers + " name | The containers of the pods."); err != nil {
			return err
		}
		return c.parseColumn("Images | string wide | each " + containers + " image | The images of the pods' containers.")
	case "extra":
		return c.addCell(words[1:])
	case "rows":
		return c.parseRows(line)
	}
	return c.parseColumn(line)
}

// parseRows reads what a line says about rows as such.
func (c *Columns) parseRows(line string) error {
	rule, message, _ := strings.Cut(line, " | ")
	words := strings.Fields(rule)
	switch {
	case len(words) == 4 && words[1] == "completed":
		c.completed = append(c.completed, completion{path: parsePath(words[2]), value: words[3], message: message})
		return nil
	case len(words) == 3 && words[1] == "by" && orders[words[2]] != nil:
		c.order = orders[words[2]]
		return nil
	}
	return fmt.Errorf("expected rows completed PATH VALUE or rows by NAME, received %q", line)
}

// parseColumn reads NAME | TYPE | SOURCE | DESCRIPTION.
func (c *Columns) parseColumn(line string) error {
	parts := strings.Split(line, " | ")
	if len(parts) != 4 {
		return fmt.Errorf("expected NAME | TYPE | SOURCE | DESCRIPTION, received %q", line)
	}
	column := Column{Name: parts[0], Description: parts[3]}
	typ, wide := strings.CutSuffix(parts[1], " wide")
	if wide {
		column.Priority = 1
	}
	column.Type, column.Format, _ = strings.Cut(typ, ":")
	c.definitions = append(c.definitions, column)
	return c.addCell(strings.Fields(parts[2]))
}

func (c *Columns) addCell(source []string) error {
	cell, err := parseSource(source)
	if err != nil {
		return err
	}
	c.cells = append(c.cells, cell)
	return nil
}

// parsePath reads .spec.nodeName.
func parsePath(path string) []string { return strings.Split(strings.TrimPrefix(path, "."), ".") }
