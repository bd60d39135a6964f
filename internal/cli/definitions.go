package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/cli/cluster"
)

// appliedDefinitions records the kinds of the CustomResourceDefinitions, and the names of the Namespaces, that this run has
// applied. A server starts to serve a kind some time after it has accepted the definition, so the apply of a custom
// resource waits until its kind is served.
type appliedDefinitions struct {
	kinds      map[[2]string]bool
	namespaces []string
	// dryRun reports that the definitions and namespaces were applied in a dry run and are not stored.
	dryRun bool
}

// kindTimeout is the maximum time to wait until a kind is served; kindPollInterval is the time between discovery requests.
const (
	kindTimeout      = 30 * time.Second
	kindPollInterval = 100 * time.Millisecond
)

// record records the kinds of an applied CustomResourceDefinition, or the name of an applied Namespace. It ignores other
// objects.
func (d *appliedDefinitions) record(o document.Value) {
	spec := o.Get("spec")
	switch o.Get("kind").Text() {
	case "Namespace":
		d.namespaces = append(d.namespaces, o.Lookup("metadata", "name").Text())
		return
	case "CustomResourceDefinition":
	default:
		return
	}
	for _, version := range spec.Get("versions").Items() {
		if d.kinds == nil {
			d.kinds = map[[2]string]bool{}
		}
		d.kinds[[2]string{spec.Get("group").Text() + "/" + version.Get("name").Text(), spec.Lookup("names", "kind").Text()}] = true
	}
}

// target returns the target of a manifest. If this run has applied the CustomResourceDefinition of its kind, target waits
// until the kind is served.
func (d *appliedDefinitions) target(ctx context.Context, c *cluster.Cluster, namespace string, m manifest) (target, error) {
	for deadline := time.Now().Add(kindTimeout); ; {
		t, err := m.target(ctx, c, namespace)
		unknown := (*cluster.UnknownKindError)(nil)
		switch {
		case !errors.As(err, &unknown) || !d.kinds[[2]string{m.doc.Get("apiVersion").Text(), m.doc.Get("kind").Text()}]:
			return t, err
		case d.dryRun:
			return t, fmt.Errorf("%s: %s; its CustomResourceDefinition is part of this dry run and was not created", m.source, unknown.Summary())
		case time.Now().After(deadline):
			return t, fmt.Errorf("%s: %s %v after its CustomResourceDefinition was applied", m.source, unknown.Summary(), kindTimeout)
		}
		select {
		case <-ctx.Done():
			return t, err
		case <-time.After(kindPollInterval):
			c.Refresh()
		}
	}
}

// explain returns err. If err is NotFound because this run has applied the namespace of t only in a dry run, explain adds
// that reason.
func (d *appliedDefinitions) explain(t target, err error) error {
	if d.dryRun && t.kind.Namespaced && slices.Contains(d.namespaces, t.namespace) && cluster.IsCode(err, http.StatusNotFound) {
		return fmt.Errorf("%w; the namespace is part of this dry run and was not created", err)
	}
	return err
}
