package encoding

import (
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api/builtin/kinds"
)

// Column is the definition of a column of a Table.
type Column struct {
	Name, Type, Format, Description string
	// Priority is 0 for columns that are always shown, and greater for columns that are shown only in wide output.
	Priority int
}

// Columns convert the objects of a kind to rows of a Table. A Columns is immutable.
type Columns struct {
	definitions []Column
	header      []byte // the column definitions as JSON
	cells       []cell
	// completed lists the rules by which a row gets the condition Completed.
	completed []completion
	// order returns the sort key of a row in a list; it is nil if the rows are in the order of the objects.
	order func(r *row) sortKey
	// nullRows makes the rows of an empty table null instead of an empty list, as Kubernetes does for the default columns.
	nullRows bool
}

// completion is a rule that determines rows with the condition Completed: if the object has the given value at path, the row
// has that condition with the given message.
type completion struct {
	path           []string
	value, message string
}

// Definitions returns the column definitions. The caller must not modify them.
func (c *Columns) Definitions() []Column { return c.definitions }

// defaultColumns is the key in builtinColumns of the columns for kinds that declare none.
const defaultColumns = "Object"

// builtinColumns returns the columns of the built-in kinds, keyed by group and kind, such as apps/Deployment. They are parsed
// on first use.
var builtinColumns = sync.OnceValue(func() map[string]*Columns {
	all, err := readColumns(kinds.Builtin())
	if err != nil {
		panic(err) // unreachable, because a test parses all kind files
	}
	return all
})

// ColumnsOf returns the columns of a built-in kind, or the default columns (name and creation time) if it declares none.
func ColumnsOf(group, kind string) *Columns {
	all := builtinColumns()
	if c := all[columnsKey(group, kind)]; c != nil {
		return c
	}
	return all[defaultColumns]
}

func columnsKey(group, kind string) string { return group + "/" + kind }

// newColumns returns a copy of c with its header, the column definitions as JSON.
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

// readColumns parses the columns sections of all kind files; its result is that of builtinColumns.
func readColumns(set *kinds.Set) (map[string]*Columns, error) {
	all := map[string]*Columns{}
	for _, d := range set.All() {
		for _, s := range d.Sections(kinds.Columns) {
			lines, err := s.Lines()
			if err != nil {
				return nil, err
			}
			c := Columns{nullRows: d.Name == defaultColumns}
			for _, l := range lines {
				if err := c.parseLine(l.Text); err != nil {
					return nil, s.Errorf(l.Number, "%w", err)
				}
			}
			columns := newColumns(c)
			for _, key := range keysOf(d) {
				all[key] = columns
			}
		}
	}
	return all, nil
}

// keysOf returns the keys in builtinColumns for d, a declaration in a kind file. The types of subresource bodies, such as
// Scale, have one key per Go struct; the group in the key is the first part of the struct's name.
func keysOf(d *kinds.Declaration) (keys []string) {
	if d.IsKind {
		return []string{columnsKey(d.Group(), d.Name)}
	}
	for _, name := range d.Structs(nil) {
		parts := strings.Split(name, ".")
		keys = append(keys, columnsKey(parts[0], parts[len(parts)-1]))
	}
	if len(keys) == 0 {
		keys = []string{d.Name}
	}
	return keys
}

// parseLine parses a line of a columns section: a column (see parseColumn), or one of
//
//	name                           the object's name
//	age                            its age
//	pods PATH                      the containers and images of the pod template at the path
//	hidden SOURCE                  a cell without a column definition
//	completed PATH VALUE "MESSAGE" rows with the value at the path have the condition Completed
//	sort rows by NAME              the order of rows in lists
func (c *Columns) parseLine(line string) error {
	words := strings.Fields(line)
	switch {
	case line == "name":
		return c.parseColumn("Name | string:name | text metadata.name | The name of the object.")
	case line == "age":
		return c.parseColumn("Age | string | age metadata.creationTimestamp | The time since the object was created.")
	case words[0] == "pods" && len(words) == 2:
		containers := words[1] + ".spec.containers"
		if err := c.parseColumn("Containers | string wide | each " + containers + " name | The containers of the pods."); err != nil {
			return err
		}
		return c.parseColumn("Images | string wide | each " + containers + " image | The images of the pods' containers.")
	case words[0] == "hidden":
		return c.addCell(words[1:])
	case words[0] == "completed":
		return c.parseCompleted(line)
	case strings.HasPrefix(line, "sort rows by "):
		name := strings.TrimPrefix(line, "sort rows by ")
		if c.order = orders[name]; c.order == nil {
			return fmt.Errorf("expected the name of a row order, received %q", name)
		}
		return nil
	}
	return c.parseColumn(line)
}

// parseCompleted parses a line of the form: completed PATH VALUE "MESSAGE".
func (c *Columns) parseCompleted(line string) error {
	rule, quoted, _ := strings.Cut(line, ` "`)
	words := strings.Fields(rule)
	message, err := strconv.Unquote(`"` + quoted)
	if len(words) != 3 || err != nil {
		return fmt.Errorf("expected completed PATH VALUE \"MESSAGE\", received %q", line)
	}
	c.completed = append(c.completed, completion{path: parsePath(words[1]), value: words[2], message: message})
	return nil
}

// parseColumn parses a line of the form: NAME | TYPE | SOURCE | DESCRIPTION.
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

// parsePath splits a path such as spec.nodeName or, as in JSONPath, .spec.nodeName into its field names.
func parsePath(path string) []string { return strings.Split(strings.TrimPrefix(path, "."), ".") }
