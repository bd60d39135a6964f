package cluster

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strconv"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/lib/fastdoc"
	"github.com/cadastre/cadastre/ownership"
)

// Path returns the request path of an object or, if name is "", of the collection. An empty namespace means all namespaces;
// the namespace is ignored for cluster-scoped kinds.
func (k Kind) Path(namespace, name string) string {
	path := "/api/" + k.Version
	if k.Group != "" {
		path = "/apis/" + k.Group + "/" + k.Version
	}
	if k.Namespaced && namespace != "" {
		path += "/namespaces/" + url.PathEscape(namespace)
	}
	path += "/" + k.Resource
	if name != "" {
		path += "/" + url.PathEscape(name)
	}
	return path
}

// Get reads an object. If the object does not exist, the error is an *Error with code 404.
func (c *Cluster) Get(ctx context.Context, k Kind, namespace, name string) (apply.Object, error) {
	body, err := c.send(ctx, request{method: http.MethodGet, path: k.Path(namespace, name)})
	if err != nil {
		return apply.Object{}, err
	}
	return readObject(k, body)
}

func readObject(k Kind, body string) (apply.Object, error) {
	o, err := apply.ReadObject(body)
	if err != nil {
		return o, fmt.Errorf("decode %s from the server: %w", k, err)
	}
	return o, nil
}

// pageSize is the maximum number of objects in the response to a list request.
const pageSize = 500

// List reads the objects of kind k that match the label selector, page by page. For an item that cannot be decoded it yields
// an error and continues; a request that fails ends the sequence with an error.
func (c *Cluster) List(ctx context.Context, k Kind, namespace, selector string) iter.Seq2[apply.Object, error] {
	return func(yield func(apply.Object, error) bool) {
		next, restarted := "", false
		for {
			page, err := c.page(ctx, k, namespace, selector, next)
			if refused := (*Error)(nil); !restarted && errors.As(err, &refused) && refused.Code == http.StatusGone && refused.Continue != "" {
				next, restarted = refused.Continue, true // the remaining pages show the current state instead of the state at the time of the first page
				continue
			}
			restarted = false
			if err != nil {
				yield(apply.Object{}, err)
				return
			}
			for _, item := range page.Get("items").Items() {
				if !yield(splitItem(k, item)) {
					return
				}
			}
			if next = page.Lookup("metadata", "continue").Text(); next == "" {
				return
			}
		}
	}
}

// Count returns the number of objects of kind k. It requests a single item and adds the server's remainingItemCount.
func (c *Cluster) Count(ctx context.Context, k Kind, namespace string) (int, error) {
	query := url.Values{"limit": {"1"}}
	body, err := c.send(ctx, request{method: http.MethodGet, path: k.Path(namespace, ""), query: query})
	if err != nil {
		return 0, err
	}
	page, err := document.ParseJSONLimited(body, document.Limits{MaxBytes: -1})
	if err != nil {
		return 0, fmt.Errorf("count %s: %w", k, err)
	}
	more, _ := page.Lookup("metadata", "remainingItemCount").Int64() // remainingItemCount is absent on the last page
	return page.Get("items").Len() + int(more), nil
}

func (c *Cluster) page(ctx context.Context, k Kind, namespace, selector, next string) (document.Value, error) {
	query := url.Values{"limit": {strconv.Itoa(pageSize)}}
	if selector != "" {
		query.Set("labelSelector", selector)
	}
	if next != "" {
		query.Set("continue", next)
	}
	body, err := c.send(ctx, request{method: http.MethodGet, path: k.Path(namespace, ""), query: query})
	if err != nil {
		return document.Value{}, err
	}
	page, err := fastdoc.ParseJSONExcept(body, document.Limits{MaxBytes: -1},
		"items", fastdoc.AnyItem, "metadata", "managedFields", fastdoc.AnyItem, "fieldsV1")
	if err != nil {
		return page, fmt.Errorf("list %s: %w", k, err)
	}
	return page, nil
}

// splitItem decodes item, an element of a list of kind k, and adds apiVersion and kind, which list items lack. If the
// managedFields are invalid, it returns an error and an object whose document still contains them.
func splitItem(k Kind, item document.Value) (apply.Object, error) {
	item = item.With("apiVersion", document.NewString(k.APIVersion())).With("kind", document.NewString(k.Name))
	o, err := apply.SplitObject(item)
	if err != nil {
		o.Document = item
	}
	return o, err
}

// Patch applies patch, a JSON patch, to an object as the given field manager, and returns the resulting object.
func (c *Cluster) Patch(ctx context.Context, k Kind, namespace, name, manager string, patch []byte) (apply.Object, error) {
	return c.patch(ctx, k, namespace, name, url.Values{"fieldManager": {manager}}, patch)
}

// DryRunPatch is like [Cluster.Patch] with dryRun=All: it returns the object that would result, and the server stores
// nothing.
func (c *Cluster) DryRunPatch(ctx context.Context, k Kind, namespace, name, manager string, patch []byte) (apply.Object, error) {
	return c.patch(ctx, k, namespace, name, url.Values{"fieldManager": {manager}, "dryRun": {"All"}}, patch)
}

func (c *Cluster) patch(ctx context.Context, k Kind, namespace, name string, query url.Values, patch []byte) (apply.Object, error) {
	body, err := c.send(ctx, request{
		method: http.MethodPatch, path: k.Path(namespace, name), query: query,
		body: string(patch), contentType: "application/json-patch+json",
	})
	if err != nil {
		return apply.Object{}, err
	}
	return readObject(k, body)
}

// ApplyOptions are the parameters of an apply request.
type ApplyOptions struct {
	Manager       string
	Force, DryRun bool
	// TakeOver makes the server move the fields of client-side apply to the manager in the same write. It requires that
	// [Cluster.SupportsTakeover] is true.
	TakeOver bool
}

// Apply sends an apply request, and returns the resulting object.
func (c *Cluster) Apply(ctx context.Context, k Kind, namespace, name string, config document.Value, o ApplyOptions) (apply.Object, error) {
	query := url.Values{"fieldManager": {o.Manager}, "force": {strconv.FormatBool(o.Force)}}
	if o.DryRun {
		query.Set("dryRun", "All")
	}
	if o.TakeOver {
		query.Set(ownership.TakeOverParameter, ownership.FromClientSideApply)
	}
	r := request{
		method: http.MethodPatch, path: k.Path(namespace, name), query: query,
		body: config.JSON(), contentType: "application/apply-patch+yaml",
	}
	body, err := c.send(ctx, r)
	if err != nil {
		return apply.Object{}, err
	}
	return readObject(k, body)
}
