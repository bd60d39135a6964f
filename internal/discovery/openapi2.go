package discovery

import (
	"io"
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/ownership"
)

// Title, version and security scheme of OpenAPI documents. They equal those of Kubernetes, because client generators use them.
const (
	title           = "Kubernetes"
	documentVersion = "unversioned"
	securityName    = "BearerToken"
)

func bearerToken() *spec.SecurityScheme {
	scheme := &spec.SecurityScheme{}
	scheme.Type, scheme.Name, scheme.In = "apiKey", "authorization", "header"
	scheme.Description = "a bearer token, prefixed with Bearer"
	return scheme
}

// groupVersions returns the GroupVersions at which kinds are served, sorted and without duplicates.
func groupVersions(all []*api.Kind) []schema.GroupVersion {
	var found []schema.GroupVersion
	for _, k := range all {
		for _, version := range k.Versions {
			found = append(found, schema.GroupVersion{Group: k.Group, Version: version})
		}
	}
	slices.SortFunc(found, func(a, b schema.GroupVersion) int {
		return slices.Compare([]string{a.Group, a.Version}, []string{b.Group, b.Version})
	})
	return slices.Compact(found)
}

// allPaths returns the paths of an OpenAPI v2 document for the given kinds, including those of discovery, sorted by address.
func (m *pathBuilder) allPaths(all []*api.Kind) []*path {
	paths := []*path{m.versionPath(), m.corePath(), m.groupsPath()}
	group := ""
	for _, gv := range groupVersions(all) {
		if gv.Group != group {
			group = gv.Group
			paths = append(paths, m.groupPath(group))
		}
		paths = append(paths, m.resourcesPath(gv.Group, gv.Version))
		paths = append(paths, m.versionPaths(all, gv)...)
	}
	slices.SortFunc(paths, func(a, b *path) int { return strings.Compare(a.address, b.address) })
	return paths
}

// versionPaths returns the paths of the kinds that are served at a GroupVersion.
func (b *pathBuilder) versionPaths(all []*api.Kind, gv schema.GroupVersion) (paths []*path) {
	for _, k := range all {
		if k.Group == gv.Group && k.HasVersion(gv.Version) {
			paths = append(paths, b.pathsOf(k, gv.Version)...)
		}
	}
	return paths
}

// writeOpenAPI2 writes the OpenAPI v2 document of kinds as JSON.
func writeOpenAPI2(w io.Writer, all []*api.Kind, options Options) error {
	m := newPathBuilder(openAPIV2, options)
	paths := m.allPaths(all)
	j := &jsonWriter{w: w}
	j.begin()
	j.member("swagger", "2.0")
	j.member("info", map[string]string{"title": title, "version": documentVersion})
	j.object("paths", func() {
		for _, p := range paths {
			j.member(p.address, p.openAPI2())
		}
	})
	j.object("definitions", func() {
		for _, name := range m.names() {
			d := m.definitions[name]
			addKinds(d.schema, d.kinds)
			j.member(name, d.schema)
		}
	})
	j.object("parameters", func() {
		for _, p := range m.parameters.shared() {
			declared := p
			declared.key = ""
			j.member(p.key, declared.openAPI2())
		}
	})
	j.member("securityDefinitions", map[string]any{securityName: bearerToken()})
	j.member("security", []map[string][]string{{securityName: {}}})
	j.end()
	return j.err
}

const kindExtension = "x-kubernetes-group-version-kind"

// addKinds adds the extension x-kubernetes-group-version-kind to a schema, unless kinds is empty.
func addKinds(s *spec.Schema, kinds []schema.GroupVersionKind) {
	if len(kinds) == 0 {
		return
	}
	list := make([]any, len(kinds))
	for i, k := range kinds {
		list[i] = kindValue(k)
	}
	s.AddExtension(kindExtension, list)
}

func kindValue(k schema.GroupVersionKind) map[string]any {
	return map[string]any{"group": k.Group, "version": k.Version, "kind": k.Kind}
}

func (p *path) openAPI2() *spec.PathItem {
	item := &spec.PathItem{}
	for _, q := range p.parameters {
		item.Parameters = append(item.Parameters, *q.openAPI2())
	}
	for _, o := range p.operations {
		made := o.openAPI2()
		switch o.method {
		case "get":
			item.Get = made
		case "put":
			item.Put = made
		case "post":
			item.Post = made
		case "delete":
			item.Delete = made
		case "patch":
			item.Patch = made
		}
	}
	return item
}

func (p parameter) openAPI2() *spec.Parameter {
	made := &spec.Parameter{}
	if p.key != "" {
		made.Ref = spec.MustCreateRef("#/parameters/" + p.key)
		return made
	}
	made.Name, made.In, made.Description = p.name, p.in, p.description
	made.Type, made.UniqueItems, made.Required = p.valueType, true, p.in == "path"
	return made
}

func (o *operation) openAPI2() *spec.Operation {
	made := &spec.Operation{}
	made.ID, made.Description, made.Tags = o.id, o.description, []string{o.tag}
	made.Consumes, made.Produces, made.Schemes = o.consumes, o.produces, []string{"https"}
	if o.body != "" {
		body := spec.Parameter{}
		body.Name, body.In, body.Required, body.Schema = "body", "body", !o.optionalBody, reference(openAPIV2, o.body)
		made.Parameters = append(made.Parameters, body)
	}
	for _, q := range o.parameters {
		made.Parameters = append(made.Parameters, *q.openAPI2())
	}
	responses := map[int]spec.Response{http.StatusUnauthorized: {ResponseProps: spec.ResponseProps{Description: http.StatusText(http.StatusUnauthorized)}}}
	for _, code := range o.codes {
		responses[code] = spec.Response{ResponseProps: spec.ResponseProps{Description: http.StatusText(code), Schema: reference(openAPIV2, o.response)}}
	}
	made.Responses = &spec.Responses{ResponsesProps: spec.ResponsesProps{StatusCodeResponses: responses}}
	made.Extensions = o.extensions()
	return made
}

func reference(f openAPIVersion, name string) *spec.Schema {
	return &spec.Schema{SchemaProps: spec.SchemaProps{Ref: f.reference(name)}}
}

func (o *operation) extensions() spec.Extensions {
	if o.action == "" {
		return nil
	}
	all := spec.Extensions{"x-kubernetes-action": o.action, kindExtension: kindValue(o.kind)}
	if o.supportsUnset {
		all[ownership.UnsetExtension] = true
	}
	return all
}
