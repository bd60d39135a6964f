package document

// reusableParser parses documents that are used for a short time, such as during one request, into memory that is
// reused after Reset. With a nil reusableParser every document gets new memory.
type reusableParser struct {
	nodes []node
	docs  []doc
	used  int // the number of nodes of all documents since the last Reset, including nodes in slices that nodes has replaced
}

// ParseJSON parses one document, which is valid until Reset. The parameters are those of parseJSON.
func (r *reusableParser) ParseJSON(text string, limits Limits, base Value, unparsedPath []string) (Value, error) {
	return parseJSON(r, text, limits, unparsedPath, base)
}

// Reset makes the memory available for other documents. Neither the parsed documents nor values that share parts with
// them may be used afterwards. Strings stay valid, and so do the results of [Value.Clone].
func (r *reusableParser) Reset() {
	clear(r.docs) // drop the references to the texts
	r.nodes, r.docs = r.nodes[:0], r.docs[:0]
	switch {
	case cap(r.nodes) > maxScratch:
		r.nodes = nil
	case r.used > cap(r.nodes) && r.used <= maxScratch:
		r.nodes = make([]node, 0, r.used+r.used/4)
	}
	r.used = 0
}

// spareNodes returns the unused capacity of r.nodes; the parser assembles the nodes of the next document there, to
// avoid copying them.
func (r *reusableParser) spareNodes() []node { return r.nodes[len(r.nodes):] }

// keepNodes returns the nodes of a finished document for permanent use. If r is nil, nodes is scratch memory, and the
// result is a copy. If r is not nil, the result is nodes itself.
func (r *reusableParser) keepNodes(nodes []node) []node {
	if r == nil {
		return append([]node(nil), nodes...)
	}
	r.used += len(nodes)
	// A parser that runs out of capacity grows the slice, so the capacity shows whether nodes is still part of r.nodes.
	if cap(nodes) == cap(r.nodes)-len(r.nodes) {
		r.nodes = r.nodes[:len(r.nodes)+len(nodes)]
	} else {
		// The nodes are in a new slice. Documents that refer to the old slice keep it in memory.
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
		return NewString(v.JSON()) // v is unparsed, and its text has duplicate names
	}
	return copied
}

// newDoc returns an empty doc. If r is not nil, the doc is in the memory that r reuses.
func (r *reusableParser) newDoc() *doc {
	if r == nil {
		return new(doc)
	}
	if len(r.docs) == cap(r.docs) {
		r.docs = make([]doc, 0, 2*cap(r.docs)+4)
	}
	r.docs = r.docs[:len(r.docs)+1]
	return &r.docs[len(r.docs)-1]
}
