package document

import (
	"strings"

	"github.com/cadastre/cadastre/internal/lib/access"
)

// Parsing with a base document is for texts that are expected to be similar to the base, such as a configuration and
// the live object. A list or map whose text is, byte for byte, the canonical text of the container at the same path in
// the base is not parsed; the new document shares the base's container. [Same] detects a shared container without comparing
// the contents.

// baseCursor tracks the parser's position in the base document.
type baseCursor struct {
	// value is the container of the base document at the parser's path. It is valid only while the parser's depth
	// equals depth.
	value Value
	depth int
	// shared holds the containers of the base document that the new document references.
	shared []Value
}

// newBaseCursor returns a cursor at the root of the base document. If base has no fields or items, no container can be
// shared, and the cursor matches no position.
func newBaseCursor(base Value) baseCursor {
	if base.Len() == 0 {
		return baseCursor{depth: -1}
	}
	return baseCursor{value: base, depth: 1}
}

// fieldWithBase parses the list or map at offset i, the value of the field at p.stack[slot]. If the base document has the
// same text at the same path, it shares the base's container instead.
func (p *parser) fieldWithBase(slot, i int) (end int, err *SyntaxError) {
	name := p.name(slot)
	return p.valueWithBase(slot, i, p.base.value.Get(name), name)
}

// itemWithBase parses the list item with index n, which starts at offset i. If the base document has the same text at the
// same path, it shares the base's container instead.
func (p *parser) itemWithBase(slot, i, n int) (end int, err *SyntaxError) {
	var base Value
	if p.base.value.Kind() == List && n < p.base.value.Len() {
		base = p.base.value.At(n)
	}
	return p.valueWithBase(slot, i, base, access.AnyItem)
}

// valueWithBase parses the value at offset i. base is the value at the same path in the base document, absent if that
// document has none. If the text at i starts with the canonical JSON of the container base, the new document refers to
// base and the text is not parsed.
func (p *parser) valueWithBase(slot, i int, base Value, name string) (end int, err *SyntaxError) {
	if base.form()&(canonical|unparsed) == canonical && strings.HasPrefix(p.text[i:], base.text()) {
		end = i + len(base.text())
		n := p.setSpan(slot, base.Kind(), i, end)
		n.form |= canonical | fromBase
		n.first = uint32(len(p.base.shared))
		p.base.shared = append(p.base.shared, base)
		return end, nil
	}
	outer, depth := p.base.value, p.base.depth
	p.base.value, p.base.depth = base, depth+1
	if base.Len() == 0 {
		p.base.depth = -1
	}
	if p.skip.matched == p.depth-1 {
		end, err = p.skippableValue(slot, i, name)
	} else {
		end, err = p.value(slot, i)
	}
	p.base.value, p.base.depth = outer, depth
	return end, err
}
