package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/cli/cluster"
	"github.com/cadastre/cadastre/ownership"
)

// Objects that were created before Kubernetes 1.18, or whose managedFields were cleared, have no managed fields entries.
// The first apply to such an object adds the entry before-first-apply with all fields. Its field set depends on the
// server's schema and reset fields, and is determined with a dry-run apply of an empty configuration.

// errNoOwners is the error of verbs that require managedFields.
var errNoOwners = errors.New("the object has no managedFields")

// isUntracked reports whether o has no managed fields entries.
func isUntracked(o apply.Object) bool { return len(o.Entries) == 0 }

// withInitialEntry returns o, which has no managedFields, with the managed fields entry that the first apply would add to
// it.
func (t target) withInitialEntry(ctx context.Context, c *cluster.Cluster, o apply.Object) (apply.Object, error) {
	empty := document.NewMap(
		document.Field{Name: "apiVersion", Value: document.NewString(t.kind.APIVersion())},
		document.Field{Name: "kind", Value: document.NewString(t.kind.Name)},
		document.Field{Name: "metadata", Value: document.NewMap(
			document.Field{Name: "name", Value: document.NewString(t.name)},
			document.Field{Name: "uid", Value: o.Document.Lookup("metadata", "uid")}, // a precondition: an object that was deleted since must not be created
		)},
	)
	answer, err := c.Apply(ctx, t.kind, t.namespace, t.name, empty, cluster.ApplyOptions{Manager: managedFieldsWriter, DryRun: true})
	if err != nil {
		return o, fmt.Errorf("%s: the object has no managedFields, and the dry-run apply that determines its fields failed: %w", t, err)
	}
	first := ownership.Selector{Manager: apply.BeforeFirstApply, Operation: apply.Update}
	for _, e := range answer.Entries {
		if first.Selects(e) {
			return apply.Object{Document: o.Document, Entries: []apply.Entry{e}}, nil
		}
	}
	return o, nil // another client has applied after the object was read
}
