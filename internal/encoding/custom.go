package encoding

import (
	"bytes"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"sync"
	"time"

	"k8s.io/client-go/util/jsonpath"

	"github.com/cadastre/cadastre/document"
)

// CustomColumn is a column of a custom resource, as its definition has it.
type CustomColumn struct {
	Column
	// JSONPath is where cells come from, such as .spec.replicas.
	JSONPath string
}

// CustomColumns returns the columns of a custom resource: its name, and those that its definition
// has; its age if that has none.
func CustomColumns(custom []CustomColumn) (*Columns, error) {
	if len(custom) == 0 {
		custom = []CustomColumn{{
			Column:   Column{Name: "Age", Type: "date", Description: "How long ago the object was created."},
			JSONPath: ".metadata.creationTimestamp",
		}}
	}
	var c Columns
	if err := c.parseLine("name"); err != nil {
		return nil, err
	}
	for _, column := range custom {
		cell, err := customCell(column)
		if err != nil {
			return nil, err
		}
		definition := column.Column
		if definition.Description == "" {
			definition.Description = "Custom resource definition column (in JSONPath format): " + column.JSONPath
		}
		c.definitions = append(c.definitions, definition)
		c.cells = append(c.cells, cell)
	}
	return newColumns(c), nil
}

// simplePath is a JSONPath that only names fields.
var simplePath = regexp.MustCompile(`^(\.[A-Za-z_][A-Za-z0-9_-]*)+$`)

// customCell makes the cell of a column. What is not of the column's type is shown as null.
func customCell(column CustomColumn) (cell, error) {
	if err := jsonpath.New(column.Name).Parse("{" + column.JSONPath + "}"); err != nil {
		return nil, fmt.Errorf("column %s: JSONPath %q: %w", column.Name, column.JSONPath, err)
	}
	// A path changes while it finds something, so that everybody gets one.
	paths := &sync.Pool{New: func() any {
		path := jsonpath.New(column.Name).AllowMissingKeys(true)
		if err := path.Parse("{" + column.JSONPath + "}"); err != nil {
			panic(err) // it was parsed before
		}
		return path
	}}
	whole := func(dst []byte, r *row) []byte {
		path := paths.Get().(*jsonpath.JSONPath)
		defer paths.Put(path)
		return r.appendFound(dst, column.Type, path)
	}
	if !simplePath.MatchString(column.JSONPath) {
		return whole, nil
	}
	names := parsePath(column.JSONPath)
	return func(dst []byte, r *row) []byte {
		if v := r.at(names); present(v) && v.Kind() == scalarOf[column.Type] {
			return r.appendScalar(dst, column.Type, v)
		}
		return whole(dst, r)
	}, nil
}

// scalarOf has the kind of value that a cell of a type shows as it is; what else there may be is
// left to JSONPath.
var scalarOf = map[string]document.Kind{
	"string":  document.String,
	"date":    document.String,
	"boolean": document.Bool,
}

// appendScalar appends a value of the kind that scalarOf has for the type.
func (r *row) appendScalar(dst []byte, typ string, v document.Value) []byte {
	if typ == "date" {
		return document.AppendString(dst, r.customAge(v.Text()))
	}
	return v.AppendJSON(dst)
}

// appendFound appends what a path finds.
func (r *row) appendFound(dst []byte, typ string, path *jsonpath.JSONPath) []byte {
	if r.content == nil {
		r.content = r.object.ToGo()
	}
	results, err := path.FindResults(r.content)
	if err != nil || len(results) == 0 || len(results[0]) == 0 {
		return append(dst, "null"...)
	}
	value := results[0][0].Interface()
	if typ == "string" {
		return appendPrinted(dst, path, value)
	}
	return r.appendTyped(dst, typ, value)
}

// appendPrinted appends a value as JSONPath prints it.
func appendPrinted(dst []byte, path *jsonpath.JSONPath, value any) []byte {
	var printed bytes.Buffer
	if err := path.PrintResults(&printed, []reflect.Value{reflect.ValueOf(value)}); err != nil {
		return append(dst, "null"...)
	}
	return document.AppendString(dst, printed.String())
}

// appendTyped appends a value of a type other than string.
func (r *row) appendTyped(dst []byte, typ string, value any) []byte {
	switch v := value.(type) {
	case int64:
		switch typ {
		case "integer":
			return strconv.AppendInt(dst, v, 10)
		case "number":
			return appendFloat(dst, float64(v))
		}
	case float64:
		switch typ {
		case "integer":
			return strconv.AppendInt(dst, int64(v), 10)
		case "number":
			return appendFloat(dst, v)
		}
	case bool:
		if typ == "boolean" {
			return strconv.AppendBool(dst, v)
		}
	case string:
		if typ == "date" {
			return document.AppendString(dst, r.customAge(v))
		}
	}
	return append(dst, "null"...)
}

// customAge returns how long ago a time was that may be none.
func (r *row) customAge(s string) string {
	if s != "" && s != "null" {
		if _, err := time.Parse(time.RFC3339, s); err != nil {
			return "<invalid>"
		}
	}
	return r.since(document.NewString(s))
}

// appendFloat appends a float as encoding/json does; v is finite, for it was read from JSON.
func appendFloat(dst []byte, v float64) []byte {
	f, err := document.FromGo(v)
	if err != nil {
		return append(dst, "null"...)
	}
	return f.AppendJSON(dst)
}
