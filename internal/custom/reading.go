package custom

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/version"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/cache"
	"github.com/cadastre/cadastre/internal/codec"
	"github.com/cadastre/cadastre/internal/kinds"
)

// reading is what a CustomResourceDefinition says, but for its schemas, which are large and read when they
// are first needed.
type reading struct {
	name, uid  string
	generation int64
	group      string
	namespaced bool
	preserve   bool // spec.preserveUnknownFields
	// wanted are the names that it asks for, accepted those that it has got.
	wanted, accepted names
	versions         []versionReading
	conversion       document.Value
	conditions       document.Value
	isTerminating    bool // it has been deleted
	finalizers       []string
	approval         string // where it was approved, or why it was not: for groups of the Kubernetes community
}

// approvalAnnotation is where definitions have their approval.
const approvalAnnotation = "api-approved.kubernetes.io"

// names are what a kind is called.
type names struct {
	plural, singular, kind, listKind string
	shortNames, categories           []string
}

// versionReading is what a definition says about one version.
type versionReading struct {
	name              string
	isServed, isStore bool
	// warning is what clients are told who use the version, "" if it is not deprecated.
	warning      string
	subresources kinds.Subresources
	columns      []codec.CustomColumn
	selectable   []string
	// schema is sealed: it can be compared, and is parsed again to be read.
	schema document.Value
}

// schemaPath is where definitions have their schemas.
var schemaPath = []string{"spec", "versions", document.AnyItem, "schema"}

// readDefinition reads a definition that is stored.
func readDefinition(object *cache.Object) (*reading, error) { return readSealed(object) }

// readSealed reads the definition that something stored has at a path.
func readSealed(object *cache.Object, path ...string) (*reading, error) {
	doc, err := document.ParseJSONBeside(object.Text(), document.Limits{MaxBytes: -1}, document.Value{}, slices.Concat(path, schemaPath)...)
	if err != nil {
		return nil, err
	}
	return read(doc.Lookup(path...)), nil
}

func read(doc document.Value) *reading {
	metadata, spec, status := doc.Get("metadata"), doc.Get("spec"), doc.Get("status")
	r := &reading{
		name: metadata.Get("name").Text(), uid: metadata.Get("uid").Text(), group: spec.Get("group").Text(),
		namespaced: spec.Get("scope").Text() == "Namespaced", preserve: spec.Get("preserveUnknownFields").Bool(),
		wanted: readNames(spec.Get("names")), accepted: readNames(status.Get("acceptedNames")),
		conversion: spec.Get("conversion"), conditions: status.Get("conditions"),
		isTerminating: !metadata.Get("deletionTimestamp").IsAbsent(), finalizers: texts(metadata.Get("finalizers")),
		approval: metadata.Lookup("annotations", approvalAnnotation).Text(),
	}
	r.generation, _ = metadata.Get("generation").Int64()
	for _, v := range spec.Get("versions").Items() {
		r.versions = append(r.versions, r.readVersion(v))
	}
	return r
}

func readNames(v document.Value) names {
	return names{
		plural: v.Get("plural").Text(), singular: v.Get("singular").Text(), kind: v.Get("kind").Text(), listKind: v.Get("listKind").Text(),
		shortNames: texts(v.Get("shortNames")), categories: texts(v.Get("categories")),
	}
}

func texts(list document.Value) (all []string) {
	for _, item := range list.Items() {
		all = append(all, item.Text())
	}
	return all
}

func (n names) equal(other names) bool {
	return n.plural == other.plural && n.singular == other.singular && n.kind == other.kind && n.listKind == other.listKind &&
		slices.Equal(n.shortNames, other.shortNames) && slices.Equal(n.categories, other.categories)
}

func (r *reading) readVersion(v document.Value) versionReading {
	read := versionReading{
		name: v.Get("name").Text(), isServed: v.Get("served").Bool(), isStore: v.Get("storage").Bool(),
		schema: v.Get("schema"),
	}
	if v.Get("deprecated").Bool() {
		read.warning = v.Get("deprecationWarning").Text()
		if v.Get("deprecationWarning").IsAbsent() {
			read.warning = r.group + "/" + read.name + " " + r.wanted.kind + " is deprecated"
		}
	}
	read.subresources.Status = v.Lookup("subresources", "status").Kind() == document.Map
	if scale := v.Lookup("subresources", "scale"); scale.Kind() == document.Map {
		read.subresources.Scale = &kinds.ScalePaths{
			Replicas:       splitPath(scale.Get("specReplicasPath").Text()),
			StatusReplicas: splitPath(scale.Get("statusReplicasPath").Text()),
		}
		if selector := scale.Get("labelSelectorPath").Text(); selector != "" {
			read.subresources.Scale.Selector = splitPath(selector)
		}
	}
	for _, column := range v.Get("additionalPrinterColumns").Items() {
		read.columns = append(read.columns, readColumn(column))
	}
	for _, field := range v.Get("selectableFields").Items() {
		read.selectable = append(read.selectable, strings.TrimPrefix(field.Get("jsonPath").Text(), "."))
	}
	return read
}

func readColumn(v document.Value) codec.CustomColumn {
	priority, _ := v.Get("priority").Int64()
	return codec.CustomColumn{
		Column: codec.Column{
			Name: v.Get("name").Text(), Type: v.Get("type").Text(), Format: v.Get("format").Text(),
			Description: v.Get("description").Text(), Priority: int(priority),
		},
		JSONPath: v.Get("jsonPath").Text(),
	}
}

// splitPath reads .spec.replicas.
func splitPath(path string) []string { return strings.Split(strings.TrimPrefix(path, "."), ".") }

// served returns the versions that are, the preferred one first.
func (r *reading) served() (served []string) {
	for i := range r.versions {
		if r.versions[i].isServed {
			served = append(served, r.versions[i].name)
		}
	}
	slices.SortFunc(served, func(a, b string) int { return version.CompareKubeAwareVersionStrings(b, a) })
	return served
}

// stored returns the version at which objects are stored.
func (r *reading) stored() string {
	for i := range r.versions {
		if r.versions[i].isStore {
			return r.versions[i].name
		}
	}
	return ""
}

// deprecations returns what clients are told who use a version, by version. The newest one that is not
// deprecated is recommended, unless the definition has words of its own.
func (r *reading) deprecations() map[string]kinds.Deprecation {
	var told map[string]kinds.Deprecation
	served := r.served()
	for _, v := range r.versions {
		if v.warning == "" {
			continue
		}
		text := v.warning
		if text == r.group+"/"+v.name+" "+r.wanted.kind+" is deprecated" {
			for _, other := range served {
				if o := r.version(other); o.warning == "" && version.CompareKubeAwareVersionStrings(v.name, other) < 0 {
					text += "; use " + r.group + "/" + other + " " + r.wanted.kind
					break
				}
			}
		}
		if told == nil {
			told = map[string]kinds.Deprecation{}
		}
		told[v.name] = kinds.Deprecation{Warning: text}
	}
	return told
}

// version returns what is said about a version; nil if nothing is.
func (r *reading) version(name string) *versionReading {
	for i := range r.versions {
		if r.versions[i].name == name {
			return &r.versions[i]
		}
	}
	return nil
}

// condition returns a condition of the definition, absent if it has none of that type.
func (r *reading) condition(name string) document.Value {
	for _, c := range r.conditions.Items() {
		if c.Get("type").Text() == name {
			return c
		}
	}
	return document.Value{}
}

func (r *reading) isTrue(condition string) bool {
	return r.condition(condition).Get("status").Text() == "True"
}
