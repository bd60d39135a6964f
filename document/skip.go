package document

// SkipJSON checks the JSON value that starts at pos in the text and returns where
// it ends.
func SkipJSON(text string, pos int) (end int, err error) {
	p := newParser(text, Limits{}.withDefaults())
	defer p.release()
	p.pos = pos
	p.push()
	if err := p.value(0); err != nil {
		return pos, err
	}
	return p.pos, nil
}
