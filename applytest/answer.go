package applytest

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// An answer is what the server said to a step's request.
type answer struct {
	code   int
	header http.Header
	raw    []byte
	body   document.Value // absent if it is no document
	dryRun bool
}

func readAnswer(response *http.Response, dryRun bool) (*answer, error) {
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	a := &answer{code: response.StatusCode, header: response.Header, raw: raw, dryRun: dryRun}
	contentType := response.Header.Get("Content-Type")
	if a.body, err = parseBody(contentType, raw); err != nil {
		return nil, fmt.Errorf("expected a body of %s, received %q: %w", contentType, raw, err)
	}
	return a, nil
}

// uid tells objects apart; empty if the answer is no object.
func (a *answer) uid() string { return a.body.Lookup("metadata", "uid").Text() }

func (a *answer) revision() string { return a.body.Lookup("metadata", "resourceVersion").Text() }

// succeeded is for statuses from 200 to 299.
func (a *answer) succeeded() bool { return a.code/100 == 2 }

// warnings are the texts of the Warning headers.
func (a *answer) warnings() []string {
	var texts []string
	for _, header := range a.header.Values("Warning") {
		_, text, _ := strings.Cut(header, " - ")
		if plain, err := strconv.Unquote(text); err == nil {
			text = plain
		}
		texts = append(texts, text)
	}
	return texts
}

// summary is the answer for people.
func (a *answer) summary() string {
	const limit = 2000
	text := string(a.raw)
	if !a.body.IsAbsent() {
		text = hidden(a.body, document.Value{}).JSON()
	}
	if len(text) > limit {
		text = text[:limit] + "…"
	}
	return fmt.Sprintf("%d %s", a.code, text)
}

// volatile are the fields that differ from run to run. They are shown only where a script names them.
var volatile = []string{"creationTimestamp", "managedFields", "resourceVersion", "uid"}

// hidden returns an object, or a list of objects, without the volatile fields that an expectation does not
// name.
func hidden(object, expected document.Value) document.Value {
	if meta := object.Get("metadata"); meta.Kind() == document.Map {
		for _, name := range volatile {
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
		shown = append(shown, hidden(item, itemAt(expected.Get("items"), i)))
	}
	return object.With("items", document.NewList(shown...))
}
