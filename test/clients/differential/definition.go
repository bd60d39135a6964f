package differential

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"k8s.io/client-go/rest"

	"github.com/cadastre/cadastre/document"
)

// widgets is the CustomResourceDefinition of the custom resource that some histories use.
//
//go:embed definitions/widgets.yaml
var widgets []byte

const (
	definitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	customGroup     = "differential.example.com"
	widgetsPath     = "/apis/" + customGroup + "/"
)

// Define creates the CustomResourceDefinitions of the histories on both servers. forget deletes them from both servers;
// it succeeds even if only one server has them.
func (s Servers) Define(ctx context.Context) (forget func(context.Context) error, err error) {
	definition, err := document.ParseYAML(widgets)
	if err != nil {
		return nil, err
	}
	definition = withOlder(definition, "v1beta1")
	both := []*rest.Config{s.KubeAPIServer, s.Cadastre}
	forget = func(ctx context.Context) (err error) {
		for _, config := range both {
			err = errors.Join(err, undefine(ctx, config, definition))
		}
		return err
	}
	for _, config := range both {
		if err := define(ctx, config, definition); err != nil {
			return nil, errors.Join(err, forget(context.WithoutCancel(ctx)))
		}
	}
	return forget, nil
}

// withOlder returns definition, a CustomResourceDefinition, with a further version with the given name and the schema
// of its first version.
func withOlder(definition document.Value, name string) document.Value {
	versions := itemsOf(definition.Lookup("spec", "versions"))
	older := versions[0].With("name", document.NewString(name)).With("storage", document.NewBool(false))
	return definition.With("spec", definition.Get("spec").With("versions", document.NewList(append(versions, older)...)))
}

// define creates definition, a CustomResourceDefinition, unless it exists, and waits until all its versions are served.
func define(ctx context.Context, config *rest.Config, definition document.Value) error {
	switch code, err := sendRequest(ctx, config, http.MethodPost, definitionsPath, definition.JSON()); {
	case err != nil:
		return fmt.Errorf("creating a CustomResourceDefinition at %s: %w", config.Host, err)
	case code != http.StatusCreated && code != http.StatusConflict:
		return fmt.Errorf("creating a CustomResourceDefinition at %s: expected status 201 or 409, received %d", config.Host, code)
	}
	for _, version := range definition.Lookup("spec", "versions").Items() {
		path := widgetsPath + version.Get("name").Text() + "/" + definition.Lookup("spec", "names", "plural").Text()
		for code := 0; code != http.StatusOK; {
			var err error
			if code, err = sendRequest(ctx, config, http.MethodGet, path, ""); err != nil {
				return err
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("waiting until %s is served at %s: %w", path, config.Host, ctx.Err())
			case <-time.After(100 * time.Millisecond):
			}
		}
	}
	return nil
}

// undefine deletes definition, a CustomResourceDefinition. It also succeeds if definition does not exist.
func undefine(ctx context.Context, config *rest.Config, definition document.Value) error {
	code, err := sendRequest(ctx, config, http.MethodDelete, definitionsPath+"/"+definition.Lookup("metadata", "name").Text(), "")
	if err == nil && code != http.StatusOK && code != http.StatusNotFound {
		err = fmt.Errorf("expected status 200 or 404, received %d", code)
	}
	if err != nil {
		return fmt.Errorf("deleting a CustomResourceDefinition at %s: %w", config.Host, err)
	}
	return nil
}

// sendRequest sends a request and returns the status code of the response.
func sendRequest(ctx context.Context, config *rest.Config, method, path, body string) (int, error) {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return 0, err
	}
	request, err := http.NewRequestWithContext(ctx, method, config.Host+path, bytes.NewBufferString(body))
	if err != nil {
		return 0, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, response.Body)
	if closeErr := response.Body.Close(); err == nil {
		err = closeErr
	}
	return response.StatusCode, err
}
