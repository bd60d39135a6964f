package bench

import (
	"fmt"
	"sync"
	"time"

	"go.yaml.in/yaml/v2"
	smdschema "sigs.k8s.io/structured-merge-diff/v6/schema"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/lib/fastdoc"
	"github.com/cadastre/cadastre/schema"
	"github.com/cadastre/cadastre/test/bench/fixture"
)

// newCadastre returns Cadastre's apply engine for objects of kind.
func newCadastre(kind *fixture.Kind) (Engine, error) {
	t, err := topology(kind)
	if err != nil {
		return nil, fmt.Errorf("topology of %s: %w", kind.Name, err)
	}
	engine, err := apply.New(apply.Options{Versions: apply.OneVersion(kind.APIVersion, t), Unset: true})
	if err != nil {
		return nil, err
	}
	return &cadastre{engine: engine, version: kind.APIVersion}, nil
}

// topology converts structured-merge-diff's schema of kind to Cadastre's topology, so that both engines use the same
// schema.
func topology(kind *fixture.Kind) (*schema.Type, error) {
	types, err := convertSchema(kind.SMD.Type.Schema)
	if err != nil {
		return nil, err
	}
	name := *kind.SMD.Type.TypeRef.NamedType
	t, ok := types.Type(name)
	if !ok {
		return nil, fmt.Errorf("structured-merge-diff's schema has no type %s", name)
	}
	return t, nil
}

// convertSchema converts upstream, a schema of structured-merge-diff, to Cadastre's schema. It caches the result by the
// pointer upstream, because the schema of the built-in kinds is large.
func convertSchema(upstream *smdschema.Schema) (*schema.Schema, error) {
	if types, ok := convertedSchemas.Load(upstream); ok {
		return types.(*schema.Schema), nil
	}
	text, err := yaml.Marshal(upstream)
	if err != nil {
		return nil, err
	}
	doc, err := document.ParseYAMLLimited(text, document.Limits{MaxBytes: -1})
	if err != nil {
		return nil, err
	}
	types, err := schema.LoadTypes(doc)
	if err == nil {
		convertedSchemas.Store(upstream, types)
	}
	return types, err
}

var convertedSchemas sync.Map

// cadastre adapts Cadastre's apply engine to Engine, including parsing and encoding.
type cadastre struct {
	engine  *apply.Engine
	version string
	// Every call reuses the buffers reader and out, so its result is valid only until the next call.
	reader fastdoc.Reader
	out    []byte
}

func (c *cadastre) Apply(live, config Input, manager string, force bool) ([]byte, error) {
	return c.write(live, config, apply.Request{Manager: manager, Force: force}, c.engine.Apply)
}

func (c *cadastre) Update(live, updated Input, manager string) ([]byte, error) {
	return c.write(live, updated, apply.Request{Manager: manager}, c.engine.Update)
}

func (c *cadastre) write(live, sent Input, r apply.Request, do func(apply.Object, document.Value, apply.Request) (apply.Result, error)) ([]byte, error) {
	c.reader.Reset()
	var object apply.Object
	if live.Text != "" {
		var err error
		if object, err = c.read(live.Text, apply.Object{}); err != nil {
			return nil, err
		}
	}
	read, err := c.read(sent.Text, object)
	if err != nil {
		return nil, err
	}
	r.Version, r.Time = c.version, time.Now()
	result, err := do(object, read.Document, r)
	if err != nil {
		return nil, err
	}
	if result.NoOp {
		return live.Bytes, nil // a no-op returns the live object
	}
	c.out = result.Object.AppendJSON(c.out[:0])
	return c.out, nil
}

// read parses text, an object in JSON. The result shares memory with base where their values are equal.
func (c *cadastre) read(text string, base apply.Object) (apply.Object, error) {
	doc, err := c.reader.ParseJSON(text, document.Limits{MaxBytes: -1}, base.Document, fastdoc.FieldsV1Path...)
	if err != nil {
		return apply.Object{}, err
	}
	return apply.SplitObject(doc)
}
