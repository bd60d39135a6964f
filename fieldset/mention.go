package fieldset

import "strings"

// Mentions reports whether a text of FieldsV1 has any of the given paths, as a
// member or because of something below it. It follows the paths through the text
// and steps over all else, so that a set that has nothing to do with them need not
// be read. Where it meets what it does not understand it answers yes: whoever then
// reads the text finds the error.
func Mentions(text string, paths Set) bool {
	r := reader{text: text}
	return r.mentions(paths)
}

func (r *reader) mentions(paths Set) bool {
	if len(paths.kids) == 0 {
		return false
	}
	if !r.at('{') {
		return true
	}
	if r.at('}') {
		return false
	}
	for {
		e, err := r.element()
		if err != nil || !r.at(':') {
			return true
		}
		at, found := 0, false
		if e.kind != 0 {
			at, found = paths.find(e)
		}
		switch {
		case found && paths.kids[at].member:
			return true
		case found && !strings.HasPrefix(r.text[r.pos:], "{}"):
			if r.mentions(paths.kids[at].below()) {
				return true
			}
		default:
			r.pos += extent(r.text[r.pos:])
		}
		if r.at('}') {
			return false
		}
		if !r.at(',') {
			return true
		}
	}
}
