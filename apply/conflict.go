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

// Conflict is a field that an apply request would change and that other field managers own.
type Conflict struct {
	Path fieldset.Path
	// Owners are the managed fields entries that contain the field, except the applier's own entry.
	Owners []Entry
	// Live is the live value; absent if an owner of the field removed it with an unset marker. Live and Wanted become
	// invalid when the memory of the request's documents is reused.
	Live document.Value
	// Wanted is the value that the apply would set: the applied value, or the default of an unset field; absent if
	// the field would be removed.
	Wanted document.Value
}

// ConflictError is returned if an apply request would change fields that other managers own, and is not forced.
type ConflictError struct {
	// Manager is the field manager of the apply request.
	Manager   string
	Conflicts []Conflict

	// text is the result of Error. The engine renders it when it creates the error, because Conflict.Live and
	// Conflict.Wanted may become invalid later.
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
		b = appendDescription(append(b, ": live value is "...), c.Live)
		b = appendDescription(append(b, ", applied value is "...), c.Wanted)
		b = append(b, "; owned by"...)
		for i, owner := range c.Owners {
			if i > 0 {
				b = append(b, " and"...)
			}
			b = owner.appendManager(append(b, ' '))
			sameManager = sameManager || owner.Manager == e.Manager
		}
	}
	b = append(b, "\nTo leave a field to its owners, remove it from the configuration; to become a co-owner, apply the live value; to take it over, force."...)
	if sameManager {
		b = fmt.Appendf(b, "\n%q owns a field through an entry with another operation or subresource; force to move the field to the entry of this request.", e.Manager)
	}
	return string(b)
}

// maxShownConflicts is the maximum number of conflicts that ConflictError.Error lists. ConflictError.Conflicts is not
// truncated.
const maxShownConflicts = 50

// appendManager appends the entry's manager, operation, version, subresource and time for error messages.
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

// conflictCandidate is a managed fields entry with the subset of its fields that the apply request would change.
type conflictCandidate struct {
	entry   Entry
	fields  fieldset.Set
	changes changesAtVersion
}

// checkConflicts returns a ConflictError unless the request forces all fields of the candidates.
func checkConflicts(candidates []conflictCandidate, r Request) error {
	if r.Force || len(candidates) == 0 {
		return nil
	}
	if slices.ContainsFunc(r.ForcePaths, func(p fieldset.Path) bool { return len(p) == 0 }) {
		return nil // the empty path forces the whole object
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

// mergeOwners merges adjacent conflicts with the same path into one conflict whose Owners are the union of their
// Owners.
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

// conflictWalker walks the object before and after the apply, along the candidate fields of all entries at one
// version, and collects a Conflict for each field.
type conflictWalker struct {
	changes changesAtVersion
	// entries are the managed fields entries; sets[i] are the fields of entries[i] that conflict; union is the union of
	// sets.
	entries []Entry
	sets    []fieldset.Set
	union   fieldset.Set

	path   fieldset.Path
	frozen int // number of leading elements of path that belong to a Conflict in found, and must not be overwritten
	found  []Conflict
}

func newConflictWalker(changes changesAtVersion) *conflictWalker {
	return &conflictWalker{changes: changes}
}

// add adds the fields of a candidate that are not forced. It returns false, and adds nothing, if the candidate and the
// walker have different versions.
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

// conflicts returns all conflicts in the order of their paths.
func (w *conflictWalker) conflicts() []Conflict {
	w.walk(w.changes.before.t, w.changes.before.doc, w.changes.after.doc, w.union, w.sets)
	return w.found
}

// walk appends to w.found the conflicts below the current path. before and after are the old and the new value at the
// current path; sets contains, for each entry, its fields below the current path.
func (w *conflictWalker) walk(t *schema.Type, before, after document.Value, fields fieldset.Set, sets []fieldset.Set) {
	if t == nil {
		t = schema.Untyped
	}
	depth := len(w.path)
	var beforeArray, afterArray [16]selectedItem
	beforeItems, afterItems := selectInSetOrder(beforeArray[:0], t, before, fields), selectInSetOrder(afterArray[:0], t, after, fields)
	for i := range fields.Len() {
		e := fields.Element(i)
		child, _ := childType(t, e)
		beforeChild, afterChild := childOf(before, beforeItems, e, i), childOf(after, afterItems, e, i)
		w.descend(depth, e)
		if fields.Member(i) {
			w.frozen = len(w.path)
			w.found = append(w.found, Conflict{Path: slices.Clip(w.path), Owners: w.ownersOf(e, sets), Live: beforeChild, Wanted: afterChild})
		}
		if below := fields.Child(i); !below.IsEmpty() {
			w.walk(child, beforeChild, afterChild, below, setsBelow(sets, e))
		}
	}
	w.path = w.path[:depth]
}

// descend truncates the current path to depth elements and appends e. If e would overwrite an element that belongs to
// the path of a Conflict (see frozen), descend clones the path first.
func (w *conflictWalker) descend(depth int, e fieldset.Element) {
	if w.frozen > depth {
		w.path, w.frozen = slices.Clone(w.path[:depth]), 0
	}
	w.path = append(w.path[:depth], e)
}

// ownersOf returns the managed fields entries that own the field e below the current path: entry i owns it if e is a
// member of sets[i].
func (w *conflictWalker) ownersOf(e fieldset.Element, sets []fieldset.Set) []Entry {
	var owners []Entry
	for i, set := range sets {
		if _, member := set.Below(e); member {
			owners = append(owners, w.entries[i])
		}
	}
	return owners
}

// setsBelow returns, for each of the sets, its subset below the path element e, with paths relative to e.
func setsBelow(sets []fieldset.Set, e fieldset.Element) []fieldset.Set {
	below := make([]fieldset.Set, len(sets))
	for i, set := range sets {
		below[i], _ = set.Below(e)
	}
	return below
}
