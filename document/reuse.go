package document

// memory is where the parser puts documents that are used for a short time, such as during one request. It is reused
// after Reset. A nil memory stands for new memory for every document.
type memory struct {
	nodes []node
	docs  []doc
	used  int // how many nodes there are, those in memory that was too small included
}

// ParseJSON parses a document, which is valid until Reset.
func (r *memory) ParseJSON(text string, limits Limits, base Value, sealed []string) (Value, error) {
	return parseJSON(r, text, limits, sealed, base)
}

// Reset makes the memory available for other documents. The parsed documents must not be used any more, nor must
// anything that shares parts with them. Strings stay valid, and so do the results of [Value.Clone].
func (r *memory) Reset() {
	clear(r.docs) // they keep texts alive
	r.nodes, r.docs = r.nodes[:0], r.docs[:0]
	switch {
	case cap(r.nodes) > maxScratch:
		r.nodes = nil
	case r.used > cap(r.nodes) && r.used <= maxScratch:
		r.nodes = make([]node, 0, r.used+r.used/4)
	}
	r.used = 0
}

// room returns where the nodes of the next document may be put together, so that they need
// not be copied.
func (r *memory) room() []node { return r.nodes[len(r.nodes):] }

// keep returns the nodes of a document that have been put together: a copy of them, or if
// that was done in the memory's room, they themselves.
func (r *memory) keep(nodes []node) []node {
	if r == nil {
		return append([]node(nil), nodes...)
	}
	r.used += len(nodes)
	// Whoever runs out of room makes a larger one, so that the capacity tells them apart.
	if cap(nodes) == cap(r.nodes)-len(r.nodes) {
		r.nodes = r.nodes[:len(r.nodes)+len(nodes)]
	} else {
		// There was not enough room. They are in new memory; documents that
		// point to the old one keep it.
		r.nodes = nodes
	}
	return nodes[:len(nodes):len(nodes)]
}

// Clone returns a copy that shares no memory with the document that the value is a part of.
func (v Value) Clone() Value {
	switch v.Kind() {
	case Absent:
		return v
	case Null:
		return NewNull()
	case Bool:
		return NewBool(v.Bool())
	case Number:
		return newLiteral(v.Text())
	case String:
		return NewString(v.Text())
	}
	copied, err := parseJSON(nil, v.JSON(), Limits{MaxBytes: -1}, nil, Value{})
	if err != nil {
		return NewString(v.JSON()) // sealed, with a name that occurs twice
	}
	return copied
}

// newDoc returns an empty doc.
func (r *memory) newDoc() *doc {
	if r == nil {
		return new(doc)
	}
	if len(r.docs) == cap(r.docs) {
		r.docs = make([]doc, 0, 2*cap(r.docs)+4)
	}
	r.docs = r.docs[:len(r.docs)+1]
	return &r.docs[len(r.docs)-1]
}
