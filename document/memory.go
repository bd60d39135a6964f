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
	used  int // how many nodes there are, those in memory that was too small included
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
	switch {
	case cap(m.nodes) > maxScratch:
		m.nodes = nil
	case m.used > cap(m.nodes) && m.used <= maxScratch:
		m.nodes = make([]node, 0, m.used+m.used/4)
	}
	m.used = 0
}

// room returns where the nodes of the next document may be put together, so that they need
// not be copied: nowhere, without memory.
func (m *Memory) room() []node {
	if m == nil {
		return nil
	}
	return m.nodes[len(m.nodes):]
}

// keep returns the nodes of a document that have been put together: a copy of them, or if
// that was done in the memory's room, they themselves.
func (m *Memory) keep(nodes []node) []node {
	if m == nil {
		return append([]node(nil), nodes...)
	}
	m.used += len(nodes)
	if cap(nodes) == cap(m.nodes)-len(m.nodes) {
		m.nodes = m.nodes[:len(m.nodes)+len(nodes)]
	} else {
		// There was not enough room. They are in new memory; documents that
		// point to the old one keep it.
		m.nodes = nodes
	}
	return nodes[:len(nodes):len(nodes)]
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
