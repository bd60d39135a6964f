package discovery

import (
	"io"
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/cadastre/cadastre/internal/api"
)

// openAPI3Builder builds the OpenAPI v3 documents, one per GroupVersion. It builds definitions that several documents contain
// only once. It is not safe for concurrent use.
type openAPI3Builder struct {
	*pathBuilder
	kinds              []*api.Kind
	encodedDefinitions map[string][]byte // encodedDefinitions maps the name of a definition to its JSON.
}

func newOpenAPI3Builder(all []*api.Kind, options Options) *openAPI3Builder {
	return &openAPI3Builder{newPathBuilder(openAPIV3, options), all, map[string][]byte{}}
}

// documentNames3 returns the names of the OpenAPI v3 documents for the given kinds: of GroupVersions, such as api/v1 and
// apis/apps/v1, and of discovery documents, such as api, apis, apis/apps and version.
func documentNames3(all []*api.Kind) []string {
	names := []string{"version", "api", "apis"}
	for _, gv := range groupVersions(all) {
		if gv.Group != "" {
			names = append(names, "apis/"+gv.Group)
		}
		names = append(names, prefix(gv.Group, gv.Version)[1:])
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// paths returns the paths that the document with the given name describes, and the GroupVersion of the document, which is empty
// for discovery documents.
func (o *openAPI3Builder) paths(name string) ([]*path, schema.GroupVersion) {
	parts := strings.Split(name, "/")
	gv := schema.GroupVersion{}
	switch {
	case name == "version":
		return []*path{o.versionPath()}, gv
	case name == "api":
		return []*path{o.corePath()}, gv
	case name == "apis":
		return []*path{o.groupsPath()}, gv
	case parts[0] == "apis" && len(parts) == 2:
		return []*path{o.groupPath(parts[1])}, gv
	case parts[0] == "apis":
		gv = schema.GroupVersion{Group: parts[1], Version: parts[2]}
	default:
		gv.Version = parts[1]
	}
	paths := append(o.versionPaths(o.kinds, gv), o.resourcesPath(gv.Group, gv.Version))
	slices.SortFunc(paths, func(a, b *path) int { return strings.Compare(a.address, b.address) })
	return paths, gv
}

// write writes the document with the given name as JSON.
func (o *openAPI3Builder) write(w io.Writer, name string) error {
	paths, gv := o.paths(name)
	j := &jsonWriter{w: w}
	j.begin()
	j.member("openapi", "3.0.0")
	j.member("info", map[string]string{"title": title, "version": documentVersion})
	var roots []string
	j.object("paths", func() {
		for _, p := range paths {
			j.member(p.address, p.openAPI3())
			roots = append(roots, p.definitions()...)
		}
	})
	j.object("components", func() {
		j.object("schemas", func() {
			for _, name := range o.reachable(roots) {
				j.name(name)
				j.raw(o.encode(j, name, gv))
			}
		})
		j.member("securitySchemes", map[string]any{securityName: bearerToken()})
	})
	j.end()
	return j.err
}

// definitions returns the names of the definitions that the operations of a path use for requests and responses.
func (p *path) definitions() (names []string) {
	for _, o := range p.operations {
		names = append(names, o.response)
		if o.body != "" {
			names = append(names, o.body)
		}
	}
	return names
}

// encode returns the definition with the given name as JSON, for the document of gv. The definition of a type that belongs to
// every group, such as DeleteOptions, lists only its kinds in the core group and in gv.
func (o *openAPI3Builder) encode(j *jsonWriter, name string, gv schema.GroupVersion) []byte {
	if text := o.encodedDefinitions[name]; text != nil {
		return text
	}
	d := o.definitions[name]
	s := *d.schema
	s.Extensions = nil
	for extension, value := range d.schema.Extensions {
		s.AddExtension(extension, value)
	}
	served := d.kinds
	if len(served) > 1 {
		served = slices.DeleteFunc(slices.Clone(served), func(k schema.GroupVersionKind) bool {
			return k.GroupVersion() != gv && k.GroupVersion() != schema.GroupVersion{Version: "v1"}
		})
	}
	addKinds(&s, served)
	text, err := s.MarshalJSON()
	j.fail(err)
	if len(d.kinds) <= 1 {
		o.encodedDefinitions[name] = text
	}
	return text
}

func (p *path) openAPI3() *spec3.Path {
	made := &spec3.Path{}
	made.Parameters = parameters3(p.parameters)
	for _, o := range p.operations {
		operation := o.openAPI3()
		switch o.method {
		case "get":
			made.Get = operation
		case "put":
			made.Put = operation
		case "post":
			made.Post = operation
		case "delete":
			made.Delete = operation
		case "patch":
			made.Patch = operation
		}
	}
	return made
}

func parameters3(list []parameter) (made []*spec3.Parameter) {
	for _, p := range list {
		q := &spec3.Parameter{}
		q.Name, q.In, q.Description, q.Required = p.name, p.in, p.description, p.in == "path"
		q.Schema = &spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{p.valueType}, UniqueItems: true}}
		made = append(made, q)
	}
	return made
}

func (o *operation) openAPI3() *spec3.Operation {
	made := &spec3.Operation{}
	made.OperationId, made.Description, made.Tags = o.id, o.description, []string{o.tag}
	made.Parameters = parameters3(o.parameters)
	if o.body != "" {
		made.RequestBody = &spec3.RequestBody{}
		made.RequestBody.Required, made.RequestBody.Content = !o.optionalBody, content3(o.consumes, o.body)
	}
	responses := map[int]*spec3.Response{http.StatusUnauthorized: {ResponseProps: spec3.ResponseProps{Description: http.StatusText(http.StatusUnauthorized)}}}
	for _, code := range o.codes {
		responses[code] = &spec3.Response{ResponseProps: spec3.ResponseProps{Description: http.StatusText(code), Content: content3(o.produces, o.response)}}
	}
	made.Responses = &spec3.Responses{ResponsesProps: spec3.ResponsesProps{StatusCodeResponses: responses}}
	made.Extensions = o.extensions()
	return made
}

// content3 returns the content of a request or response body that has the given definition in each of mediaTypes.
func content3(mediaTypes []string, definition string) map[string]*spec3.MediaType {
	content := make(map[string]*spec3.MediaType, len(mediaTypes))
	for _, name := range mediaTypes {
		content[name] = &spec3.MediaType{MediaTypeProps: spec3.MediaTypeProps{Schema: reference(openAPIV3, definition)}}
	}
	return content
}
