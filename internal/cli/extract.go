package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/cli/cluster"
	"github.com/cadastre/cadastre/ownership"
)

type extractFlags struct {
	connection           connection
	output               output
	manager, subresource string
}

func extractCommand() *cobra.Command {
	var f extractFlags
	command := &cobra.Command{
		Use:   "extract TYPE NAME --manager MANAGER",
		Short: "Show the configuration that a field manager owns",
		Long: `Show the configuration whose apply by the manager is a no-op: the fields that it owns with their live values, and
unset markers for absent fields that it owns.`,
		Example: `  cadastre extract deployment web --manager ci >web.yaml
  cadastre extract deployment web --manager hpa --subresource scale`,
		RunE: func(c *cobra.Command, args []string) error {
			return extract(c.Context(), f, args, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	f.connection.bind(command.Flags())
	f.output.bind(command.Flags(), "yaml", "json", "name")
	command.Flags().StringVar(&f.manager, "manager", "", "The `name` of the field manager. Required.")
	command.Flags().StringVar(&f.subresource, "subresource", "", "The `subresource` at which the manager owns the fields.")
	completeObjects(command, &f.connection, 1, "manager")
	completeWords(command, "output", f.output.formats...)
	return command
}

func extract(ctx context.Context, f extractFlags, args []string, stdout, stderr io.Writer) error {
	if err := f.output.check(); err != nil {
		return err
	}
	if f.manager == "" {
		return &usageError{errNoManager}
	}
	c, t, err := f.connection.openTarget(ctx, "extract", args, stderr)
	if err != nil {
		return err
	}
	config, err := f.extract(ctx, c, t)
	if other := (*ownership.OtherVersionError)(nil); errors.As(err, &other) {
		if t, err = t.atVersionOf(ctx, c, other.Entry); err == nil {
			config, err = f.extract(ctx, c, t)
		}
	}
	if err != nil {
		return err
	}
	if f.output.format == "name" {
		_, err := fmt.Fprintln(stdout, t)
		return err
	}
	return f.output.print(stdout, config)
}

func (f extractFlags) extract(ctx context.Context, c *cluster.Cluster, t target) (document.Value, error) {
	o, err := t.get(ctx, c)
	if err != nil {
		return document.Value{}, err
	}
	if isUntracked(o) {
		return document.Value{}, fmt.Errorf("%s: %w", t, errNoOwners)
	}
	topology, err := c.Topology(ctx, t.kind)
	if err != nil {
		return document.Value{}, err
	}
	config, err := ownership.Extract(o, ownership.Selector{Manager: f.manager, Subresource: f.subresource}, topology)
	if err != nil {
		return config, fmt.Errorf("%s: %w", t, err)
	}
	return config, nil
}
