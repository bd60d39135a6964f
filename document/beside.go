package document

import (
	"strings"

	"github.com/cadastre/cadastre/internal/lib/access"
)

// Reading beside another document is for texts that are expected to be much like
// it: a configuration beside the live object, an update beside what it updates. A
// list or map whose text is, to the byte, the canonical text of what the other has
// in the same place need not be read: it is the other's, which the new document
// then shares. [Same] tells, at no cost, that it is.

// beside follows the reader through the other document.
type beside struct {
	// other is what the other document has in the place of the container that the
	// reader is in, as long as that is exactly at this depth.
	other Value
	depth int
	// shared are the containers that were found to be the other's.
	shared []Value
}

// newBeside starts at the root; without another document the reader is never beside
// it.
func newBeside(other Value) beside {
	if other.Len() == 0 {
		return beside{depth: -1}
	}
	return beside{other: other, depth: 1}
}

// besideField reads the value of the field that is on the stack, a container.
func (p *parser) besideField(at, i int) (end int, err *SyntaxError) {
	name := p.name(at)
	return p.besideValue(at, i, p.beside.other.Get(name), name)
}

// besideItem reads the n-th item of a list.
func (p *parser) besideItem(at, i, n int) (end int, err *SyntaxError) {
	var other Value
	if p.beside.other.Kind() == List && n < p.beside.other.Len() {
		other = p.beside.other.At(n)
	}
	return p.besideValue(at, i, other, access.AnyItem)
}

// besideValue reads a value in whose place the other document has one, which may be
// absent.
func (p *parser) besideValue(at, i int, other Value, name string) (end int, err *SyntaxError) {
	if other.form()&(canonical|sealed) == canonical && strings.HasPrefix(p.text[i:], other.text()) {
		end = i + len(other.text())
		n := p.span(at, other.Kind(), i, end)
		n.form |= canonical | foreign
		n.first = uint32(len(p.beside.shared))
		p.beside.shared = append(p.beside.shared, other)
		return end, nil
	}
	was, depth := p.beside.other, p.beside.depth
	p.beside.other, p.beside.depth = other, depth+1
	if other.Len() == 0 {
		p.beside.depth = -1
	}
	if p.seal.inside == p.depth-1 {
		end, err = p.sealable(at, i, name)
	} else {
		end, err = p.value(at, i)
	}
	p.beside.other, p.beside.depth = was, depth
	return end, err
}
