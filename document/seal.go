package document

import (
	"slices"

	"github.com/cadastre/cadastre/internal/lib/scan"
)

// A sealed value is a map or list that was not looked into when it was read: it
// is known only as text. It can be written and compared, but shows no fields or
// items. A kind whose objects carry a large part that most operations leave alone
// (managedFields' field sets) has that part sealed, and pays for it only when the
// part is needed: [Value.JSON] gives its text to whoever knows how to read it.
//
// Sealed text is JSON without white space, but its names stay in the order in
// which they came, whoever wrote them. Empty containers are not sealed.

// isSealed reports whether the value is known only as text.
func (v Value) isSealed() bool { return v.form()&sealed != 0 }

// seal follows the reader along the path of the sealed values.
type seal struct {
	path []string
	// inside is how many elements of path the reader is inside of; it can only be
	// the next one's turn when the reader is exactly that deep.
	inside int
}

// newSeal starts at the root; without a path the reader is never where it leads.
func newSeal(path []string) seal {
	if len(path) == 0 {
		return seal{inside: -1}
	}
	return seal{path: path}
}

// step notes that the reader, in a container at the given depth, which is where the
// path leads, comes to the field of that name. It tells whether the field is to be
// sealed.
func (s *seal) step(depth int, name string) bool {
	if depth > len(s.path) || s.path[depth-1] != name {
		return false
	}
	s.inside = depth
	return depth == len(s.path)
}

// sealable reads the value of the field of that name, sealed if it is its turn.
func (p *parser) sealable(at, i int, name string) (end int, err *SyntaxError) {
	inside := p.seal.inside
	if p.seal.step(p.depth, name) {
		end, err = p.sealedValue(at, i)
	} else {
		end, err = p.value(at, i)
	}
	p.seal.inside = inside
	return end, err
}

// sealedDepth is the number of levels that a sealed value may nest deeper than the rest of the document. A field set
// has one level for each level of the document and one for its root, and is four levels deep in the document; the
// rest is a margin.
const sealedDepth = 16

// sealedValue steps over a map or list, keeping its text; all else is read.
func (p *parser) sealedValue(at, start int) (end int, err *SyntaxError) {
	maxDepth := p.limits.MaxDepth + sealedDepth
	if end = skipSets(p.text, start, maxDepth-p.depth); end > 0 {
		p.span(at, Map, start, end).form |= sealed | canonical
		return end, nil
	}
	nodes, extra := len(p.nodes), len(p.extra)
	outside := p.limits.MaxDepth
	p.limits.MaxDepth = maxDepth
	end, err = p.value(at, start)
	p.limits.MaxDepth = outside
	if err != nil {
		return end, err
	}
	n := &p.stack[at]
	if n.count == 0 {
		return end, nil
	}
	if n.form&canonical == 0 {
		text := p.detach(*n, nodes, extra).JSON()
		n.text, n.size = uint32(len(p.extra)), uint32(len(text))
		n.form |= extraText
		p.extra = append(p.extra, text...)
	}
	n.form |= sealed | canonical
	n.first, n.count = 0, 0
	p.nodes = p.nodes[:nodes]
	return end, nil
}

// detach makes a document of a container whose parts are all that was added to
// scratch memory since it had the given sizes.
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

// skipSets returns the end of the map that starts at pos if it has the shape of a
// field set in its usual spelling: maps within maps, no white space, and names in
// ASCII whose only escapes are those of quotes. For all else it returns 0.
func skipSets(s string, pos, maxDepth int) (end int) {
	depth := 0
	for i := pos; i+1 < len(s); {
		// Here a map starts.
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
		// Here a name starts.
		if i = skipName(s, i); i == 0 {
			return 0
		}
	}
	return 0
}

// skipClosing steps over closing braces, at most depth of them. The byte after
// them exists unless all are closed.
func skipClosing(s string, i, depth int) (int, int) {
	for i < len(s) && s[i] == '}' && depth > 0 {
		i++
		depth--
	}
	if i == len(s) && depth > 0 {
		return i - 1, depth // a brace stands there, which is not the comma that must follow
	}
	return i, depth
}

// skipName returns the place after a quoted name and its colon, or 0.
func skipName(s string, i int) int {
	if i >= len(s) || s[i] != '"' {
		return 0
	}
	for i = scan.Ordinary(s, i+1); i+1 < len(s); i = scan.Ordinary(s, i+2) {
		switch {
		case s[i] == '"' && s[i+1] == ':':
			return i + 2
		case s[i] != '\\' || s[i+1] != '"':
			return 0
		}
	}
	return 0
}

// opened returns the value with its content if it is sealed.
func (v Value) opened() Value {
	if !v.isSealed() {
		return v
	}
	open, err := ParseJSONLimited([]byte(v.text()), Limits{MaxBytes: -1})
	if err != nil {
		return NewString(v.text()) // a name occurs twice
	}
	return open
}
