package cluster

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// maxErrorBytes is the maximum size, in bytes, of the body of an error response.
const maxErrorBytes = 1 << 20

// Download copies the body of the response to GET path to w. The caller must be able to recognise an incomplete body.
func (c *Cluster) Download(ctx context.Context, path string, w io.Writer) error {
	r := request{method: http.MethodGet, path: path}
	sent, err := http.NewRequestWithContext(ctx, r.method, c.url+path, nil)
	if err != nil {
		return err
	}
	response, err := c.client.Do(sent)
	if err != nil {
		return cancellationOr(ctx, r, notSentError(r, fmt.Errorf("request to %s: %w", c.url, unwrapURL(err))))
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode >= http.StatusBadRequest {
		var text strings.Builder
		if _, err := io.Copy(&text, io.LimitReader(response.Body, maxErrorBytes)); err != nil {
			return err
		}
		return readError(r, response.StatusCode, text.String())
	}
	if _, err := io.Copy(w, response.Body); err != nil {
		return cancellationOr(ctx, r, fmt.Errorf("%s %s: the response ended early: %w", r.method, r.path, err))
	}
	return nil
}
