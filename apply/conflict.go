package apply

import (
	"fmt"
	"slices"
	"strings"
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
	var b strings.Builder
	itself := false
	fmt.Fprintf(&b, "apply conflicts with other managers on %d %s:", len(e.Conflicts), plural(len(e.Conflicts), "field", "fields"))
	for i, c := range e.Conflicts {
		if i == mostShown {
			fmt.Fprintf(&b, "\n- and %d more", len(e.Conflicts)-i)
			break
		}
		fmt.Fprintf(&b, "\n- %s: it is %s, you want %s; owned by", c.Path, describe(c.Live), describe(c.Wanted))
		for i, owner := range c.Owners {
			if i > 0 {
				b.WriteString(" and")
			}
			b.WriteString(" " + owner.who())
			itself = itself || owner.Manager == e.Manager
		}
	}
	b.WriteString("\nLeave the field out to let its owners keep it, apply the same value to share it, or force to take it over.")
	if itself {
		fmt.Fprintf(&b, "\n%q is you: you own the field by another operation or at another endpoint; forcing moves it to this one.", e.Manager)
	}
	return b.String()
}

// mostShown is how many conflicts the text of an error has; the error has them all.
const mostShown = 50

// who describes the manager of an entry.
func (e Entry) who() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q (%s with %s", e.Manager, e.Operation, e.APIVersion)
	if e.Subresource != "" {
		fmt.Fprintf(&b, ", subresource %s", e.Subresource)
	}
	if !e.Time.IsZero() {
		fmt.Fprintf(&b, ", at %s", e.Time.UTC().Format(time.RFC3339))
	}
	b.WriteByte(')')
	return b.String()
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
		w.owner = []Entry{c.entry}
		w.walk(c.there.was.t, c.there.was.doc, c.there.will.doc, c.fields.Difference(c.fields.Covered(forced)))
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
	wasItems, willItems := indexItems(t, was), indexItems(t, will)
	for i := range set.Len() {
		e := set.Element(i)
		child, _ := typeBelow(t, e)
		wasChild, willChild := childOf(was, wasItems, e), childOf(will, willItems, e)
		w.path = append(w.path, e)
		if set.Member(i) {
			w.conflicts = append(w.conflicts, Conflict{Path: slices.Clone(w.path), Owners: w.owner, Live: wasChild, Wanted: willChild})
		}
		if below := set.Child(i); !below.IsEmpty() {
			w.walk(child, wasChild, willChild, below)
		}
		w.path = w.path[:at]
	}
}

// indexItems indexes the items of a granular list; of all else, nothing.
func indexItems(t *schema.Type, v document.Value) index {
	if v.Kind() != document.List || t.List == nil || t.List.Relationship == schema.Atomic {
		return index{}
	}
	items, _ := elements(t.List, v)
	return newIndex(items)
}

// childOf returns the field or item that an element selects, absent if there is
// none.
func childOf(v document.Value, items index, e fieldset.Element) document.Value {
	if e.Kind() == fieldset.FieldName {
		return v.Get(e.Name())
	}
	if i := items.find(e); i >= 0 {
		return v.At(i)
	}
	return document.Value{}
}
