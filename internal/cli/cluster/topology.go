package cluster

import (
	"context"
	"fmt"
	"net/http"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/ownership"
	"github.com/cadastre/cadastre/schema"
)

// openAPI contains those parts of the OpenAPI v3 document of a group version that this package uses.
type openAPI struct {
	schema *schema.Schema
	// supportsTakeover reports that apply requests accept [ownership.TakeOverParameter].
	supportsTakeover bool
	// supportsUnset reports that apply requests accept unset markers.
	supportsUnset bool
}

// Topology returns the merge topology of kind k, read from the server's OpenAPI document. It returns an error if the
// document does not define k.
func (c *Cluster) Topology(ctx context.Context, k Kind) (*schema.Type, error) {
	document, err := c.openAPIOf(ctx, k)
	if err != nil {
		return nil, fmt.Errorf("merge topology of %s: %w", k, err)
	}
	t, ok := document.schema.Kind(k.Group, k.Version, k.Name)
	if !ok {
		return nil, fmt.Errorf("merge topology of %s: the server's OpenAPI at %s does not define the kind", k, openAPIPath(k))
	}
	return t, nil
}

// SupportsTakeover reports whether the server accepts [ApplyOptions].TakeOver, according to its OpenAPI document. It is
// false if the document cannot be read.
func (c *Cluster) SupportsTakeover(ctx context.Context, k Kind) bool {
	document, err := c.openAPIOf(ctx, k)
	return err == nil && document.supportsTakeover
}

// SupportsUnset reports whether the server accepts unset markers, according to its OpenAPI document. A server without that
// support would store the markers as values.
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

// openAPIOf returns the OpenAPI document of the group version of k. Documents are cached until Refresh.
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
		schema: all, supportsTakeover: hasPatchOperation(doc, hasParameter(ownership.TakeOverParameter)), supportsUnset: hasPatchOperation(doc, hasUnsetExtension),
	}
	return c.openAPI[path], nil
}

// hasPatchOperation reports whether doc, an OpenAPI document, contains a patch operation that has accepts.
func hasPatchOperation(doc document.Value, has func(patch document.Value) bool) bool {
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
