package fieldset

import "strings"

// Common returns the paths that a text of FieldsV1 has in common with a set, without
// reading the text as a whole: it follows the paths of the set through the text and
// steps over all else. ok is false if it meets on its way what it does not understand,
// which may also be right, such as white space; whoever reads the text finds out.
// What it steps over is not checked, nor is what comes after the set, so that ok does
// not mean that the text can be read: the caller must know that it is well formed.
func Common(text string, paths Set) (common Set, ok bool) {
	r := reader{text: text}
	kids, _, ok := r.common(paths)
	return Set{kids}, ok
}

// common reads one level of the text. It returns what of it is among the paths, and
// whether the element above is a member.
func (r *reader) common(paths Set) (kids []node, member, ok bool) {
	if !r.at('{') {
		return nil, false, false
	}
	if r.at('}') {
		return nil, true, true
	}
	some := false // an element of a known kind
	for {
		e, err := r.element()
		if err != nil || !r.at(':') {
			return nil, false, false
		}
		member = member || e == dot
		some = some || e.kind != 0
		kids, ok = r.commonBelow(kids, e, paths)
		if !ok {
			return nil, false, false
		}
		if r.at('}') {
			return kids, member || !some, true
		}
		if !r.at(',') {
			return nil, false, false
		}
	}
}

// commonBelow reads what is below an element and adds it if it is among the paths.
func (r *reader) commonBelow(kids []node, e Element, paths Set) ([]node, bool) {
	at, found := 0, false
	if e.kind != 0 {
		at, found = paths.find(e)
	}
	if !found {
		r.pos += extent(r.text[r.pos:])
		return kids, true
	}
	if outOfOrder(kids, e) {
		return nil, false
	}
	n := &paths.kids[at]
	if strings.HasPrefix(r.text[r.pos:], "{}") {
		r.pos += len("{}")
		return appendNode(kids, n, n.member, Set{}), true
	}
	below, member, ok := r.common(n.below())
	return appendNode(kids, n, n.member && member, Set{below}), ok
}

// outOfOrder reports whether an element does not come after those before it, as it
// does in what Kubernetes writes.
func outOfOrder(before []node, e Element) bool {
	return len(before) > 0 && before[len(before)-1].element().Compare(e) >= 0
}
