package document

import (
	"slices"

	"github.com/cadastre/cadastre/internal/lib/scan"
)

// An unparsed value is a map or list that the parser checked but stored only as text. It can be written and compared,
// but has no fields or items. The field sets of managedFields stay unparsed because most operations do not need them;
// [Value.JSON] returns the text for a caller that parses it.
//
// The text of an unparsed value is JSON without white space. A field set as Kubernetes writes it keeps the order of its
// names; every other value is stored as canonical JSON. Empty containers are always parsed.

// isUnparsed reports whether the value is stored as text only.
func (v Value) isUnparsed() bool { return v.form()&unparsed != 0 }

// skipPath tracks how much of the path to the unparsed containers leads to the parser's position.
type skipPath struct {
	path []string
	// matched is the number of leading path elements that match the containers around the parser's position. The next
	// element can match only while the parser's depth equals matched+1.
	matched int
}

// newSkipPath returns a skipPath for a parser at the root of the document; an empty path never matches.
func newSkipPath(path []string) skipPath {
	if len(path) == 0 {
		return skipPath{matched: -1}
	}
	return skipPath{path: path}
}

// step compares the field or item at the parser's position with the next path element. name is the name of the field, and
// depth is the depth of its container. step reports whether the path ends at this field or item, whose value therefore
// stays unparsed.
func (s *skipPath) step(depth int, name string) bool {
	if depth > len(s.path) || s.path[depth-1] != name {
		return false
	}
	s.matched = depth
	return depth == len(s.path)
}

// skippableValue parses the value of the field or item name at offset i, or leaves the value unparsed if the path to the
// unparsed containers ends there.
func (p *parser) skippableValue(slot, i int, name string) (end int, err *SyntaxError) {
	matched := p.skip.matched
	if p.skip.step(p.depth, name) {
		end, err = p.skipValue(slot, i)
	} else {
		end, err = p.value(slot, i)
	}
	p.skip.matched = matched
	return end, err
}

// unparsedDepth is the number of levels that an unparsed value may nest deeper than the rest of the document. A field
// set nests one level deeper than the document that it describes, and it is itself at depth four of the document; the
// other levels are a margin.
const unparsedDepth = 16

// skipValue checks the syntax of a map or list and stores only its text. Scalars and empty containers are parsed.
func (p *parser) skipValue(slot, start int) (end int, err *SyntaxError) {
	maxDepth := p.limits.MaxDepth + unparsedDepth
	if end = skipFieldSet(p.text, start, maxDepth-p.depth); end > 0 {
		p.setSpan(slot, Map, start, end).form |= unparsed | canonical
		return end, nil
	}
	nodes, extra := len(p.nodes), len(p.extra)
	outside := p.limits.MaxDepth
	p.limits.MaxDepth = maxDepth
	end, err = p.value(slot, start)
	p.limits.MaxDepth = outside
	if err != nil {
		return end, err
	}
	n := &p.stack[slot]
	if n.count == 0 {
		return end, nil
	}
	if n.form&canonical == 0 {
		text := p.detach(*n, nodes, extra).JSON()
		n.text, n.size = uint32(len(p.extra)), uint32(len(text))
		n.form |= extraText
		p.extra = append(p.extra, text...)
	}
	n.form |= unparsed | canonical
	n.first, n.count = 0, 0
	p.nodes = p.nodes[:nodes]
	return end, nil
}

// detach returns a document of its own whose root is the container root. nodes and extra are the lengths that p.nodes and
// p.extra had before the container was parsed.
func (p *parser) detach(root node, nodes, extra int) Value {
	d := &doc{text: p.text, extra: string(p.extra[extra:]), nodes: append(slices.Clone(p.nodes[nodes:]), root)}
	for i := range d.nodes {
		n := &d.nodes[i]
		n.first -= uint32(nodes)
		if n.form&extraText != 0 {
			n.text -= uint32(extra)
		}
		if n.form&extraName != 0 {
			n.name -= uint32(extra)
		}
	}
	return Value{d, uint32(len(d.nodes) - 1)}
}

// skipFieldSet returns the end of the map that starts at pos if the map is a field set as Kubernetes writes it: maps within
// maps, no white space, and ASCII names with no escapes but \". Otherwise it returns 0.
func skipFieldSet(s string, pos, maxDepth int) (end int) {
	depth := 0
	for i := pos; i+1 < len(s); {
		// At this point i is at the start of a map.
		if s[i] != '{' || depth == maxDepth {
			return 0
		}
		i++
		if depth++; s[i] == '}' {
			if depth == 1 {
				return 0
			}
			if i, depth = skipClosing(s, i, depth); depth == 0 {
				return i
			}
			if i++; s[i-1] != ',' {
				return 0
			}
		}
		// At this point i is at the start of a name.
		if i = skipName(s, i); i == 0 {
			return 0
		}
	}
	return 0
}

// skipClosing skips consecutive closing braces from offset i on, but not more than depth braces. It returns the offset
// after these braces and the number of maps that are still open; if that number is above 0, the offset is less than len(s).
func skipClosing(s string, i, depth int) (int, int) {
	for i < len(s) && s[i] == '}' && depth > 0 {
		i++
		depth--
	}
	if i == len(s) && depth > 0 {
		return i - 1, depth // the caller finds a brace there instead of a comma and gives up
	}
	return i, depth
}

// skipName returns the offset after a quoted name and its colon, or 0 if there is none.
func skipName(s string, i int) int {
	if i >= len(s) || s[i] != '"' {
		return 0
	}
	for i = scan.PlainEnd(s, i+1); i+1 < len(s); i = scan.PlainEnd(s, i+2) {
		switch {
		case s[i] == '"' && s[i+1] == ':':
			return i + 2
		case s[i] != '\\' || s[i+1] != '"':
			return 0
		}
	}
	return 0
}

// parsed returns the value itself, or the result of parsing its text if it is unparsed.
func (v Value) parsed() Value {
	if !v.isUnparsed() {
		return v
	}
	open, err := ParseJSONLimited([]byte(v.text()), Limits{MaxBytes: -1})
	if err != nil {
		return NewString(v.text()) // the text has duplicate names
	}
	return open
}
