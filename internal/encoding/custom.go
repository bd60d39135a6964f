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

// CustomColumn is an entry of a CustomResourceDefinition's additionalPrinterColumns.
type CustomColumn struct {
	Column
	// JSONPath is the path of the column's value in the object, such as .spec.replicas.
	JSONPath string
}

// CustomColumns returns the columns of a custom resource: its name, followed by its additional printer columns or, if there
// are none, its age. It returns an error for an invalid JSONPath.
func CustomColumns(custom []CustomColumn) (*Columns, error) {
	if len(custom) == 0 {
		custom = []CustomColumn{{
			Column:   Column{Name: "Age", Type: "date", Description: "The time since the object was created."},
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

// simplePath matches a JSONPath that consists only of field names.
var simplePath = regexp.MustCompile(`^(\.[A-Za-z_][A-Za-z0-9_-]*)+$`)

// customCell returns the cell of an additional printer column. A value that does not have the column's type is shown as null.
func customCell(column CustomColumn) (cell, error) {
	if err := jsonpath.New(column.Name).Parse("{" + column.JSONPath + "}"); err != nil {
		return nil, fmt.Errorf("column %s: JSONPath %q: %w", column.Name, column.JSONPath, err)
	}
	// A parsed JSONPath is not safe for concurrent use, so parsed paths are pooled.
	paths := &sync.Pool{New: func() any {
		path := jsonpath.New(column.Name).AllowMissingKeys(true)
		if err := path.Parse("{" + column.JSONPath + "}"); err != nil {
			panic(err) // unreachable, because the path was parsed above
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
		if v := r.at(names); isPresent(v) && v.Kind() == scalarOf[column.Type] {
			return r.appendScalar(dst, column.Type, v)
		}
		return whole(dst, r)
	}, nil
}

// scalarOf maps a column type to the kind of value that a simple path can show directly. For types that are not in the map, and
// for values of a different kind, the JSONPath is evaluated.
var scalarOf = map[string]document.Kind{
	"string":  document.String,
	"date":    document.String,
	"boolean": document.Bool,
}

// appendScalar appends v for a column with the type typ. The kind of v must be scalarOf[typ].
func (r *row) appendScalar(dst []byte, typ string, v document.Value) []byte {
	if typ == "date" {
		return document.AppendString(dst, r.customAge(v.Text()))
	}
	return v.AppendJSON(dst)
}

// appendFound appends the first value that path finds in the object; null if it finds none.
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

// appendPrinted appends a value as a JSON string, in the output format of JSONPath.
func appendPrinted(dst []byte, path *jsonpath.JSONPath, value any) []byte {
	var printed bytes.Buffer
	if err := path.PrintResults(&printed, []reflect.Value{reflect.ValueOf(value)}); err != nil {
		return append(dst, "null"...)
	}
	return document.AppendString(dst, printed.String())
}

// appendTyped appends value for a column with the type typ, which is not string; it appends null if value does not have that
// type.
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

// customAge returns the age of a timestamp; <invalid> if the timestamp is malformed.
func (r *row) customAge(s string) string {
	if s != "" && s != "null" {
		if _, err := time.Parse(time.RFC3339, s); err != nil {
			return "<invalid>"
		}
	}
	return r.since(document.NewString(s))
}

// appendFloat appends a float in the format of encoding/json. v is finite, because it was decoded from JSON.
func appendFloat(dst []byte, v float64) []byte {
	f, err := document.FromGo(v)
	if err != nil {
		return append(dst, "null"...)
	}
	return f.AppendJSON(dst)
}
