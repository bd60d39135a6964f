package api

import (
	"bytes"
	"compress/gzip"
	_ "embed" // topologies.json.gz
	"io"
	"sync"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api/builtin/kinds"
	"github.com/cadastre/cadastre/schema"
)

//go:generate go run ./generate topologies.json.gz

//go:embed topologies.json.gz
var packedTopologies []byte

// builtinTopologies returns the merge topologies of the built-in kinds, which are decoded on first use.
var builtinTopologies = sync.OnceValue(func() *schema.Schema {
	s, err := unpackTopologies(packedTopologies)
	if err != nil {
		panic(err) // unreachable: the topologies are embedded, and a test decodes them
	}
	return s
})

func unpackTopologies(packed []byte) (*schema.Schema, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	_, types, _ := bytes.Cut(text, []byte("\n")) // the first line is a comment
	doc, err := document.ParseJSONLimited(types, document.Limits{MaxBytes: -1})
	if err != nil {
		return nil, err
	}
	return schema.LoadTypes(doc)
}

// BuiltinTopology returns the merge topology of the built-in kind with the given group, version and name; false if there is
// none.
func BuiltinTopology(group, version, name string) (*schema.Type, bool) {
	return builtinTopologies().Type(TypeName(group, version, name))
}

// DefinitionType is the name of the CustomResourceDefinition type in OpenAPI schemas.
const DefinitionType = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition"

// DefinitionTopology returns the merge topology of the kind CustomResourceDefinition itself.
func DefinitionTopology() (*schema.Type, bool) { return builtinTopologies().Type(DefinitionType) }

// openAPINamePrefix is the prefix of the names that OpenAPI schemas give to structs of k8s.io/api. Kind files omit the prefix.
const openAPINamePrefix = "io.k8s.api."

// TypeName returns the name of a built-in kind in OpenAPI schemas, such as io.k8s.api.apps.v1.Deployment.
func TypeName(group, version, name string) string {
	return openAPINamePrefix + kinds.StructName(group, version, name)
}
