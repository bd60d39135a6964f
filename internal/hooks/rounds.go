package hooks

import "maps"

// Rounds remember who was asked, and who is to be asked again: each that wants it, and that was asked before another one
// changed the object. There are at most two.
type Rounds struct {
	isSecond bool
	// before are those who were asked since the last change and want to know of the next one; again are those who are
	// to be asked in the second round.
	before, again map[string]bool
	needed        bool
}

// asked notes that a webhook was asked.
func (r *Rounds) asked(h *hook, changed bool) {
	if changed {
		r.Changed()
	}
	if h.again {
		if r.before == nil {
			r.before = map[string]bool{}
		}
		r.before[h.id] = true
	}
}

// Changed notes that somebody changed the object.
func (r *Rounds) Changed() {
	r.needed = true
	if r.again == nil {
		r.again = map[string]bool{}
	}
	maps.Copy(r.again, r.before)
	r.before = nil
}

// Second begins the second round, if there is to be one.
func (r *Rounds) Second() bool {
	if r.isSecond || !r.needed {
		return false
	}
	r.isSecond = true
	return true
}

// IsSecond reports whether this is the second round.
func (r *Rounds) IsSecond() bool { return r.isSecond }
