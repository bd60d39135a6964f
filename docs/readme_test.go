// Package docs_test keeps the documentation true: it runs the commands that pages show
// (console_test.go), writes the manual's tables (server_test.go), shows each difference of the server
// (differences_test.go), and has the example of README.md; test/repocheck checks that it is the same there.
package docs_test

import (
	"fmt"
	"log"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/schema"
)

func Example() {
	// An engine is for one kind. Untyped is the schema of kinds that have none.
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
		log.Fatal(err) // an *apply.ConflictError if somebody else owns what would change
	}
	fmt.Println(result.Object.Document)
	fmt.Println(result.Object.Entries[0].Manager, "owns", result.Object.Entries[0].FieldsV1)
	// Output:
	// {"apiVersion":"example.com/v1","kind":"Shop","metadata":{"name":"shop"},"open":true,"replicas":3}
	// ci owns {"f:replicas":{}}
}
