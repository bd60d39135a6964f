package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/cli/cluster"
	"github.com/cadastre/cadastre/ownership"
	"github.com/cadastre/cadastre/schema"
)

type blameFlags struct {
	connection connection
	output     output
	colours    colours
	by         string
}

func blameCommand() *cobra.Command {
	var f blameFlags
	command := &cobra.Command{
		Use:   "blame TYPE NAME",
		Short: "Show the owners of each line of an object",
		Long: `Show an object as YAML. Each line starts with the field managers that own the field, their operation and
the time since their last change.

  (no owner)         no manager owns the field, as with defaults; an apply can change it without a conflict.
                     In an object without any managedFields, all fields belong to before-first-apply.
  -                  the field cannot be owned: it identifies the object, or the server maintains it
  (empty)            the owners are shown on the lines below
  (item)             the manager owns the list item, but not the field on this line
  # NAME is absent   a manager owns the field, and the object does not have it
  # NAME is a field  a manager owns the field at another API version than the one shown
  ?                  no manager owns the field at this API version; it may correspond to a field at another version

The blame of a Secret shows its values.`,
		Example: `  cadastre blame deployment web
  cadastre blame deploy/web --by manager
  cadastre blame service web -n shop -o json`,
		RunE: func(c *cobra.Command, args []string) error {
			return blame(c.Context(), f, args, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	f.connection.bind(command.Flags())
	f.output.bind(command.Flags(), "text", "json", "yaml", "name")
	f.colours.bind(command.Flags())
	command.Flags().StringVar(&f.by, "by", "line", "Group the output by `line|manager`.")
	completeObjects(command, &f.connection, 1)
	completeWords(command, "output", f.output.formats...)
	completeWords(command, "color", "auto", "always", "never")
	completeWords(command, "by", "line", "manager")
	return command
}

func blame(ctx context.Context, f blameFlags, args []string, stdout, stderr io.Writer) error {
	if err := f.output.check(); err != nil {
		return err
	}
	if f.by != "line" && f.by != "manager" {
		return &usageError{fmt.Errorf("--by: expected line or manager, received %q", f.by)}
	}
	coloured, err := f.colours.enabled(stdout)
	if err != nil {
		return err
	}
	c, t, err := f.connection.openTarget(ctx, "blame", args, stderr)
	if err != nil {
		return err
	}
	o, err := t.get(ctx, c)
	if err != nil {
		return err
	}
	if f.output.format == "name" {
		_, err := fmt.Fprintln(stdout, t)
		return err
	}
	byVersion, err := otherVersions(ctx, c, t, o)
	if err != nil {
		return err
	}
	view := blameView{w: stdout, now: time.Now(), version: o.Document.Get("apiVersion").Text(), palette: newPalette(coloured)}
	if f.by == "manager" {
		entries, err := managersOfObject(ctx, c, t, o, byVersion)
		if err != nil {
			return err
		}
		if len(entries) == 0 {
			fmt.Fprintf(stderr, "%s: %v\n", t, errNoOwners)
		}
		return f.printManagers(view, entries)
	}
	topology, err := topologyOrNil(ctx, c, t.kind)
	if err != nil {
		return err
	}
	lines, err := ownership.Blame(o, topology, slices.Collect(maps.Values(byVersion))...)
	if err != nil {
		return err
	}
	reportOtherVersions(stderr, t, lines, byVersion)
	if f.output.format != "text" {
		return f.output.print(stdout, blameValue(lines))
	}
	view.byLine(lines)
	return nil
}

func (f blameFlags) printManagers(view blameView, entries []entryFields) error {
	if f.output.format != "text" {
		return f.output.print(view.w, managersValue(entries))
	}
	view.byManager(entries)
	return nil
}

// topologyOrNil returns the merge topology of kind k. It returns nil if the server publishes no OpenAPI document, or if the
// user may not read it; it returns an error only if the server does not respond.
func topologyOrNil(ctx context.Context, c *cluster.Cluster, k cluster.Kind) (*schema.Type, error) {
	t, err := c.Topology(ctx, k)
	switch {
	case isServerLost(err):
		return nil, err
	case err != nil:
		return nil, nil
	}
	return t, nil
}

// blameView prints the field managers of an object's fields.
type blameView struct {
	w       io.Writer
	now     time.Time
	version string // apiVersion of the blamed object
	palette *palette
}

// maxLabelWidth is the maximum width of the owner column. Longer labels shift their line to the right.
const maxLabelWidth = 60

func (v blameView) byLine(lines []ownership.Line) {
	labels := make([]string, len(lines))
	width := 0
	for i, line := range lines {
		labels[i] = v.label(line)
		if n := utf8.RuneCountInString(labels[i]); n <= maxLabelWidth {
			width = max(width, n)
		}
	}
	for i, line := range lines {
		padded := labels[i] + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(labels[i])))
		first := ""
		if len(line.Owners) > 0 {
			first = line.Owners[0].Manager
		}
		fmt.Fprintf(v.w, "%s\n", strings.TrimRight(v.palette.paint(first, padded)+" | "+escapeUnprintable(line.Text), " "))
	}
}

// label returns the text of the owner column for line: the field managers that own the field or, if it has no owner, the
// state of the field.
func (v blameView) label(line ownership.Line) string {
	var parts []string
	for _, e := range line.Owners {
		parts = append(parts, v.owner(e))
	}
	for _, e := range line.ItemOwners {
		parts = append(parts, v.owner(e)+" (item)")
	}
	if len(parts) == 0 {
		switch line.State {
		case ownership.Unowned:
			return "(no owner)"
		case ownership.Untracked:
			return "-"
		case ownership.Uncertain:
			return "?"
		}
	}
	return strings.Join(parts, ", ")
}

// owner formats e with its age. If the apiVersion of e differs from the object's, owner adds it, because a path may denote
// a different field at that version.
func (v blameView) owner(e apply.Entry) string {
	text := entryName(e)
	if e.APIVersion != v.version {
		text += " " + e.APIVersion
	}
	return text + " " + age(e, v.now)
}

// blameValue returns the lines as a document for -o json and -o yaml.
func blameValue(lines []ownership.Line) document.Value {
	values := make([]document.Value, len(lines))
	for i, line := range lines {
		values[i] = document.NewMap(
			document.Field{Name: "text", Value: document.NewString(line.Text)},
			document.Field{Name: "path", Value: document.NewString(formatPath(line.Path))},
			document.Field{Name: "state", Value: document.NewString(line.State.String())},
			document.Field{Name: "owners", Value: entryValues(line.Owners)},
			document.Field{Name: "item", Value: entryValues(line.ItemOwners)},
		)
	}
	return document.NewMap(document.Field{Name: "lines", Value: document.NewList(values...)})
}
