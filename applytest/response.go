package applytest

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// serverResponse is the server's response to the request of a step.
type serverResponse struct {
	code   int
	header http.Header
	raw    []byte
	body   document.Value // absent if the media type is not an encoding of the Kubernetes API
	dryRun bool
}

func readResponse(response *http.Response, dryRun bool) (*serverResponse, error) {
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("read the response: %w", err)
	}
	resp := &serverResponse{code: response.StatusCode, header: response.Header, raw: raw, dryRun: dryRun}
	contentType := response.Header.Get("Content-Type")
	if resp.body, err = parseBody(contentType, raw); err != nil {
		return nil, fmt.Errorf("expected a body in %s, received %q: %w", contentType, raw, err)
	}
	return resp, nil
}

// uid returns the uid of the object in the response; "" if the response is not an object.
func (resp *serverResponse) uid() string { return resp.body.Lookup("metadata", "uid").Text() }

func (resp *serverResponse) revision() string {
	return resp.body.Lookup("metadata", "resourceVersion").Text()
}

// succeeded reports whether the status is 2xx.
func (resp *serverResponse) succeeded() bool { return resp.code/100 == 2 }

// warnings returns the texts of the Warning headers.
func (resp *serverResponse) warnings() []string {
	var texts []string
	for _, header := range resp.header.Values("Warning") {
		_, text, _ := strings.Cut(header, " - ")
		if plain, err := strconv.Unquote(text); err == nil {
			text = plain
		}
		texts = append(texts, text)
	}
	return texts
}

// summary returns the response as text for reports: truncated, and without volatile fields.
func (resp *serverResponse) summary() string {
	const limit = 2000
	text := string(resp.raw)
	if !resp.body.IsAbsent() {
		text = withoutVolatile(resp.body, document.Value{}).JSON()
	}
	if len(text) > limit {
		text = text[:limit] + "…"
	}
	return fmt.Sprintf("%d %s", resp.code, text)
}

// volatileFields are the metadata fields that differ from run to run. They are compared only if an expectation contains them.
var volatileFields = []string{"creationTimestamp", "managedFields", "resourceVersion", "uid"}

// withoutVolatile returns object, which may be a list, without the volatile fields that expected does not contain.
func withoutVolatile(object, expected document.Value) document.Value {
	if meta := object.Get("metadata"); meta.Kind() == document.Map {
		for _, name := range volatileFields {
			if expected.Lookup("metadata", name).IsAbsent() {
				meta = meta.Without(name)
			}
		}
		object = object.With("metadata", meta)
	}
	items := object.Get("items")
	if items.Kind() != document.List {
		return object
	}
	var shown []document.Value
	for i, item := range items.Items() {
		shown = append(shown, withoutVolatile(item, itemAt(expected.Get("items"), i)))
	}
	return object.With("items", document.NewList(shown...))
}
