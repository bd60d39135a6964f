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

// Conflict is a field that an applier wants to change and that others own.
type Conflict struct {
	Path fieldset.Path
	// Owners are the entries, other than the applier's own, that have the field.
	Owners []Entry
	// Live is the value that the field has; absent if an owner wants it to be.
	Live document.Value
	// Wanted is the value that the applier wants; absent if it unsets the field.
	Wanted document.Value
}

// ConflictError is the error for an apply that would change what others own.
type ConflictError struct {
	// Manager is the applier.
	Manager   string
	Conflicts []Conflict
}

func (e *ConflictError) Error() string {
	itself := false
	b := make([]byte, 0, 512)
	b = append(b, "apply conflicts with other managers on "...)
	b = strconv.AppendInt(b, int64(len(e.Conflicts)), 10)
	b = append(b, plural(len(e.Conflicts), " field:", " fields:")...)
	for i, c := range e.Conflicts {
		if i == mostShown {
			b = fmt.Appendf(b, "\n- and %d more", len(e.Conflicts)-i)
			break
		}
		b = append(append(b, "\n- "...), c.Path.String()...)
		b = appendDescription(append(b, ": it is "...), c.Live)
		b = appendDescription(append(b, ", you want "...), c.Wanted)
		b = append(b, "; owned by"...)
		for i, owner := range c.Owners {
			if i > 0 {
				b = append(b, " and"...)
			}
			b = owner.appendWho(append(b, ' '))
			itself = itself || owner.Manager == e.Manager
		}
	}
	b = append(b, "\nLeave the field out to let its owners keep it, apply the same value to share it, or force to take it over."...)
	if itself {
		b = fmt.Appendf(b, "\n%q is you: you own the field by another operation or at another endpoint; forcing moves it to this one.", e.Manager)
	}
	return string(b)
}

// mostShown is how many conflicts the text of an error has; the error has them all.
const mostShown = 50

// appendWho describes the manager of an entry.
func (e Entry) appendWho(b []byte) []byte {
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

// conflicting is what one owner would lose.
type conflicting struct {
	entry  Entry
	fields fieldset.Set
	there  changesThere
}

// checkConflicts returns an error unless all that owners would lose is forced.
func checkConflicts(all []conflicting, r Request) error {
	if r.Force || len(all) == 0 {
		return nil
	}
	if slices.ContainsFunc(r.ForcePaths, func(p fieldset.Path) bool { return len(p) == 0 }) {
		return nil // the whole object
	}
	forced := fieldset.New(r.ForcePaths...)
	var w conflictWalker
	for _, c := range all {
		fields := c.fields
		if !forced.IsEmpty() {
			fields = fields.Difference(fields.Covered(forced))
		}
		w.owner = []Entry{c.entry}
		w.walk(c.there.was.t, c.there.was.doc, c.there.will.doc, fields)
	}
	if len(w.conflicts) == 0 {
		return nil
	}
	slices.SortStableFunc(w.conflicts, func(a, b Conflict) int { return a.Path.Compare(b.Path) })
	return &ConflictError{Manager: r.Manager, Conflicts: joinOwners(w.conflicts)}
}

// joinOwners makes one conflict of those that are next to each other and at the
// same path.
func joinOwners(conflicts []Conflict) []Conflict {
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

// conflictWalker follows a set through the object before and after, and makes a
// conflict of each of its fields.
type conflictWalker struct {
	path      fieldset.Path
	owner     []Entry
	conflicts []Conflict
}

func (w *conflictWalker) walk(t *schema.Type, was, will document.Value, set fieldset.Set) {
	if t == nil {
		t = schema.Untyped
	}
	at := len(w.path)
	var wasArray, willArray [16]selected
	wasItems, willItems := itemsOf(wasArray[:0], t, was, set), itemsOf(willArray[:0], t, will, set)
	for i := range set.Len() {
		e := set.Element(i)
		child, _ := typeBelow(t, e)
		wasChild, willChild := childOf(was, wasItems, e, i), childOf(will, willItems, e, i)
		w.path = append(w.path, e)
		if set.Member(i) {
			w.conflicts = append(w.conflicts, Conflict{Path: slices.Clone(w.path), Owners: w.owner, Live: wasChild.Detached(), Wanted: willChild.Detached()})
		}
		if below := set.Child(i); !below.IsEmpty() {
			w.walk(child, wasChild, willChild, below)
		}
		w.path = w.path[:at]
	}
}
