package fieldset

// Arena is memory for the sets that its Along returns, which are needed only for a short
// time. The zero Arena is ready to use, by one goroutine at a time.
type Arena struct{ nodes []node }

// Reset makes the memory free for other sets. Those that are in it must not be used any
// more, nor must their parts, nor what was made of them.
func (a *Arena) Reset() {
	clear(a.nodes) // they keep texts alive
	if a.nodes = a.nodes[:0]; cap(a.nodes) > mostScratch {
		a.nodes = nil
	}
}

// level returns room for a number of nodes, with none in it yet.
func (a *Arena) level(size int) []node {
	start := len(a.nodes)
	if start+size > cap(a.nodes) {
		// What is in the old memory stays there, as sets point to it.
		a.nodes, start = make([]node, 0, 2*cap(a.nodes)+max(size, 64)), 0
	}
	a.nodes = a.nodes[:start+size]
	return a.nodes[start : start : start+size]
}
