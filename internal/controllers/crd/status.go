package crd

import (
	"context"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api/crd"
)

// writeStatus writes the accepted names and conditions of a CRD.
func (c *Controller) writeStatus(ctx context.Context, d *definition, conditions []crd.Condition) error {
	return c.update(ctx, d, func(doc document.Value) document.Value {
		doc = doc.With("status", doc.Get("status").With("acceptedNames", d.AcceptedNames.Document()))
		return crd.WithConditions(doc, c.Objects.Now(), conditions...)
	})
}

// update applies the function change to a CRD and writes the result through the status subresource. It fails with
// a conflict if the CRD changed since it was read.
func (c *Controller) update(ctx context.Context, d *definition, change func(document.Value) document.Value) error {
	kind, _ := c.Objects.Kinds.Resource(crd.DefinitionsGroup, "v1", crd.DefinitionsResource)
	endpoint, err := c.Objects.Endpoint(kind, "v1", "status")
	if err != nil {
		return err
	}
	written, err := c.Objects.Touch(ctx, endpoint, d.object, c.Manager, change)
	if err == nil && written != nil {
		d.object = written
	}
	return err
}
