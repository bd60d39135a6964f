package cluster

import (
	"context"
	"fmt"
	"net/http"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/ownership"
	"github.com/cadastre/cadastre/schema"
)

// openAPI is the OpenAPI v3 document of a group version, reduced to the parts that are used.
type openAPI struct {
	schema *schema.Schema
	// supportsTakeover reports that apply requests accept [ownership.TakeOverParameter].
	supportsTakeover bool
	// supportsUnset reports that apply requests accept unset markers.
	supportsUnset bool
}

// Topology returns the merge topology of a kind from the server's OpenAPI.
func (c *Cluster) Topology(ctx context.Context, k Kind) (*schema.Type, error) {
	document, err := c.openAPIOf(ctx, k)
	if err != nil {
		return nil, fmt.Errorf("merge topology of %s: %w", k, err)
	}
	t, ok := document.schema.Kind(k.Group, k.Version, k.Name)
	if !ok {
		return nil, fmt.Errorf("merge topology of %s: the server's OpenAPI at %s does not have the kind", k, openAPIPath(k))
	}
	return t, nil
}

// SupportsTakeover reports whether the server accepts [ApplyOptions].TakeOver. It returns false if the OpenAPI document
// cannot be read.
func (c *Cluster) SupportsTakeover(ctx context.Context, k Kind) bool {
	document, err := c.openAPIOf(ctx, k)
	return err == nil && document.supportsTakeover
}

// SupportsUnset reports whether the server accepts unset markers, according to its OpenAPI. Other servers store markers
// as values.
func (c *Cluster) SupportsUnset(ctx context.Context, k Kind) (bool, error) {
	document, err := c.openAPIOf(ctx, k)
	return document.supportsUnset, err
}

func openAPIPath(k Kind) string {
	if k.Group == "" {
		return "/openapi/v3/api/" + k.Version
	}
	return "/openapi/v3/apis/" + k.Group + "/" + k.Version
}

// openAPIOf returns the cached document of a kind's group version.
func (c *Cluster) openAPIOf(ctx context.Context, k Kind) (openAPI, error) {
	path := openAPIPath(k)
	c.mu.Lock()
	defer c.mu.Unlock()
	if document, ok := c.openAPI[path]; ok {
		return document, nil
	}
	body, err := c.send(ctx, request{method: http.MethodGet, path: path})
	if err != nil {
		return openAPI{}, err
	}
	doc, err := document.ParseJSONLimited(body, document.Limits{MaxBytes: -1})
	if err != nil {
		return openAPI{}, err
	}
	all, err := schema.LoadOpenAPI(doc)
	if err != nil {
		return openAPI{}, err
	}
	c.openAPI[path] = openAPI{
		schema: all, supportsTakeover: declares(doc, hasParameter(ownership.TakeOverParameter)), supportsUnset: declares(doc, hasUnsetExtension),
	}
	return c.openAPI[path], nil
}

// declares reports whether the patch operation of any path satisfies has.
func declares(doc document.Value, has func(patch document.Value) bool) bool {
	for _, path := range doc.Get("paths").Fields() {
		if has(path.Get("patch")) {
			return true
		}
	}
	return false
}

func hasParameter(name string) func(patch document.Value) bool {
	return func(patch document.Value) bool {
		for _, p := range patch.Get("parameters").Items() {
			if p.Get("name").Text() == name {
				return true
			}
		}
		return false
	}
}

func hasUnsetExtension(patch document.Value) bool { return patch.Get(ownership.UnsetExtension).Bool() }
