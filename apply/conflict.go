package apply

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/schema"
)

// Conflict is a field that an applier would change and that other managers own.
type Conflict struct {
	Path fieldset.Path
	// Owners are the entries of the other managers that own the field.
	Owners []Entry
	// Live is the live value; absent if an owner unset the field. Live and Wanted are valid as long as the documents
	// are.
	Live document.Value
	// Wanted is the value in the configuration; absent if it unsets the field.
	Wanted document.Value
}

// ConflictError is returned for an apply that would change fields of other managers.
type ConflictError struct {
	// Manager is the field manager that applies.
	Manager   string
	Conflicts []Conflict

	// text is what Error returns. It is made at once, as values may not be valid later.
	text string
}

func (e *ConflictError) Error() string {
	if e.text != "" {
		return e.text
	}
	return e.describe()
}

func (e *ConflictError) describe() string {
	sameManager := false
	b := make([]byte, 0, 512)
	b = append(b, "apply conflicts with other managers on "...)
	b = strconv.AppendInt(b, int64(len(e.Conflicts)), 10)
	b = append(b, plural(len(e.Conflicts), " field:", " fields:")...)
	for i, c := range e.Conflicts {
		if i == maxShownConflicts {
			b = fmt.Appendf(b, "\n- and %d more", len(e.Conflicts)-i)
			break
		}
		b = append(append(b, "\n- "...), c.Path.Quoted()...)
		b = appendDescription(append(b, ": it is "...), c.Live)
		b = appendDescription(append(b, ", you want "...), c.Wanted)
		b = append(b, "; owned by"...)
		for i, owner := range c.Owners {
			if i > 0 {
				b = append(b, " and"...)
			}
			b = owner.appendManager(append(b, ' '))
			sameManager = sameManager || owner.Manager == e.Manager
		}
	}
	b = append(b, "\nLeave the field out to let its owners keep it, apply the same value to share it, or force to take it over."...)
	if sameManager {
		b = fmt.Appendf(b, "\n%q is you: you own the field by another operation or at another endpoint; forcing moves it to this one.", e.Manager)
	}
	return string(b)
}

// maxShownConflicts is how many conflicts the text of an error has; the error has them all.
const maxShownConflicts = 50

// appendManager describes the manager of an entry.
func (e Entry) appendManager(b []byte) []byte {
	b = append(strconv.AppendQuote(b, e.Manager), " ("...)
	b = append(append(b, e.Operation...), " with "...)
	b = append(b, e.APIVersion...)
	if e.Subresource != "" {
		b = append(append(b, ", subresource "...), e.Subresource...)
	}
	if !e.Time.IsZero() {
		b = e.Time.UTC().AppendFormat(append(b, ", at "...), time.RFC3339)
	}
	return append(b, ')')
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// conflictCandidate is what one owner would lose.
type conflictCandidate struct {
	entry  Entry
	fields fieldset.Set
	changes  changesAtVersion
}

// checkConflicts returns an error unless all that owners would lose is forced.
func checkConflicts(candidates []conflictCandidate, r Request) error {
	if r.Force || len(candidates) == 0 {
		return nil
	}
	if slices.ContainsFunc(r.ForcePaths, func(p fieldset.Path) bool { return len(p) == 0 }) {
		return nil // the whole object
	}
	forced := fieldset.New(r.ForcePaths...)
	var conflicts []Conflict
	for len(candidates) > 0 {
		w := newConflictWalker(candidates[0].changes)
		candidates = slices.DeleteFunc(candidates, func(c conflictCandidate) bool { return w.add(c, forced) })
		conflicts = append(conflicts, w.conflicts()...)
	}
	if len(conflicts) == 0 {
		return nil
	}
	slices.SortStableFunc(conflicts, func(a, b Conflict) int { return a.Path.Compare(b.Path) })
	e := &ConflictError{Manager: r.Manager, Conflicts: mergeOwners(conflicts)}
	e.text = e.describe()
	return e
}

// mergeOwners makes one conflict of those that are next to each other and at the
// same path.
func mergeOwners(conflicts []Conflict) []Conflict {
	last := 0
	for _, c := range conflicts[1:] {
		if c.Path.Equal(conflicts[last].Path) {
			conflicts[last].Owners = append(slices.Clip(conflicts[last].Owners), c.Owners...)
			continue
		}
		last++
		conflicts[last] = c
	}
	return conflicts[:last+1]
}

// conflictWalker follows what the owners at one version would lose through the object before
// and after, all owners at once, and makes a conflict of each field.
type conflictWalker struct {
	changes changesAtVersion
	// entries are the owners, and sets what each would lose; lost is all of it.
	entries []Entry
	sets    []fieldset.Set
	union    fieldset.Set

	path   fieldset.Path
	frozen int // how much of path is part of a conflict, and must stay as it is
	found  []Conflict
}

func newConflictWalker(changes changesAtVersion) *conflictWalker { return &conflictWalker{changes: changes} }

// add adds what an owner would lose, unless it is forced. It returns false if that is at
// another version.
func (w *conflictWalker) add(c conflictCandidate, forced fieldset.Set) bool {
	if c.changes.before.version != w.changes.before.version {
		return false
	}
	fields := c.fields
	if !forced.IsEmpty() {
		fields = fields.Difference(fields.Covered(forced))
	}
	w.entries, w.sets = append(w.entries, c.entry), append(w.sets, fields)
	w.union = w.union.Union(fields)
	return true
}

// conflicts returns what was found, in the order of paths.
func (w *conflictWalker) conflicts() []Conflict {
	w.walk(w.changes.before.t, w.changes.before.doc, w.changes.after.doc, w.union, w.sets)
	return w.found
}

// walk looks at what is lost inside of a value.
func (w *conflictWalker) walk(t *schema.Type, before, after document.Value, fields fieldset.Set, sets []fieldset.Set) {
	if t == nil {
		t = schema.Untyped
	}
	at := len(w.path)
	var beforeArray, afterArray [16]selectedItem
	beforeItems, afterItems := selectInSetOrder(beforeArray[:0], t, before, fields), selectInSetOrder(afterArray[:0], t, after, fields)
	for i := range fields.Len() {
		e := fields.Element(i)
		child, _ := childType(t, e)
		beforeChild, afterChild := childOf(before, beforeItems, e, i), childOf(after, afterItems, e, i)
		w.descend(at, e)
		if fields.Member(i) {
			w.frozen = len(w.path)
			w.found = append(w.found, Conflict{Path: slices.Clip(w.path), Owners: w.ownersOf(e, sets), Live: beforeChild, Wanted: afterChild})
		}
		if below := fields.Child(i); !below.IsEmpty() {
			w.walk(child, beforeChild, afterChild, below, setsBelow(sets, e))
		}
	}
	w.path = w.path[:at]
}

// descend goes to an element below the first ones of the path. Paths of conflicts share
// memory with each other as far as one is the beginning of the other.
func (w *conflictWalker) descend(at int, e fieldset.Element) {
	if w.frozen > at {
		w.path, w.frozen = slices.Clone(w.path[:at]), 0
	}
	w.path = append(w.path[:at], e)
}

// ownersOf returns the owners that would lose the field of an element.
func (w *conflictWalker) ownersOf(e fieldset.Element, sets []fieldset.Set) []Entry {
	var owners []Entry
	for i, set := range sets {
		if _, member := set.Below(e); member {
			owners = append(owners, w.entries[i])
		}
	}
	return owners
}

// setsBelow returns what each set has below an element.
func setsBelow(sets []fieldset.Set, e fieldset.Element) []fieldset.Set {
	below := make([]fieldset.Set, len(sets))
	for i, set := range sets {
		below[i], _ = set.Below(e)
	}
	return below
}
