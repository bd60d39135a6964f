package cli

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/internal/cluster"
	"github.com/cadastre/cadastre/ownership"
)

// conflict is a field that somebody else owns and that an apply would change.
type conflict struct {
	// field is the path as the server shows it.
	field string
	// path is nil if it is not among what the object's managers own.
	path         fieldset.Path
	owners       []apply.Entry
	live, wanted document.Value
}

// conflictsOf are the conflicts that a server refuses an apply for; there are none if that is not why. Live is
// the object that was applied to, wanted what it would have become.
func conflictsOf(err error, manager string, live apply.Object, wanted document.Value) []conflict {
	var refused *cluster.Error
	if !errors.As(err, &refused) || refused.Code != http.StatusConflict {
		return nil
	}
	var all []conflict
	known := map[string]bool{}
	for _, cause := range refused.Causes {
		if cause.Reason == "FieldManagerConflict" && !known[cause.Field] {
			known[cause.Field] = true // there is a cause for each owner
			all = append(all, readConflict(cause.Field, manager, live, wanted))
		}
	}
	return all
}

// readConflict finds the field. Servers show paths without quotes around names, so that it is looked for among
// all that is owned.
func readConflict(field, manager string, live apply.Object, wanted document.Value) conflict {
	c := conflict{field: field}
	for _, e := range live.Entries {
		fields, err := e.Fields()
		if err != nil || e.Manager == manager && e.Operation == apply.Apply {
			continue
		}
		for path := range fields.All() {
			if path.String() == field {
				c.path = fieldset.New(path).Paths()[0]
				c.owners = append(c.owners, e)
			}
		}
	}
	if c.path != nil {
		c.live, c.wanted = ownership.ValueAt(live.Document, c.path), ownership.ValueAt(wanted, c.path)
	}
	return c
}

// shown is the field's path as people write it.
func (c conflict) shown() string {
	if c.path == nil {
		return strings.TrimPrefix(c.field, ".")
	}
	return shownPath(c.path)
}

// waysOut is what can be done about conflicts.
const waysOut = `To go on, do one of these:
- leave the field out, and let its owner keep it
- apply the owner's value, and share the field
- take it over with --force-path FIELD, or all of them with --force`

// printConflicts shows conflicts as a table, and what can be done.
func printConflicts(w io.Writer, conflicts []conflict, now time.Time) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "FIELD\tOWNER\tSINCE\tTHEIRS\tYOURS")
	for _, c := range conflicts {
		if len(c.owners) == 0 {
			fmt.Fprintf(table, "%s\t?\t?\t?\t?\n", c.shown())
		}
		for _, e := range c.owners {
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", c.shown(), who(e), age(e, now), shownValue(c.live), shownValue(c.wanted))
		}
	}
	_ = table.Flush() // as everything that is printed
	fmt.Fprintln(w, waysOut)
}
