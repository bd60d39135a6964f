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

// Objects that were written before there were managedFields, or whose managedFields somebody has cleared, have no owners.
// As soon as somebody applies to one, all that was there is before-first-apply's. Which fields those are depends on what
// the server resets, and on its schema: so it is asked, by applying nothing in a dry run.

// errNoOwners is for verbs that have nothing to say about such objects.
var errNoOwners = errors.New("nobody owns anything in this object")

// isUntracked reports whether nobody owns anything of an object.
func isUntracked(o apply.Object) bool { return len(o.Entries) == 0 }

// tracked is an object that nobody owns anything of, with the owner that it gets when somebody applies to it.
func (t target) tracked(ctx context.Context, c *cluster.Cluster, o apply.Object) (apply.Object, error) {
	nothing := document.NewMap(
		document.Field{Name: "apiVersion", Value: document.NewString(t.kind.APIVersion())},
		document.Field{Name: "kind", Value: document.NewString(t.kind.Name)},
		document.Field{Name: "metadata", Value: document.NewMap(
			document.Field{Name: "name", Value: document.NewString(t.name)},
			document.Field{Name: "uid", Value: o.Document.Lookup("metadata", "uid")}, // what is gone must not be made
		)},
	)
	answer, err := c.Apply(ctx, t.kind, t.namespace, t.name, nothing, cluster.ApplyOptions{Manager: managedFieldsWriter, DryRun: true})
	if err != nil {
		return o, fmt.Errorf("%s: nobody owns anything of it, and the server does not tell what of it could be owned: %w", t, err)
	}
	first := ownership.Selector{Manager: apply.BeforeFirstApply, Operation: apply.Update}
	for _, e := range answer.Entries {
		if first.Selects(e) {
			return apply.Object{Document: o.Document, Entries: []apply.Entry{e}}, nil
		}
	}
	return o, nil // somebody has applied to it since
}
