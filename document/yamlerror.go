package document

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
)

// The YAML library reports the line of an error only roughly: often it is the line of the container around the problem,
// sometimes there is no line. Therefore a text with an error is parsed again through a reader that returns one byte at
// a time; the number of bytes read shows where the library stopped.

// maxRefinedOffset is the maximum offset, in bytes, at which the position of an error is determined exactly, because
// that requires parsing the text several more times. At larger offsets the reported position may be a few characters
// off.
const maxRefinedOffset = 64 << 10

// locateError converts an error of the YAML library to an error with a line, a column and a path.
func locateError(text []byte, err error) *SyntaxError {
	problem := yamlErrorPrefix.ReplaceAllString(err.Error(), "")
	offset := bytesRead(text)
	switch {
	case strings.Contains(problem, "end of stream"):
		offset = len(text)
	case offset <= maxRefinedOffset:
		offset = refineOffset(text, offset, err.Error())
	default:
		offset--
	}
	if name, found := unknownAnchor(problem); found {
		offset = max(bytes.LastIndex(text[:min(offset+1, len(text))], []byte("*"+name)), 0)
	}
	at := position(string(text), offset)
	path := yamlPath(text, at)
	if problem == tooDeep {
		path += flowPath(string(text[:offset]))
	}
	return &SyntaxError{Line: at.line, Column: at.column, Path: path, Problem: yamlProblem(problem, text[offset:])}
}

// tooDeep is the YAML library's error for text that nests deeper than the library's limit, which is slightly higher
// than DefaultMaxDepth.
const tooDeep = "exceeded max depth of 10000"

// unknownAnchor returns the anchor name in the YAML library's error for an alias without anchor; found is false for
// other errors.
func unknownAnchor(problem string) (name string, found bool) {
	name, found = strings.CutPrefix(problem, "unknown anchor '")
	return strings.TrimSuffix(name, "' referenced"), found
}

// bytesRead returns the number of bytes that the YAML library reads before it fails. The library may read a few bytes
// beyond the error.
func bytesRead(text []byte) int {
	reader := bytes.NewReader(text)
	_, _, _ = yamlNodes(byteReader{reader})
	return len(text) - reader.Len()
}

// byteReader is a reader that returns at most one byte per Read, so that the YAML library does not read ahead.
type byteReader struct{ from *bytes.Reader }

func (r byteReader) Read(to []byte) (int, error) { return r.from.Read(to[:min(len(to), 1)]) }

// refineOffset returns the offset of the last byte of the shortest prefix of text for which the YAML library reports
// problem. It starts the search at the line before offset.
func refineOffset(text []byte, offset int, problem string) int {
	fails := func(end int) bool {
		_, _, err := yamlNodes(bytes.NewReader(text[:end]))
		return err != nil && err.Error() == problem
	}
	low, high := lineStart(text, lineStart(text, offset)-1), offset
	for low < high {
		middle := (low + high) / 2
		if fails(middle) {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return max(high-1, 0)
}

func lineStart(text []byte, offset int) int {
	return bytes.LastIndexByte(text[:max(offset, 0)], '\n') + 1
}

var yamlErrorPrefix = regexp.MustCompile(`^yaml: (line \d+: )?`)

// yamlProblem replaces the library's error texts with texts that name the expected input.
func yamlProblem(problem string, text []byte) string {
	switch problem {
	case "mapping values are not allowed in this context":
		return "a colon is not allowed here; check the indentation, or quote the value"
	case "found character that cannot start any token":
		if bytes.HasPrefix(text, []byte("\t")) {
			return "expected spaces for indentation, received a tab"
		}
		return "expected a value, received a character that can't start one; quote it"
	case "did not find expected key":
		return "expected a field name here; check the indentation and quotes"
	case "did not find expected '-' indicator":
		return "expected - and a list item here; check the indentation"
	case "found unknown escape character":
		return "expected an escape of YAML, such as \\n or \\u00e9, received another; single quotes need none"
	case "found unexpected end of stream":
		return "expected a closing quote, received the end of the document"
	case "did not find expected <document start>":
		return "expected the end of the document"
	case tooDeep:
		return "lists and maps are nested more than " + strconv.Itoa(DefaultMaxDepth) + " deep"
	}
	if name, found := unknownAnchor(problem); found {
		return "the alias *" + shorten(name) + " has no anchor before it"
	}
	return strings.Replace(problem, "did not find expected", "expected", 1)
}

// yamlPath returns the path of a position such as .spec.containers[0]. It is derived from the indentation alone,
// because the library returns no tree for a text with a syntax error. It supports block style only; inside of a flow
// collection it returns the path of the innermost block field.
func yamlPath(text []byte, at lineColumn) string {
	var open []yamlLevel
	number := 0
	for content := range bytes.Lines(text) {
		if number++; number > at.line {
			break
		}
		if number == at.line {
			content = firstRunes(content, at.column)
		}
		open = updateYAMLLevels(open, strings.TrimRight(string(content), "\r\n"))
	}
	var path strings.Builder
	for _, level := range open {
		if path.Len() < maxErrorPath {
			path.WriteString(level.element())
		}
	}
	return path.String()
}

// yamlLevel is a field or list item that encloses a position; the lines of its content are indented by more than
// indent.
type yamlLevel struct {
	indent int
	item   int // index in the list; -1 for a field
	name   string
}

func (l yamlLevel) element() string {
	if l.item >= 0 {
		return "[" + strconv.Itoa(l.item) + "]"
	}
	return "." + shorten(l.name)
}

var yamlKey = regexp.MustCompile(`^("(?:[^"\\]|\\.)*"|'[^']*'|[^\s#&*!|>'"%@,\[\]{}` + "`" + `][^#]*?)\s*:(\s|$)`)

// updateYAMLLevels returns the fields and items that are open after line. open contains those that are open before
// line.
func updateYAMLLevels(open []yamlLevel, line string) []yamlLevel {
	rest := strings.TrimLeft(line, " ")
	indent := len(line) - len(rest)
	if rest == "" || rest[0] == '#' || strings.HasPrefix(line, "---") {
		return open
	}
	for rest == "-" || strings.HasPrefix(rest, "- ") {
		open = openItem(open, indent)
		after := strings.TrimLeft(rest[1:], " ")
		indent += len(rest) - len(after)
		rest = after
	}
	if key := yamlKey.FindStringSubmatch(rest); key != nil {
		open = closeLevels(open, indent)
		open = append(open, yamlLevel{indent, -1, strings.Trim(key[1], `"'`)})
	} else if rest != "" {
		open = closeLevels(open, indent)
	}
	return open
}

// openItem opens a list item at the given indentation, or advances to the next item of an open list, and closes the
// levels that end there. A list may have the same indentation as its field.
func openItem(open []yamlLevel, indent int) []yamlLevel {
	for len(open) > 0 {
		last := open[len(open)-1]
		if last.indent == indent && last.item >= 0 {
			open[len(open)-1].item++
			return open
		}
		if last.indent < indent || last.indent == indent && last.item < 0 {
			break
		}
		open = open[:len(open)-1]
	}
	return append(open, yamlLevel{indent: indent})
}

// closeLevels closes the levels that a line with the given indentation ends.
func closeLevels(open []yamlLevel, indent int) []yamlLevel {
	for len(open) > 0 && open[len(open)-1].indent >= indent {
		open = open[:len(open)-1]
	}
	return open
}

func firstRunes(line []byte, count int) []byte {
	for i := range string(line) {
		if count == 0 {
			return line[:i]
		}
		count--
	}
	return line
}

// flowPath returns the path of the innermost list or map that is still open at the end of a text in flow style. It is
// used in error messages; for invalid text the path is a best guess.
func flowPath(text string) string {
	type level struct {
		isMap bool
		index int
		key   string
		start int // offset of the key
	}
	var open []level
	for i := 0; i < len(text); i++ {
		var top *level
		if len(open) > 0 {
			top = &open[len(open)-1]
		}
		switch c := text[i]; {
		case c == '"' || c == '\'':
			i = quotedEnd(text, i)
		case c == '[' || c == '{':
			open = append(open, level{isMap: c == '{', start: i + 1})
		case top == nil:
		case c == ']' || c == '}':
			open = open[:len(open)-1]
		case c == ',':
			top.index++
			top.key, top.start = "", i+1
		case c == ':' && top.isMap && top.key == "":
			top.key = strings.Trim(text[top.start:i], " \t\r\n?\"'")
		}
	}
	var path strings.Builder
	for _, l := range open {
		switch {
		case !l.isMap:
			path.WriteString("[" + strconv.Itoa(l.index) + "]")
		case l.key != "":
			path.WriteString("." + l.key)
		}
	}
	return path.String()
}

// quotedEnd returns the offset of the closing quote of the quoted text that starts at offset i, or the end of the text.
func quotedEnd(text string, i int) int {
	quote := text[i]
	for i++; i < len(text) && text[i] != quote; i++ {
		if text[i] == '\\' && quote == '"' {
			i++
		}
	}
	return i
}
