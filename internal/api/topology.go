package kinds

import (
	"bytes"
	"compress/gzip"
	_ "embed" // topologies.json.gz
	"io"
	"strings"
	"sync"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/schema"
)

//go:generate go run ./generate topologies.json.gz

//go:embed topologies.json.gz
var packedTopologies []byte

// builtinTopologies reads the topologies of the built-in kinds when they are first asked for.
var builtinTopologies = sync.OnceValue(func() *schema.Schema {
	s, err := unpackTopologies(packedTopologies)
	if err != nil {
		panic(err) // a test reads them
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
	doc, err := document.ParseJSONLimited(text, document.Limits{MaxBytes: -1})
	if err != nil {
		return nil, err
	}
	return schema.LoadTypes(doc)
}

// BuiltinTopology returns how a built-in kind merges.
func BuiltinTopology(group, version, name string) (*schema.Type, bool) {
	return builtinTopologies().Type(TypeName(group, version, name))
}

// DefinitionType is what schemas call CustomResourceDefinitions.
const DefinitionType = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition"

// DefinitionTopology returns how CustomResourceDefinitions merge.
func DefinitionTopology() (*schema.Type, bool) { return builtinTopologies().Type(DefinitionType) }

// TypeName returns what schemas call a built-in kind: io.k8s.api.apps.v1.Deployment.
func TypeName(group, version, name string) string {
	first, _, _ := strings.Cut(group, ".")
	if group == "" {
		first = coreGroup
	}
	return "io.k8s.api." + first + "." + version + "." + name
}
