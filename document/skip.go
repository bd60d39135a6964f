package document

// SkipJSON checks the JSON value that starts at pos in the text and returns where
// it ends.
func SkipJSON(text string, pos int) (end int, err error) {
	p := newParser(text, Limits{}.withDefaults())
	defer p.release()
	p.push()
	end, failure := p.value(0, pos)
	if failure != nil {
		return pos, failure
	}
	return end, nil
}
