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

// definitions are the kinds that the definitions among what is applied define, by apiVersion and name, and the namespaces.
// The server has a kind some time after it has accepted its definition.
type appliedDefinitions struct {
	kinds      map[[2]string]bool
	namespaces []string
	// tried says that nothing is written.
	dryRun bool
}

// How long a kind is waited for, and how often it is asked about.
const (
	kindTimeout      = 30 * time.Second
	kindPollInterval = 100 * time.Millisecond
)

// note remembers what an object that was applied defines, if it is a definition, or a namespace.
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

// target finds where an object is. A kind that was defined just now is waited for.
func (d *appliedDefinitions) target(ctx context.Context, c *cluster.Cluster, namespace string, m manifest) (target, error) {
	for deadline := time.Now().Add(kindTimeout); ; {
		t, err := m.target(ctx, c, namespace)
		unknown := (*cluster.UnknownKindError)(nil)
		switch {
		case !errors.As(err, &unknown) || !d.kinds[[2]string{m.doc.Get("apiVersion").Text(), m.doc.Get("kind").Text()}]:
			return t, err
		case d.dryRun:
			return t, fmt.Errorf("%s: %s; its definition is among what is applied, and was only tried", m.source, unknown.Summary())
		case time.Now().After(deadline):
			return t, fmt.Errorf("%s: %s, %v after its definition was applied", m.source, unknown.Summary(), kindTimeout)
		}
		select {
		case <-ctx.Done():
			return t, err
		case <-time.After(kindPollInterval):
			c.Refresh()
		}
	}
}

// explained says why a namespace is not there, if it was only tried.
func (d *appliedDefinitions) explain(t target, err error) error {
	if d.dryRun && t.kind.Namespaced && slices.Contains(d.namespaces, t.namespace) && cluster.IsCode(err, http.StatusNotFound) {
		return fmt.Errorf("%w; it is among what is applied, and was only tried", err)
	}
	return err
}
