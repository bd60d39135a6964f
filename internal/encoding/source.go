package encoding

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// cell appends the value of a cell of a row, as JSON, to dst. It must not fail if the object contains values of unexpected
// types.
type cell func(dst []byte, r *row) []byte

// source creates the cell of a column from the words that follow the source's name in a kind file: first paths, then arguments
// that are not paths.
type source struct {
	// paths is the expected number of paths; -1 allows one or more. others is the expected number of arguments after the paths;
	// if optional is set, the last of them may be missing.
	paths, others int
	optional      bool
	cell          func(paths [][]string, arguments []string) cell
}

var sources = map[string]source{
	"text":          {1, 1, true, textCell},
	"nonempty-text": {1, 1, false, nonemptyTextCell},
	"integer":       {1, 0, false, integerCell},
	"as-string":     {1, 1, false, asStringCell},
	"boolean":       {1, 1, true, booleanCell},
	"boolean-text":  {1, 1, false, booleanTextCell},
	"count":         {-1, 0, false, countCell},
	"ratio":         {2, 0, false, ratioCell},
	"pair":          {2, 0, false, pairCell},
	"ref":           {1, 3, true, refCell},
	"list":          {1, 1, true, listCell},
	"each":          {1, 2, true, eachCell},
	"labels":        {1, 0, false, labelsCell},
	"selector":      {1, 0, false, selectorCell},
	"quantity":      {1, 0, false, quantityCell},
	"age":           {1, 1, true, ageCell},
	"created":       {0, 0, false, createdCell},
}

// parseSource returns the cell for a source in a kind file: the name of a source followed by its arguments, or "go" followed
// by the name of a function.
func parseSource(words []string) (cell, error) {
	if len(words) == 2 && words[0] == "go" {
		if cell := functions[words[1]]; cell != nil {
			return cell, nil
		}
		return nil, fmt.Errorf("expected the name of a Go function in functions.go, received %q", words[1])
	}
	if len(words) == 0 {
		return nil, fmt.Errorf("expected the name of a source, received none")
	}
	s, ok := sources[words[0]]
	if !ok {
		return nil, fmt.Errorf("expected the name of a source, received %q", words[0])
	}
	count := s.paths
	if count < 0 {
		count = len(words) - 1
	}
	var paths [][]string
	arguments := words[1:]
	for len(arguments) > 0 && len(paths) < count {
		paths = append(paths, parsePath(arguments[0]))
		arguments = arguments[1:]
	}
	if len(paths) < max(count, 1) && s.paths != 0 || len(arguments) > s.others || len(arguments) < s.others && !s.optional {
		expected := strconv.Itoa(s.paths)
		if s.paths < 0 {
			expected = "one or more"
		}
		return nil, fmt.Errorf("source %s: expected %s paths and %d further arguments, received %q", words[0], expected, s.others, words[1:])
	}
	return s.cell(paths, arguments), nil
}

// optionalArgument returns the last argument; "" if there are fewer than maximum arguments, so that the last argument is
// missing.
func optionalArgument(arguments []string, maximum int) string {
	if len(arguments) < maximum {
		return ""
	}
	return arguments[maximum-1]
}

func textCell(paths [][]string, arguments []string) cell {
	path, absent := paths[0], optionalArgument(arguments, 1)
	return func(dst []byte, r *row) []byte {
		v := r.at(path)
		if v.Kind() != document.String {
			return document.AppendString(dst, absent)
		}
		return v.AppendJSON(dst)
	}
}

func nonemptyTextCell(paths [][]string, arguments []string) cell {
	path, empty := paths[0], arguments[0]
	return func(dst []byte, r *row) []byte { return document.AppendString(dst, nonemptyText(r.at(path), empty)) }
}

func integerCell(paths [][]string, _ []string) cell {
	path := paths[0]
	return func(dst []byte, r *row) []byte { return strconv.AppendInt(dst, integer(r.at(path)), 10) }
}

func asStringCell(paths [][]string, arguments []string) cell {
	path, absent := paths[0], arguments[0]
	return func(dst []byte, r *row) []byte {
		switch v := r.at(path); v.Kind() {
		case document.Number, document.String:
			return document.AppendString(dst, v.Text())
		}
		return document.AppendString(dst, absent)
	}
}

func booleanCell(paths [][]string, arguments []string) cell {
	path, absent := paths[0], optionalArgument(arguments, 1) == "true"
	return func(dst []byte, r *row) []byte {
		v := r.at(path)
		return strconv.AppendBool(dst, v.Bool() || v.Kind() != document.Bool && absent)
	}
}

func booleanTextCell(paths [][]string, arguments []string) cell {
	path, absent := paths[0], arguments[0]
	return func(dst []byte, r *row) []byte {
		text := absent
		if v := r.at(path); v.Kind() == document.Bool {
			text = map[bool]string{true: "True", false: "False"}[v.Bool()]
		}
		return document.AppendString(dst, text)
	}
}

func countCell(paths [][]string, _ []string) cell {
	return func(dst []byte, r *row) []byte {
		count := 0
		for _, path := range paths {
			count += r.at(path).Len()
		}
		return strconv.AppendInt(dst, int64(count), 10)
	}
}

func ratioCell(paths [][]string, _ []string) cell {
	return func(dst []byte, r *row) []byte {
		dst = append(dst, '"')
		dst = strconv.AppendInt(dst, integer(r.at(paths[0])), 10)
		dst = append(dst, '/')
		dst = strconv.AppendInt(dst, integer(r.at(paths[1])), 10)
		return append(dst, '"')
	}
}

func pairCell(paths [][]string, _ []string) cell {
	return func(dst []byte, r *row) []byte {
		return document.AppendString(dst, text(r.at(paths[0]))+"/"+text(r.at(paths[1])))
	}
}

func refCell(paths [][]string, arguments []string) cell {
	path, absent := paths[0], optionalArgument(arguments, 3)
	return func(dst []byte, r *row) []byte {
		v := r.at(path)
		if v.Kind() != document.Map {
			return document.AppendString(dst, absent)
		}
		return document.AppendString(dst, text(v.Get(arguments[0]))+"/"+text(v.Get(arguments[1])))
	}
}

func listCell(paths [][]string, arguments []string) cell {
	path, empty := paths[0], optionalArgument(arguments, 1)
	return func(dst []byte, r *row) []byte {
		joined := strings.Join(stringItems(r.at(path), ""), ",")
		if joined == "" {
			joined = empty
		}
		return document.AppendString(dst, joined)
	}
}

func eachCell(paths [][]string, arguments []string) cell {
	path, field, absent := paths[0], arguments[0], optionalArgument(arguments, 2)
	return func(dst []byte, r *row) []byte {
		v := r.at(path)
		if v.Kind() != document.List {
			return document.AppendString(dst, absent)
		}
		return document.AppendString(dst, strings.Join(stringItems(v, field), ","))
	}
}

func labelsCell(paths [][]string, _ []string) cell {
	path := paths[0]
	return func(dst []byte, r *row) []byte { return document.AppendString(dst, labelsText(r.at(path))) }
}

func selectorCell(paths [][]string, _ []string) cell {
	path := paths[0]
	return func(dst []byte, r *row) []byte { return document.AppendString(dst, selectorText(r.at(path))) }
}

func quantityCell(paths [][]string, _ []string) cell {
	path := paths[0]
	return func(dst []byte, r *row) []byte { return document.AppendString(dst, quantity(r.at(path))) }
}

func ageCell(paths [][]string, arguments []string) cell {
	path, absent := paths[0], optionalArgument(arguments, 1)
	return func(dst []byte, r *row) []byte {
		v := r.at(path)
		if absent != "" && v.Kind() != document.String {
			return document.AppendString(dst, absent)
		}
		return document.AppendString(dst, r.since(v))
	}
}

func createdCell([][]string, []string) cell {
	return func(dst []byte, r *row) []byte { return r.appendCreated(dst) }
}
