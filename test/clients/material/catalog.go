package material

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// observeCatalog observes the documents that the server publishes for the kinds: discovery, OpenAPI, and the output of
// kubectl explain.
func (o *observer) observeCatalog(ctx context.Context) error {
	groups := map[string][]string{}
	for _, d := range o.manifest.Definitions {
		if err := o.waitPublished(ctx, d); err != nil {
			return err
		}
		group := d.Typed.Spec.Group
		groups[group] = append(groups[group], d.servedVersions()...)
	}
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		if err := o.observeGroup(ctx, group); err != nil {
			return err
		}
		slices.Sort(groups[group])
		for _, version := range slices.Compact(groups[group]) {
			if err := o.observeResources(ctx, group+"/"+version); err != nil {
				return err
			}
			if err := o.observeOpenAPI(ctx, group+"/"+version); err != nil {
				return err
			}
		}
	}
	return o.observeExplain(ctx)
}

// waitPublished waits until OpenAPI contains all served versions of d. kube-apiserver publishes them some time after it
// serves them.
func (o *observer) waitPublished(ctx context.Context, d Definition) error {
	for _, version := range d.servedVersions() {
		gv := d.Typed.Spec.Group + "/" + version
		err := eventually(ctx, "OpenAPI has "+d.Typed.Name+" "+version, func() (bool, error) {
			a, err := o.request(ctx, http.MethodGet, "/openapi/v3/apis/"+gv, "application/json", nil)
			if err != nil || !a.ok() {
				return false, err
			}
			paths, _, _ := unstructured.NestedMap(a.body, "paths")
			for path := range paths {
				if strings.HasSuffix(path, "/"+d.Typed.Spec.Names.Plural) {
					return true, nil
				}
			}
			return false, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// observeGroup observes the resources of the project in aggregated discovery of the given API group.
func (o *observer) observeGroup(ctx context.Context, group string) error {
	a, err := o.request(ctx, http.MethodGet, "/apis", aggregated, nil)
	if err != nil {
		return err
	}
	for _, found := range listOf(a.body["items"]) {
		if name, _, _ := unstructured.NestedString(found, "metadata", "name"); name == group {
			found = scrubbed(found)
			for _, version := range listOf(found["versions"]) {
				version["resources"] = o.ownResources(group, listOf(version["resources"]), "resource")
			}
			o.add("discovery "+group, "found", canonical(found))
			return nil
		}
	}
	o.add("discovery "+group, "missing", "")
	return nil
}

// observeResources observes the resources of gv, a group version, in legacy discovery. It sorts them, because
// kube-apiserver returns them in no fixed order.
func (o *observer) observeResources(ctx context.Context, gv string) error {
	a, err := o.request(ctx, http.MethodGet, "/apis/"+gv, "application/json", nil)
	if err != nil {
		return err
	}
	group, _, _ := strings.Cut(gv, "/")
	resources := o.ownResources(group, listOf(a.body["resources"]), "name")
	slices.SortFunc(resources, func(a, b map[string]any) int {
		return cmp.Compare(fmt.Sprint(a["name"]), fmt.Sprint(b["name"]))
	})
	a.body["resources"] = resources
	o.add("resources "+gv, fmt.Sprint(a.code), canonical(a.body))
	return nil
}

// observeOpenAPI observes the OpenAPI document of gv, a group version: the paths with their methods, and the schemas of
// the kinds. It omits media types and descriptions of parameters, which differ between servers.
func (o *observer) observeOpenAPI(ctx context.Context, gv string) error {
	a, err := o.request(ctx, http.MethodGet, "/openapi/v3/apis/"+gv, "application/json", nil)
	if err != nil {
		return err
	}
	group, version, _ := strings.Cut(gv, "/")
	paths := map[string]any{}
	published, _ := a.body["paths"].(map[string]any)
	for path, operations := range published {
		resource := strings.TrimPrefix(strings.TrimPrefix(path, "/apis/"+gv+"/"), "namespaces/{namespace}/")
		if o.defines(group, resource) { // only paths of resources are compared, because Cadastre has a path of the group too
			paths[path] = slices.Sorted(maps.Keys(operations.(map[string]any)))
		}
	}
	schemas, _, _ := unstructured.NestedMap(a.body, "components", "schemas")
	kinds := map[string]any{}
	for _, d := range o.manifest.Definitions {
		name := strings.Split(group, ".")
		slices.Reverse(name)
		id := strings.Join(name, ".") + "." + version + "." + d.Typed.Spec.Names.Kind
		if schema, found := schemas[id]; found && d.Typed.Spec.Group == group {
			kinds[id] = withoutMetadata(schema)
		}
	}
	o.add("openapi "+gv, fmt.Sprint(a.code), canonical(map[string]any{"paths": paths, "kinds": kinds}))
	return nil
}

// defines reports whether the project defines resource, or, if resource is a subresource, its main resource. The check
// is necessary because several projects share API groups.
func (o *observer) defines(group, resource string) bool {
	resource, _, _ = strings.Cut(resource, "/")
	return slices.ContainsFunc(o.manifest.Definitions, func(d Definition) bool {
		return d.Typed.Spec.Group == group && d.Typed.Spec.Names.Plural == resource
	})
}

// ownResources returns those of the resources that the project defines. field is the name of the member of a resource
// that contains its name. ownResources modifies the slice resources.
func (o *observer) ownResources(group string, resources []map[string]any, field string) []map[string]any {
	return slices.DeleteFunc(resources, func(r map[string]any) bool { return !o.defines(group, fmt.Sprint(r[field])) })
}

// withoutMetadata removes the descriptions of metadata, and of apiVersion and kind of embedded resources, from schema,
// because their wording differs between servers.
func withoutMetadata(schema any) any {
	switch s := schema.(type) {
	case []any:
		for i := range s {
			s[i] = withoutMetadata(s[i])
		}
	case map[string]any:
		for name, value := range s {
			s[name] = withoutMetadata(value)
		}
		if properties, _ := s["properties"].(map[string]any); properties != nil {
			if metadata, _ := properties["metadata"].(map[string]any); metadata["allOf"] != nil {
				delete(metadata, "description")
			}
			if s["x-kubernetes-embedded-resource"] == true {
				for _, name := range []string{"apiVersion", "kind"} {
					property, _ := properties[name].(map[string]any)
					delete(property, "description")
				}
			}
		}
	}
	return schema
}

// observeExplain observes the output of kubectl explain for every kind.
func (o *observer) observeExplain(ctx context.Context) error {
	for _, d := range o.manifest.Definitions {
		for _, version := range d.servedVersions() {
			text, err := o.kubectl(ctx, "explain", "--recursive", "--api-version="+d.Typed.Spec.Group+"/"+version, d.resource())
			if err != nil {
				return err
			}
			o.add("explain "+d.Typed.Name+" "+version, strings.Join(strings.Fields(firstLine(text)), " "), text)
		}
	}
	return nil
}

func (d Definition) resource() string { return d.Typed.Spec.Names.Plural + "." + d.Typed.Spec.Group }

// listOf returns the objects in value, a decoded JSON array. It returns nil if value is not an array.
func listOf(value any) (objects []map[string]any) {
	items, _ := value.([]any)
	for _, item := range items {
		if object, ok := item.(map[string]any); ok {
			objects = append(objects, object)
		}
	}
	return objects
}
