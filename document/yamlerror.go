package document

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
)

// The YAML library says what is wrong with a text, but where only roughly: a line,
// often of the container around the problem, sometimes none. So a failed text is
// read again, one byte at a time: how far the library got is where it choked.

// maxRefined is the largest text for which the place of an error is worked out to
// the character, which means to read it several times more.
const maxRefined = 64 << 10

// locate turns an error of the YAML library into one with a line, a column and a
// path.
func locate(text []byte, err error) *SyntaxError {
	problem := yamlErrorPrefix.ReplaceAllString(err.Error(), "")
	offset := furthest(text)
	switch {
	case strings.Contains(problem, "end of stream"):
		offset = len(text)
	case offset <= maxRefined:
		offset = refine(text, offset, err.Error())
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

// tooDeep is what the library says of a text that nests deeper than it can read, which is a
// little deeper than documents may.
const tooDeep = "exceeded max depth of 10000"

// unknownAnchor returns the name of the anchor that the library misses.
func unknownAnchor(problem string) (name string, found bool) {
	name, found = strings.CutPrefix(problem, "unknown anchor '")
	return strings.TrimSuffix(name, "' referenced"), found
}

// furthest returns the place of the last byte that the library asked for before it
// gave up. It may have looked a few bytes ahead.
func furthest(text []byte) int {
	reader := bytes.NewReader(text)
	_, _, _ = yamlNodes(byteReader{reader})
	return len(text) - reader.Len()
}

// byteReader gives one byte at a time.
type byteReader struct{ from *bytes.Reader }

func (r byteReader) Read(to []byte) (int, error) { return r.from.Read(to[:min(len(to), 1)]) }

// refine looks, in the two lines before offset, for the first place where a text
// that ended there would have failed in the same way.
func refine(text []byte, offset int, problem string) int {
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

// yamlProblem puts what the library says about a text in words that help.
func yamlProblem(problem string, text []byte) string {
	switch problem {
	case "mapping values are not allowed in this context":
		return "a colon is not allowed here; check the indentation, or quote the value"
	case "found character that cannot start any token":
		if bytes.HasPrefix(text, []byte("\t")) {
			return "expected spaces for indentation, received a tab"
		}
		return "expected a value, received a character that can not start one; quote it"
	case "did not find expected key":
		return "expected a field name here; check the indentation and quotes"
	case "did not find expected '-' indicator":
		return "expected - and a list item here; check the indentation"
	case "found unknown escape character":
		return "expected an escape that YAML knows, such as \\n or \\u00e9, received another; single quotes need none"
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

// yamlPath tells from indentation alone in which field a place is, because a text
// that can not be read has no tree. It knows block style only, and gives the
// innermost field around a flow collection.
func yamlPath(text []byte, at place) string {
	var open []yamlLevel
	number := 0
	for content := range bytes.Lines(text) {
		if number++; number > at.line {
			break
		}
		if number == at.line {
			content = firstRunes(content, at.column)
		}
		open = yamlStep(open, strings.TrimRight(string(content), "\r\n"))
	}
	var path strings.Builder
	for _, level := range open {
		if path.Len() < maxErrorPath {
			path.WriteString(level.element())
		}
	}
	return path.String()
}

// yamlLevel is a field or item that the text is inside of; its content is indented
// more than indent.
type yamlLevel struct {
	indent int
	item   int // counts from 0; -1 in a field
	name   string
}

func (l yamlLevel) element() string {
	if l.item >= 0 {
		return "[" + strconv.Itoa(l.item) + "]"
	}
	return "." + shorten(l.name)
}

var yamlKey = regexp.MustCompile(`^("(?:[^"\\]|\\.)*"|'[^']*'|[^\s#&*!|>'"%@,\[\]{}` + "`" + `][^#]*?)\s*:(\s|$)`)

// yamlStep goes one line further.
func yamlStep(open []yamlLevel, line string) []yamlLevel {
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

// openItem closes what an item at that indentation ends. A list may stand below
// its field without being indented.
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

// flowPath follows lists and maps in flow style, as in JSON, to the end of a text, and
// returns the path of what is open there. It is for errors: of a text that is not in order it
// makes the best.
func flowPath(text string) string {
	type level struct {
		isMap bool
		index int
		key   string
		start int // where the key starts
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

// quotedEnd returns where the quoted text ends that starts at i.
func quotedEnd(text string, i int) int {
	quote := text[i]
	for i++; i < len(text) && text[i] != quote; i++ {
		if text[i] == '\\' && quote == '"' {
			i++
		}
	}
	return i
}
