package document

// Reader reads documents that are needed only for a short time, such as while a request is
// answered: it uses its memory again and again, so that reading costs no garbage. The zero
// Reader is ready to use, by one goroutine at a time.
//
//	v, err := reader.ParseJSON(text, Limits{}, Value{})
//	…
//	reader.Reset() // v must not be used any more
type Reader struct {
	nodes []node
	docs  []doc
	used  int // how many nodes there are, those in memory that was too small included
}

// ParseJSON does what ParseJSONBeside does; the other document may be absent. The
// document is valid until Reset.
func (r *Reader) ParseJSON(text string, limits Limits, other Value, sealed ...string) (Value, error) {
	return parseJSON(r, text, limits, sealed, other)
}

// Reset makes the memory free for other documents. Those that were read must not be
// used any more, nor must anything that was made of their parts or read beside them: it would
// show parts of other documents. Strings stay as they are, and so does what [Value.Detached]
// returned.
func (r *Reader) Reset() {
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
func (r *Reader) room() []node { return r.nodes[len(r.nodes):] }

// keep returns the nodes of a document that have been put together: a copy of them, or if
// that was done in the Reader's room, they themselves.
func (r *Reader) keep(nodes []node) []node {
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

// Detached returns a copy that shares nothing with the document that the value is of.
func (v Value) Detached() Value {
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
func (r *Reader) newDoc() *doc {
	if r == nil {
		return new(doc)
	}
	if len(r.docs) == cap(r.docs) {
		r.docs = make([]doc, 0, 2*cap(r.docs)+4)
	}
	r.docs = r.docs[:len(r.docs)+1]
	return &r.docs[len(r.docs)-1]
}
