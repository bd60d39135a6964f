package cli

import (
	"context"
	"fmt"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/cli/cluster"
	"github.com/cadastre/cadastre/ownership"
	"github.com/cadastre/cadastre/schema"
)

// managed is what a manager owns, with the values at the version that it wrote at.
type managed struct {
	by     apply.Entry
	fields []managedField
}

// managedField is one field of it: the innermost ones are meant, as people write their paths.
type managedField struct {
	path  string
	value document.Value
}

// managersOfObject are all managers of an object, which was also read at other versions.
func managersOfObject(ctx context.Context, c *cluster.Cluster, t target, o apply.Object, others map[string]document.Value) ([]managed, error) {
	all := make([]managed, len(o.Entries))
	for i, e := range o.Entries {
		fields, err := e.Fields()
		if err != nil {
			return nil, &apply.EntryError{Index: i, Problem: "the fields can't be read", Err: err}
		}
		topology, err := topologyAt(ctx, c, t, e.APIVersion)
		if err != nil {
			return nil, err
		}
		seen := o
		if doc, known := others[e.APIVersion]; known {
			seen.Document = doc
		}
		owned, err := ownership.NewOwnedValues(seen, topology)
		if err != nil {
			return nil, err
		}
		all[i].by = e
		for path := range fields.Leaves().All() {
			all[i].fields = append(all[i].fields, managedField{formatPath(path), owned.At(path)})
		}
	}
	return all, nil
}

// topologyAt returns how a kind merges at a version, nil if nobody can tell.
func topologyAt(ctx context.Context, c *cluster.Cluster, t target, version string) (*schema.Type, error) {
	k, err := c.KindOf(ctx, version, t.kind.Name)
	switch {
	case isServerLost(err):
		return nil, err
	case err != nil:
		return nil, nil // the server does not have it any more
	}
	return topologyOrNil(ctx, c, k)
}

// byManager writes for each manager what it owns.
func (v blameView) byManager(all []managed) {
	for i, m := range all {
		if i > 0 {
			fmt.Fprintln(v.w)
		}
		fmt.Fprintln(v.w, v.palette.paint(m.by.Manager, v.owner(m.by)))
		for _, f := range m.fields {
			fmt.Fprintf(v.w, "  %s: %s\n", f.path, formatValue(f.value))
		}
	}
}

// managersValue is for machines what each manager owns, with the values that are there.
func managersValue(all []managed) document.Value {
	managers := make([]document.Value, len(all))
	for i, m := range all {
		var fields []document.Value
		for _, f := range m.fields {
			fields = append(fields, document.NewMap(
				document.Field{Name: "path", Value: document.NewString(f.path)}, document.Field{Name: "value", Value: f.value},
			))
		}
		managers[i] = entryValue(m.by).With("fields", document.NewList(fields...))
	}
	return document.NewMap(document.Field{Name: "managers", Value: document.NewList(managers...)})
}
