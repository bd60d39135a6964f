package applytest

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// build returns the HTTP request for r and its body, with all variables expanded.
func (run *scriptRun) build(ctx context.Context, r request) (*http.Request, []byte, error) {
	path, err := run.variables.expand(r.path)
	if err != nil {
		return nil, nil, err
	}
	query, err := run.query(r)
	if err != nil {
		return nil, nil, err
	}
	body, err := run.body(ctx, r, path)
	if err != nil {
		return nil, nil, err
	}
	request, err := http.NewRequestWithContext(ctx, r.verb.method, run.server.url+path+query, bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	request.Header.Set("Accept", "application/json")
	if r.verb.mediaType != "" && len(body) > 0 {
		request.Header.Set("Content-Type", r.verb.mediaType)
	}
	for _, h := range r.headers {
		value, err := run.variables.expand(h.value)
		if err != nil {
			return nil, nil, err
		}
		request.Header.Set(h.name, value)
	}
	return request, body, nil
}

// query encodes the query parameters of r, in the order of the script.
func (run *scriptRun) query(r request) (string, error) {
	var parts []string
	for _, q := range r.query {
		value, err := run.variables.expand(q.value)
		if err != nil {
			return "", err
		}
		parts = append(parts, url.QueryEscape(q.name)+"="+url.QueryEscape(value))
	}
	if len(parts) == 0 {
		return "", nil
	}
	return "?" + strings.Join(parts, "&"), nil
}

// body returns the body of the request r, whose expanded path is path. Depending on the verb and the
// Content-Type, the body is the unchanged text of the script, JSON, or a binary encoding.
func (run *scriptRun) body(ctx context.Context, r request, path string) ([]byte, error) {
	text, err := run.variables.expand(r.body)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(text) == "" && !r.verb.edits {
		return nil, nil
	}
	contentType, hasContentType := r.header("Content-Type")
	if body, isBinary, err := encodeBody(contentType, text); isBinary {
		return body, err
	}
	if !r.verb.asJSON || hasContentType {
		return []byte(text), nil
	}
	value, err := document.ParseYAML([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("the body: %w", err)
	}
	if r.verb.edits {
		live, err := run.server.send(ctx, http.MethodGet, path, nil, "")
		if err != nil {
			return nil, err
		}
		if err := run.server.permissionErrorOf(live); err != nil {
			return nil, err
		}
		if !live.succeeded() {
			return nil, fmt.Errorf("GET %s: %s", path, live.summary())
		}
		value = mergePatch(live.body, value)
	}
	return []byte(value.JSON()), nil
}

// mergePatch returns object with patch, a JSON merge patch (RFC 7386), applied to it.
func mergePatch(object, patch document.Value) document.Value {
	if patch.Kind() != document.Map {
		return patch
	}
	if object.Kind() != document.Map {
		object = document.NewMap()
	}
	for name, value := range patch.Fields() {
		if value.IsNull() {
			object = object.Without(name)
		} else {
			object = object.With(name, mergePatch(object.Get(name), value))
		}
	}
	return object
}
