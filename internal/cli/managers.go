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

// entryFields is a managed fields entry with the values of its fields, at the API version of the entry.
type entryFields struct {
	entry  apply.Entry
	fields []managedField
}

// managedField is a leaf field of a managed fields entry, and its value in the object.
type managedField struct {
	path  string
	value document.Value
}

// managersOfObject returns the managed fields entries of o with their fields and values. byVersion contains the object at
// the API versions of entries that differ from the version of o, keyed by apiVersion.
func managersOfObject(ctx context.Context, c *cluster.Cluster, t target, o apply.Object, byVersion map[string]document.Value) ([]entryFields, error) {
	entries := make([]entryFields, len(o.Entries))
	for i, e := range o.Entries {
		fields, err := e.Fields()
		if err != nil {
			return nil, &apply.EntryError{Index: i, Problem: "invalid fieldsV1", Err: err}
		}
		topology, err := topologyAt(ctx, c, t, e.APIVersion)
		if err != nil {
			return nil, err
		}
		object := o
		if doc, isOther := byVersion[e.APIVersion]; isOther {
			object.Document = doc
		}
		owned, err := ownership.NewOwnedValues(object, topology)
		if err != nil {
			return nil, err
		}
		entries[i].entry = e
		for path := range fields.Leaves().All() {
			entries[i].fields = append(entries[i].fields, managedField{formatPath(path), owned.At(path)})
		}
	}
	return entries, nil
}

// topologyAt returns the merge topology of the target's kind at version; nil if the topology is unknown. It returns an
// error only if the server does not respond.
func topologyAt(ctx context.Context, c *cluster.Cluster, t target, version string) (*schema.Type, error) {
	k, err := c.KindOf(ctx, version, t.kind.Name)
	switch {
	case isServerLost(err):
		return nil, err
	case err != nil:
		return nil, nil // the version is no longer served
	}
	return topologyOrNil(ctx, c, k)
}

// byManager prints the fields of each managed fields entry.
func (v blameView) byManager(entries []entryFields) {
	for i, m := range entries {
		if i > 0 {
			fmt.Fprintln(v.w)
		}
		fmt.Fprintln(v.w, v.palette.paint(m.entry.Manager, v.owner(m.entry)))
		for _, f := range m.fields {
			fmt.Fprintf(v.w, "  %s: %s\n", f.path, formatValue(f.value))
		}
	}
}

// managersValue returns the fields of each managed fields entry as a document for -o json and -o yaml.
func managersValue(entries []entryFields) document.Value {
	managers := make([]document.Value, len(entries))
	for i, m := range entries {
		var fields []document.Value
		for _, f := range m.fields {
			fields = append(fields, document.NewMap(
				document.Field{Name: "path", Value: document.NewString(f.path)}, document.Field{Name: "value", Value: f.value},
			))
		}
		managers[i] = entryValue(m.entry).With("fields", document.NewList(fields...))
	}
	return document.NewMap(document.Field{Name: "managers", Value: document.NewList(managers...)})
}
