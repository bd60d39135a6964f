package discovery

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/encoding"
)

// path is a path of an OpenAPI document with its operations.
type path struct {
	address    string      // address is the path template, such as /api/v1/namespaces/{namespace}/pods.
	parameters []parameter // parameters are the parameters that all operations share.
	operations []*operation
}

// operation is an operation of an OpenAPI document: an HTTP method at a path.
type operation struct {
	method, action string // action is x-kubernetes-action; "" for operations of discovery documents.
	id, tag        string
	description    string
	parameters     []parameter
	body           string // body is the name of the request body's definition; "" if the operation has no request body.
	optionalBody   bool   // optionalBody reports whether requests may omit the body.
	consumes       []string
	produces       []string
	codes          []int  // codes are the status codes of successful responses.
	response       string // response is the name of the response body's definition.
	kind           schema.GroupVersionKind
	supportsUnset  bool // supportsUnset reports whether the operation is an apply that supports unset markers.
}

// pathBuilder builds the paths of an OpenAPI document, and the definitions that they use.
type pathBuilder struct {
	*definitionBuilder
	parameters *parameters
	options    Options
}

func newPathBuilder(f openAPIVersion, options Options) *pathBuilder {
	return &pathBuilder{newDefinitionBuilder(f), newParameters(), options}
}

// prefix returns the path prefix of the given group and version: /api/v1 or /apis/GROUP/VERSION.
func prefix(group, version string) string {
	if group == "" {
		return "/api/" + version
	}
	return "/apis/" + group + "/" + version
}

// tag returns the OpenAPI tag of a group, such as rbacAuthorization for rbac.authorization.k8s.io.
func tag(group string) string {
	if group == "" {
		return "core"
	}
	parts := strings.FieldsFunc(strings.TrimSuffix(group, ".k8s.io"), func(r rune) bool { return r == '.' || r == '-' })
	for i, part := range parts[1:] {
		parts[i+1] = capitalize(part)
	}
	return strings.Join(parts, "")
}

func capitalize(s string) string {
	for i, r := range s {
		return string(unicode.ToUpper(r)) + s[i+len(string(r)):]
	}
	return s
}

// documentPath returns the path of a discovery document, whose response has the Go type answer.
func (b *pathBuilder) documentPath(address, id, tag, description string, media []string, answer reflect.Type) *path {
	return &path{address: address, operations: []*operation{{
		method: "get", id: id, tag: tag, description: description,
		consumes: media, produces: media, codes: []int{200}, response: b.define(answer),
	}}}
}

func (b *pathBuilder) versionPath() *path {
	return b.documentPath("/version/", "getCodeVersion", "version", "the version of the server", []string{mediaJSON}, reflect.TypeFor[version.Info]())
}

func (b *pathBuilder) corePath() *path {
	return b.documentPath("/api/", "getCoreAPIVersions", "core", "the versions of the core group", encoding.MediaTypes(), reflect.TypeFor[metav1.APIVersions]())
}

func (b *pathBuilder) groupsPath() *path {
	return b.documentPath("/apis/", "getAPIVersions", "apis", "the groups and their versions", encoding.MediaTypes(), reflect.TypeFor[metav1.APIGroupList]())
}

func (b *pathBuilder) groupPath(group string) *path {
	id := "get" + capitalize(tag(group)) + "APIGroup"
	return b.documentPath("/apis/"+group+"/", id, tag(group), "the versions of the group", encoding.MediaTypes(), reflect.TypeFor[metav1.APIGroup]())
}

func (b *pathBuilder) resourcesPath(group, version string) *path {
	id := "get" + capitalize(tag(group)) + capitalize(version) + "APIResources"
	return b.documentPath(prefix(group, version)+"/", id, tag(group)+"_"+version, "the resources of the group at this version", encoding.MediaTypes(), reflect.TypeFor[metav1.APIResourceList]())
}

// kindPaths builds the paths of one kind at one of its versions.
type kindPaths struct {
	*pathBuilder
	kind             *api.Kind
	media            kindMedia
	gvk              schema.GroupVersionKind
	object, list     string // names of the definitions of objects and of lists
	collection, item string // path templates of all objects and of one object
}

// pathsOf returns the paths of k at the given version: those of its collections, objects and subresources.
func (b *pathBuilder) pathsOf(k *api.Kind, version string) []*path {
	p := &kindPaths{pathBuilder: b, kind: k, media: mediaOf(k, b.options.Drop), gvk: schema.GroupVersionKind{Group: k.Group, Version: version, Kind: k.Name}}
	p.object, p.list = b.defineKind(k, version)
	everywhere := prefix(k.Group, version) + "/" + k.Resource
	p.collection = everywhere
	if k.Namespaced {
		p.collection = prefix(k.Group, version) + "/namespaces/{namespace}/" + k.Resource
	}
	p.item = p.collection + "/{name}"
	if k.CreateOnly {
		return []*path{p.path(p.collection, p.create())}
	}
	onCollection := []*operation{p.listing(""), p.create()}
	if !k.NoDeleteCollection {
		onCollection = append(onCollection, p.deleteCollection())
	}
	paths := []*path{
		p.path(p.collection, onCollection...),
		p.path(p.item, p.delete(), p.read("", p.object, p.gvk), p.patch("", p.object, p.gvk), p.replace("", p.object, p.gvk)),
	}
	if k.Namespaced {
		paths = append(paths, p.path(everywhere, p.listing("ForAllNamespaces")))
	}
	for _, s := range subresourcesOf(k, version, b.options.Subresources) {
		paths = append(paths, p.subresource(s))
	}
	return paths
}

// path returns the path address with the given operations. It moves parameters that all operations have from the operations to
// the path.
func (p *kindPaths) path(address string, operations ...*operation) *path {
	at := &path{address: address, operations: operations}
	common := slices.DeleteFunc(slices.Clone(operations[0].parameters), func(q parameter) bool {
		return slices.ContainsFunc(operations, func(o *operation) bool { return !slices.Contains(o.parameters, q) })
	})
	for _, o := range operations {
		o.parameters = slices.DeleteFunc(slices.Clone(o.parameters), func(q parameter) bool { return slices.Contains(common, q) })
	}
	own := []parameter{p.parameters.pretty}
	if strings.Contains(address, "{namespace}") {
		own = append(own, p.parameters.namespace)
	}
	if strings.Contains(address, "{name}") {
		own = append(own, parameter{name: "name", in: "path", valueType: "string", description: "the name of the " + p.kind.Name})
	}
	at.parameters = sortedParameters(common, own)
	return at
}

// subresource returns the path of the subresource s, with an operation for each verb of s.
func (p *kindPaths) subresource(s api.SubresourceInfo) *path {
	object, gvk := p.object, p.gvk
	if !s.Body.Empty() {
		gvk = s.Body
		body, ok := p.types.goType(gvk)
		if !ok {
			// unreachable: the list of subresources is constant, and tests build the documents of all of them
			panic(fmt.Sprintf("subresource %s: no Go type of its body %v", s.Name, gvk))
		}
		object = p.define(body)
	}
	var operations []*operation
	for _, verb := range s.Verbs {
		switch verb {
		case "get":
			operations = append(operations, p.read(s.Name, object, gvk))
		case "patch":
			operations = append(operations, p.patch(s.Name, object, gvk))
		case "update":
			operations = append(operations, p.replace(s.Name, object, gvk))
		case "create":
			operations = append(operations, p.createSubresource(s.Name, object, gvk))
		}
	}
	return p.path(p.item+"/"+s.Name, operations...)
}

// operation returns an operation with the properties that all operations of the kind share. description is a format string
// whose argument is the kind. verb is a format string for the operation's ID; its arguments are the group and version, and the
// kind.
func (p *kindPaths) operation(method, action, verb, subresource, description string) *operation {
	tagged := tag(p.kind.Group)
	namespaced := ""
	if p.kind.Namespaced {
		namespaced = "Namespaced"
	}
	if subresource != "" {
		description += ", its " + subresource
	}
	return &operation{
		method: method, action: action, tag: tagged + "_" + p.gvk.Version, description: fmt.Sprintf(description, p.kind.Name),
		id:       fmt.Sprintf(verb, capitalize(tagged)+capitalize(p.gvk.Version), namespaced+p.kind.Name) + capitalize(subresource),
		consumes: p.media.bodies, produces: p.media.objects, codes: []int{200}, kind: p.gvk, response: p.object,
	}
}

func (p *kindPaths) listing(address string) *operation {
	o := p.operation("get", "list", "list%s%s", "", "lists or watches objects of kind %s")
	if address != "" {
		o.id = strings.Replace(o.id, "Namespaced", "", 1) + address
	}
	o.parameters, o.produces, o.response = p.parameters.forList, p.media.listings, p.list
	return o
}

func (p *kindPaths) create() *operation {
	o := p.operation("post", "post", "create%s%s", "", "creates a %s")
	o.parameters, o.body, o.codes = p.parameters.forWrite, p.object, []int{200, 201, 202}
	return o
}

// createSubresource returns the POST operation of a subresource that supports the verb create, such as pods/eviction.
func (p *kindPaths) createSubresource(subresource, object string, gvk schema.GroupVersionKind) *operation {
	o := p.operation("post", "post", "create%s%s", subresource, "creates a subresource of one %s")
	o.parameters, o.body, o.codes = p.parameters.forWrite, object, []int{200, 201, 202}
	o.response, o.kind = object, gvk
	return o
}

func (p *kindPaths) deleteCollection() *operation {
	o := p.operation("delete", "deletecollection", "delete%sCollection%s", "", "deletes all selected objects of kind %s")
	o.parameters, o.response = p.parameters.forCollection, p.define(reflect.TypeFor[metav1.Status]())
	o.body, o.optionalBody = p.define(reflect.TypeFor[metav1.DeleteOptions]()), true
	return o
}

func (p *kindPaths) read(subresource, object string, gvk schema.GroupVersionKind) *operation {
	o := p.operation("get", "get", "read%s%s", subresource, "reads one %s")
	o.response, o.kind = object, gvk
	return o
}

func (p *kindPaths) replace(subresource, object string, gvk schema.GroupVersionKind) *operation {
	o := p.operation("put", "put", "replace%s%s", subresource, "replaces one %s")
	o.parameters, o.body, o.codes = p.parameters.forWrite, object, []int{200, 201}
	o.response, o.kind = object, gvk
	return o
}

func (p *kindPaths) patch(subresource, object string, gvk schema.GroupVersionKind) *operation {
	o := p.operation("patch", "patch", "patch%s%s", subresource, "partially updates one %s, or applies a configuration to it")
	o.parameters, o.consumes, o.codes = p.parameters.forPatch, p.media.patches, []int{200, 201}
	if subresource == "" {
		o.parameters = p.parameters.forObjectPatch
	}
	o.body, o.response, o.kind, o.supportsUnset = p.define(reflect.TypeFor[metav1.Patch]()), object, gvk, p.options.Unset
	return o
}

func (p *kindPaths) delete() *operation {
	o := p.operation("delete", "delete", "delete%s%s", "", "deletes one %s")
	o.parameters, o.codes = p.parameters.forDelete, []int{200, 202}
	o.body, o.optionalBody = p.define(reflect.TypeFor[metav1.DeleteOptions]()), true
	if !returnsDeleted[p.kind.String()] {
		o.response = p.define(reflect.TypeFor[metav1.Status]())
	}
	return o
}

// returnsDeleted is the set of kinds whose deletion, according to kube-apiserver's OpenAPI documents, returns the deleted
// object. The deletion of other kinds returns a Status.
var returnsDeleted = map[string]bool{
	"persistentvolumeclaims": true, "persistentvolumes": true, "pods": true, "podtemplates": true,
	"resourcequotas": true, "serviceaccounts": true, "services": true,
	"deviceclasses.resource.k8s.io": true, "resourceclaims.resource.k8s.io": true,
	"resourceclaimtemplates.resource.k8s.io": true, "resourceslices.resource.k8s.io": true,
	"csidrivers.storage.k8s.io": true, "csinodes.storage.k8s.io": true, "storageclasses.storage.k8s.io": true,
	"volumeattachments.storage.k8s.io": true, "volumeattributesclasses.storage.k8s.io": true,
}
