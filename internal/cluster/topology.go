package cluster

import (
	"context"
	"fmt"
	"net/http"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/schema"
)

// Topology returns how a kind merges, as the server publishes it in its OpenAPI.
func (c *Cluster) Topology(ctx context.Context, k Kind) (*schema.Type, error) {
	path := "/openapi/v3/api/" + k.Version
	if k.Group != "" {
		path = "/openapi/v3/apis/" + k.Group + "/" + k.Version
	}
	all, err := c.schemaAt(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("the topology of %s: %w", k, err)
	}
	t, ok := all.Kind(k.Group, k.Version, k.Name)
	if !ok {
		return nil, fmt.Errorf("the topology of %s: the server's OpenAPI at %s does not have the kind", k, path)
	}
	return t, nil
}

// schemaAt reads a document once, whoever needs it.
func (c *Cluster) schemaAt(ctx context.Context, path string) (*schema.Schema, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known, ok := c.topologies[path]; ok {
		return known, nil
	}
	body, err := c.send(ctx, request{method: http.MethodGet, path: path})
	if err != nil {
		return nil, err
	}
	doc, err := document.ParseJSONLimited(body, document.Limits{MaxBytes: -1})
	if err != nil {
		return nil, err
	}
	all, err := schema.LoadOpenAPI(doc)
	if err == nil {
		c.topologies[path] = all
	}
	return all, err
}
