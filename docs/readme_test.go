// Package docs_test checks the documentation: it executes the transcripts of pages (console_test.go), generates the tables of the
// manual (server_test.go), checks headings and the length of the README (headings_test.go) and links (links_test.go), tests each
// deliberate difference from Kubernetes (differences_test.go), and contains the example of docs/library.md.
package docs_test

import (
	"fmt"
	"log"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/schema"
)

func Example() {
	// An engine is for one kind. schema.Untyped is for kinds without a schema.
	engine, err := apply.New(apply.Options{Versions: apply.OneVersion("example.com/v1", schema.Untyped)})
	if err != nil {
		log.Fatal(err)
	}
	live, err := apply.ReadObject(`{"apiVersion":"example.com/v1","kind":"Shop","metadata":{"name":"shop"},"open":true}`)
	if err != nil {
		log.Fatal(err)
	}
	config, err := document.ParseYAML([]byte(`replicas: 3`))
	if err != nil {
		log.Fatal(err)
	}
	result, err := engine.Apply(live, config, apply.Request{Manager: "ci", Version: "example.com/v1"})
	if err != nil {
		log.Fatal(err) // an *apply.ConflictError if another field manager owns a field that would change
	}
	fmt.Println(result.Object.Document)
	fmt.Println(result.Object.Entries[0].Manager, "owns", result.Object.Entries[0].FieldsV1)
	// Output:
	// {"apiVersion":"example.com/v1","kind":"Shop","metadata":{"name":"shop"},"open":true,"replicas":3}
	// ci owns {"f:replicas":{}}
}
