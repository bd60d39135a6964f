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
type ConflictError struct{ Conflicts []Conflict }

func (e *ConflictError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "apply conflicts with other managers on %d %s:", len(e.Conflicts), plural(len(e.Conflicts), "field", "fields"))
	for _, c := range e.Conflicts {
		fmt.Fprintf(&b, "\n- %s: it is %s, you want %s; owned by", c.Path, describe(c.Live), describe(c.Wanted))
		for i, owner := range c.Owners {
			if i > 0 {
				b.WriteString(" and")
			}
			b.WriteString(" " + owner.who())
		}
	}
	b.WriteString("\nLeave the field out to let its owners keep it, apply the same value to share it, or force to take it over.")
	return b.String()
}

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
	forced := fieldset.New(r.ForcePaths...)
	var conflicts []Conflict
	for _, c := range all {
		for p := range c.fields.Difference(c.fields.Covered(forced)).All() {
			at := slices.IndexFunc(conflicts, func(other Conflict) bool { return other.Path.Equal(p) })
			if at >= 0 {
				conflicts[at].Owners = append(conflicts[at].Owners, c.entry)
				continue
			}
			conflicts = append(conflicts, Conflict{
				Path:   slices.Clone(p),
				Owners: []Entry{c.entry},
				Live:   valueAt(c.there.was, p),
				Wanted: valueAt(c.there.will, p),
			})
		}
	}
	if len(conflicts) == 0 {
		return nil
	}
	slices.SortStableFunc(conflicts, func(a, b Conflict) int { return a.Path.Compare(b.Path) })
	return &ConflictError{Conflicts: conflicts}
}

// valueAt returns the value at a path, absent if there is none.
func valueAt(v versioned, p fieldset.Path) document.Value {
	t, doc := v.t, v.doc
	for _, e := range p {
		if t == nil {
			t = schema.Untyped
		}
		switch {
		case e.Kind() == fieldset.FieldName:
			if t.Map != nil {
				t, _ = t.Map.TypeOf(e.Name())
			}
			doc = doc.Get(e.Name())
		case t.List == nil || doc.Kind() != document.List:
			return document.Value{}
		default:
			items, _ := elements(t.List, doc)
			i := slices.Index(items, e)
			if i < 0 {
				return document.Value{}
			}
			doc, t = doc.At(i), t.List.Item
		}
	}
	return doc
}
