package cli

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/internal/cli/cluster"
	"github.com/cadastre/cadastre/ownership"
)

// conflict is a field that somebody else owns and that an apply would change.
type conflict struct {
	// field is the path as the server shows it.
	field string
	// path is nil if it is not among what the object's managers own.
	path             fieldset.Path
	owners           []apply.Entry
	live, configured document.Value
}

// conflictsOf are the conflicts that a server refuses an apply for; there are none if that is not why. Live is
// the object that was applied to, wanted what it would have become.
func conflictsOf(err error, manager string, live apply.Object, configured document.Value) []conflict {
	if !isApplyConflict(err) {
		return nil
	}
	var refused *cluster.Error
	errors.As(err, &refused)
	var all []conflict
	owned := ownedByOthers(manager, live)
	known := map[string]bool{}
	for _, cause := range refused.Causes {
		if cause.Reason == conflictReason && !known[cause.Field] {
			known[cause.Field] = true // there is a cause for each owner, and for each field that is shown like this
			all = append(all, resolveConflicts(cause.Field, owned[cause.Field], live, configured)...)
		}
	}
	return all
}

const conflictReason = "FieldManagerConflict"

func isApplyConflict(err error) bool {
	var refused *cluster.Error
	return errors.As(err, &refused) && refused.Code == http.StatusConflict &&
		slices.ContainsFunc(refused.Causes, func(c cluster.Cause) bool { return c.Reason == conflictReason })
}

// ownedByOthers are the fields that others than an applier own, by how servers show their paths: without quotes around
// names, so that there may be several that are shown in one way.
func ownedByOthers(manager string, live apply.Object) map[string][]conflict {
	owned := map[string][]conflict{}
	for _, e := range live.Entries {
		fields, err := e.Fields()
		if err != nil || e.Manager == manager && e.Operation == apply.Apply {
			continue
		}
		for path := range fields.All() {
			field := path.String()
			owned[field] = addConflict(owned[field], field, path, e)
		}
	}
	return owned
}

// readConflicts finds among the fields that a server shows in one way those that are meant: whose values would change.
func resolveConflicts(field string, all []conflict, live apply.Object, configured document.Value) []conflict {
	if len(all) == 0 {
		return []conflict{{field: field}}
	}
	for i, c := range all {
		all[i].live, all[i].configured = ownership.ValueAt(live.Document, c.path), configuredAt(configured, c.path)
	}
	if changed := slices.DeleteFunc(slices.Clone(all), func(c conflict) bool { return document.Equal(c.live, c.configured) }); len(changed) > 0 {
		return changed
	}
	return all
}

// wantedAt is what a configuration wants at a path: the marker, if that unsets the field, or what it is in.
func configuredAt(config document.Value, path fieldset.Path) document.Value {
	for i := range path {
		if v := ownership.ValueAt(config, path[:i+1]); isUnsetMarker(v) {
			return v
		}
	}
	return ownership.ValueAt(config, path)
}

func isUnsetMarker(v document.Value) bool {
	return v.Kind() == document.Map && v.Get(apply.UnsetMarkerKey).Text() == apply.UnsetMarkerValue
}

// shownValues are the values of both sides as people read them.
func (c conflict) formattedValues() (theirs, yours string) {
	if isUnsetMarker(c.configured) {
		return formatValue(c.live), "unset"
	}
	return formatValuePair(c.live, c.configured)
}

// addConflict notes an owner of a field.
func addConflict(all []conflict, field string, path fieldset.Path, owner apply.Entry) []conflict {
	for i, c := range all {
		if c.path.Quoted() == path.Quoted() {
			all[i].owners = append(all[i].owners, owner)
			return all
		}
	}
	return append(all, conflict{field: field, path: fieldset.New(path).Paths()[0], owners: []apply.Entry{owner}})
}

// isIn reports whether the field is at a path, or in what is there.
func (c conflict) isWithin(path fieldset.Path) bool {
	return c.path != nil && !fieldset.New(c.path).Covered(fieldset.New(path)).IsEmpty()
}

// shown is the field's path as people write it.
func (c conflict) formattedPath() string {
	if c.path == nil {
		return strings.TrimPrefix(c.field, ".")
	}
	return formatPath(c.path)
}

// waysOut is what can be done about conflicts.
const conflictHelp = `To go on, do one of these:
- leave the field out, and let its owner keep it
- apply the owner's value, and share the field
- take it over with --force-path FIELD, or all of them with --force`

// conflictsError is conflicts that are not forced.
type conflictsError struct{ conflicts []conflict }

func (e *conflictsError) Error() string {
	return fmt.Sprintf("%d %s", len(e.conflicts), plural(len(e.conflicts), "conflict", "conflicts"))
}

// print shows the conflicts as a table, and what can be done.
func (e *conflictsError) print(w io.Writer, t target, now time.Time) {
	fmt.Fprintf(w, "%s: %v\n", t, e)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "FIELD\tOWNER\tSINCE\tTHEIRS\tYOURS")
	for _, c := range e.conflicts {
		if len(c.owners) == 0 {
			fmt.Fprintf(table, "%s\t?\t?\t?\t?\n", c.formattedPath())
		}
		theirs, yours := c.formattedValues()
		for _, e := range c.owners {
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", c.formattedPath(), entryName(e), age(e, now), theirs, yours)
		}
	}
	_ = table.Flush() // as everything that is printed
	fmt.Fprintln(w, conflictHelp)
}
