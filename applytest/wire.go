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

// build makes the HTTP request of a step, and returns its body as well.
func (p *play) build(ctx context.Context, r request) (*http.Request, []byte, error) {
	path, err := p.variables.expand(r.path)
	if err != nil {
		return nil, nil, err
	}
	query, err := p.query(r)
	if err != nil {
		return nil, nil, err
	}
	body, err := p.body(ctx, r, path)
	if err != nil {
		return nil, nil, err
	}
	request, err := http.NewRequestWithContext(ctx, r.verb.method, p.server.url+path+query, bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	request.Header.Set("Accept", "application/json")
	if r.verb.mediaType != "" && len(body) > 0 {
		request.Header.Set("Content-Type", r.verb.mediaType)
	}
	for _, h := range r.headers {
		value, err := p.variables.expand(h.value)
		if err != nil {
			return nil, nil, err
		}
		request.Header.Set(h.name, value)
	}
	return request, body, nil
}

// query keeps the order in which the script has the parameters.
func (p *play) query(r request) (string, error) {
	var parts []string
	for _, q := range r.query {
		value, err := p.variables.expand(q.value)
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

// body returns the body of a request: as the script has it, as JSON, or in the binary encoding of its Content-Type.
func (p *play) body(ctx context.Context, r request, path string) ([]byte, error) {
	text, err := p.variables.expand(r.body)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(text) == "" && !r.verb.edits {
		return nil, nil
	}
	contentType, given := r.header("Content-Type")
	if body, isBinary, err := encodeBody(contentType, text); isBinary {
		return body, err
	}
	if !r.verb.asJSON || given {
		return []byte(text), nil
	}
	value, err := document.ParseYAML([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("the body: %w", err)
	}
	if r.verb.edits {
		live, err := p.server.send(ctx, http.MethodGet, path, nil, "")
		if err != nil {
			return nil, err
		}
		if err := p.server.denies(live); err != nil {
			return nil, err
		}
		if !live.succeeded() {
			return nil, fmt.Errorf("GET %s: %s", path, live.summary())
		}
		value = merged(live.body, value)
	}
	return []byte(value.JSON()), nil
}

// merged is RFC 7386: fields of the patch replace the object's, null removes them.
func merged(object, patch document.Value) document.Value {
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
			object = object.With(name, merged(object.Get(name), value))
		}
	}
	return object
}
