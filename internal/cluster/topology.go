package cluster

import (
	"context"
	"fmt"
	"net/http"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/ownership"
	"github.com/cadastre/cadastre/schema"
)

// published is what the server's OpenAPI tells of a group's version.
type published struct {
	schema *schema.Schema
	// takesOver says that an apply can be asked to get first what client-side apply wrote.
	takesOver bool
}

// Topology returns how a kind merges, as the server publishes it in its OpenAPI.
func (c *Cluster) Topology(ctx context.Context, k Kind) (*schema.Type, error) {
	known, err := c.publishedOf(ctx, k)
	if err != nil {
		return nil, fmt.Errorf("the topology of %s: %w", k, err)
	}
	t, ok := known.schema.Kind(k.Group, k.Version, k.Name)
	if !ok {
		return nil, fmt.Errorf("the topology of %s: the server's OpenAPI at %s does not have the kind", k, openAPIPath(k))
	}
	return t, nil
}

// TakesOver reports whether the server lets [ApplyOptions] take over. If it does not tell, it does not.
func (c *Cluster) TakesOver(ctx context.Context, k Kind) bool {
	known, err := c.publishedOf(ctx, k)
	return err == nil && known.takesOver
}

func openAPIPath(k Kind) string {
	if k.Group == "" {
		return "/openapi/v3/api/" + k.Version
	}
	return "/openapi/v3/apis/" + k.Group + "/" + k.Version
}

// publishedOf reads a document once, whoever needs it.
func (c *Cluster) publishedOf(ctx context.Context, k Kind) (published, error) {
	path := openAPIPath(k)
	c.mu.Lock()
	defer c.mu.Unlock()
	if known, ok := c.published[path]; ok {
		return known, nil
	}
	body, err := c.send(ctx, request{method: http.MethodGet, path: path})
	if err != nil {
		return published{}, err
	}
	doc, err := document.ParseJSONLimited(body, document.Limits{MaxBytes: -1})
	if err != nil {
		return published{}, err
	}
	all, err := schema.LoadOpenAPI(doc)
	if err != nil {
		return published{}, err
	}
	c.published[path] = published{all, declares(doc, ownership.TakeOverParameter)}
	return c.published[path], nil
}

// declares reports whether patches have a parameter.
func declares(doc document.Value, parameter string) bool {
	for _, path := range doc.Get("paths").Fields() {
		for _, p := range path.Lookup("patch", "parameters").Items() {
			if p.Get("name").Text() == parameter {
				return true
			}
		}
	}
	return false
}
