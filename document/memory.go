package document

// Memory is where documents are read to that are needed only for a short time, such as
// while a request is answered: it is used again and again, so that reading costs no
// garbage. The zero Memory is ready to use, by one goroutine at a time.
//
//	v, err := memory.ParseJSON(text, Limits{}, Value{})
//	…
//	memory.Reset() // v is gone
type Memory struct {
	nodes []node
	docs  []doc
}

// ParseJSON does what ParseJSONBeside does; the other document may be absent. The
// document is valid until Reset.
func (m *Memory) ParseJSON(text string, limits Limits, other Value, sealed ...string) (Value, error) {
	return parseJSON(m, text, limits, sealed, other)
}

// Reset makes the memory free for other documents. Those that were read to it must not be
// used any more, nor must anything that was made of their parts: it would show parts of
// other documents.
func (m *Memory) Reset() {
	clear(m.docs) // they keep texts alive
	m.nodes, m.docs = m.nodes[:0], m.docs[:0]
	if cap(m.nodes) > maxScratch {
		m.nodes = nil
	}
}

// keep returns a copy of nodes that are in scratch memory.
func (m *Memory) keep(scratch []node) []node {
	if m == nil {
		return append([]node(nil), scratch...)
	}
	start, end := len(m.nodes), len(m.nodes)+len(scratch)
	if end > cap(m.nodes) {
		// What is in the old memory stays there, as documents point to it.
		m.nodes = make([]node, 0, 2*end)
		start, end = 0, len(scratch)
	}
	m.nodes = append(m.nodes, scratch...)
	return m.nodes[start:end:end]
}

// newDoc returns an empty doc.
func (m *Memory) newDoc() *doc {
	if m == nil {
		return new(doc)
	}
	if len(m.docs) == cap(m.docs) {
		m.docs = make([]doc, 0, 2*cap(m.docs)+4)
	}
	m.docs = m.docs[:len(m.docs)+1]
	return &m.docs[len(m.docs)-1]
}
