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

// conflict is a field that an apply would change and that another field manager owns.
type conflict struct {
	// field is the path of the field in the notation of the server's conflict message.
	field string
	// path is the parsed path; nil if no managed fields entry of the live object contains the field.
	path             fieldset.Path
	owners           []apply.Entry
	live, configured document.Value
}

// conflictsOf returns the conflicts in err, the server's response to an apply of configured by manager to the object live.
// It returns nil if err is not a conflict.
func conflictsOf(err error, manager string, live apply.Object, configured document.Value) []conflict {
	if !isApplyConflict(err) {
		return nil
	}
	var refused *cluster.Error
	errors.As(err, &refused)
	var conflicts []conflict
	owned := ownedByOthers(manager, live)
	seen := map[string]bool{}
	for _, cause := range refused.Causes {
		if cause.Reason == conflictReason && !seen[cause.Field] {
			seen[cause.Field] = true // skips repeated causes: the response has one cause per field manager, and different fields may share a notation
			conflicts = append(conflicts, resolveConflicts(cause.Field, owned[cause.Field], live, configured)...)
		}
	}
	return conflicts
}

const conflictReason = "FieldManagerConflict"

func isApplyConflict(err error) bool {
	var refused *cluster.Error
	return errors.As(err, &refused) && refused.Code == http.StatusConflict &&
		slices.ContainsFunc(refused.Causes, func(c cluster.Cause) bool { return c.Reason == conflictReason })
}

// ownedByOthers returns the fields that field managers other than the applier own, keyed by the server's path notation. That
// notation does not quote names, so several fields can share a key.
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

// resolveConflicts returns the conflicts whose values the apply would change; field is the notation of all conflicts.
// It sets the live and the configured value of each.
func resolveConflicts(field string, conflicts []conflict, live apply.Object, configured document.Value) []conflict {
	if len(conflicts) == 0 {
		return []conflict{{field: field}}
	}
	for i, c := range conflicts {
		conflicts[i].live, conflicts[i].configured = ownership.ValueAt(live.Document, c.path), configuredAt(configured, c.path)
	}
	if changed := slices.DeleteFunc(slices.Clone(conflicts), func(c conflict) bool { return document.Equal(c.live, c.configured) }); len(changed) > 0 {
		return changed
	}
	return conflicts
}

// configuredAt returns the value of config at path. If a marker unsets path or one of its parents, configuredAt returns the
// marker.
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

// formattedValues returns the live and the configured value as text.
func (c conflict) formattedValues() (live, configured string) {
	if isUnsetMarker(c.configured) {
		return formatValue(c.live), "unset"
	}
	return formatValuePair(c.live, c.configured)
}

// addConflict adds owner to the conflict at path or, if conflicts contain none at path yet, appends a new conflict. It
// returns the extended slice.
func addConflict(conflicts []conflict, field string, path fieldset.Path, owner apply.Entry) []conflict {
	for i, c := range conflicts {
		if c.path.Quoted() == path.Quoted() {
			conflicts[i].owners = append(conflicts[i].owners, owner)
			return conflicts
		}
	}
	return append(conflicts, conflict{field: field, path: fieldset.New(path).Paths()[0], owners: []apply.Entry{owner}})
}

// isWithin reports whether the field of the conflict is at path or below it.
func (c conflict) isWithin(path fieldset.Path) bool {
	return c.path != nil && !fieldset.New(c.path).Covered(fieldset.New(path)).IsEmpty()
}

// formattedPath returns the path in the notation of --force-path.
func (c conflict) formattedPath() string {
	if c.path == nil {
		return strings.TrimPrefix(c.field, ".")
	}
	return formatPath(c.path)
}

// conflictHelp lists the ways in which users can resolve a conflict.
const conflictHelp = `Resolve each conflict in one of these ways:
- remove the field from the configuration; its owner keeps it
- apply the owner's value; both managers then own the field
- take ownership with --force-path FIELD, or of all fields with --force`

// conflictsError is the error of an apply with conflicts that --force-path does not cover.
type conflictsError struct{ conflicts []conflict }

func (e *conflictsError) Error() string {
	return fmt.Sprintf("%d %s", len(e.conflicts), plural(len(e.conflicts), "conflict", "conflicts"))
}

// print writes the conflicts as a table, followed by the ways to resolve them.
func (e *conflictsError) print(w io.Writer, t target, now time.Time) {
	fmt.Fprintf(w, "%s: %v\n", t, e)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "FIELD\tOWNER\tSINCE\tTHEIRS\tYOURS")
	for _, c := range e.conflicts {
		if len(c.owners) == 0 {
			fmt.Fprintf(table, "%s\t?\t?\t?\t?\n", c.formattedPath())
		}
		live, configured := c.formattedValues()
		for _, e := range c.owners {
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", c.formattedPath(), entryName(e), age(e, now), live, configured)
		}
	}
	_ = table.Flush() // errors of writing to standard error are ignored, as for all messages
	fmt.Fprintln(w, conflictHelp)
}
