package crd

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/version"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/encoding"
	"github.com/cadastre/cadastre/internal/lib/fastdoc"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// Definition is a parsed CustomResourceDefinition. Schemas are parsed on first use, because they are large and most are never
// used.
type Definition struct {
	Name, UID             string
	Generation            int64
	Group                 string
	Namespaced            bool
	PreserveUnknownFields bool
	// RequestedNames are spec.names; AcceptedNames are status.acceptedNames.
	RequestedNames, AcceptedNames Names
	Versions                      []Version
	conversion                    document.Value
	conditions                    document.Value
	Terminating                   bool // Terminating reports whether metadata.deletionTimestamp is set.
	finalizers                    []string
	approval                      string // approval is the value of approvalAnnotation.
}

// approvalAnnotation is the annotation that a CustomResourceDefinition in a protected group, such as *.k8s.io, must have.
const approvalAnnotation = "api-approved.kubernetes.io"

// Names are the names of a custom resource, as in spec.names of its CustomResourceDefinition.
type Names struct {
	Plural, Singular, Kind, ListKind string
	ShortNames, Categories           []string
}

// Version is an item of spec.versions.
type Version struct {
	Name            string
	Served, Storage bool
	// deprecationWarning is the warning for clients that use the version; "" if the version is not deprecated.
	deprecationWarning string
	// subresources are the names of the subresources in the order in which discovery lists them. scale is nil if the version
	// has no scale subresource.
	subresources []string
	scale        *api.ScalePaths
	columns      []encoding.CustomColumn
	selectable   []string
	// Schema is the field schema as unparsed JSON. document.Equal compares two schemas; openSchema parses a schema.
	Schema document.Value
}

// schemaPath is the path of the schemas of all versions in a CustomResourceDefinition.
var schemaPath = []string{"spec", "versions", fastdoc.AnyItem, "schema"}

// ParseStored parses the CustomResourceDefinition at path inside object, a stored object; an empty path means the object
// itself. The schemas remain unparsed.
func ParseStored(object *watchcache.Object, path ...string) (*Definition, error) {
	doc, err := fastdoc.ParseJSONWithBase(object.Text(), document.Limits{MaxBytes: -1}, document.Value{}, slices.Concat(path, schemaPath)...)
	if err != nil {
		return nil, err
	}
	return Parse(doc.Lookup(path...)), nil
}

// Parse returns the Definition of a CustomResourceDefinition. It does not validate the document: absent or malformed fields
// have zero values.
func Parse(doc document.Value) *Definition {
	metadata, spec, status := doc.Get("metadata"), doc.Get("spec"), doc.Get("status")
	d := &Definition{
		Name: metadata.Get("name").Text(), UID: metadata.Get("uid").Text(), Group: spec.Get("group").Text(),
		Namespaced: spec.Get("scope").Text() == "Namespaced", PreserveUnknownFields: spec.Get("preserveUnknownFields").Bool(),
		RequestedNames: parseNames(spec.Get("names")), AcceptedNames: parseNames(status.Get("acceptedNames")),
		conversion: spec.Get("conversion"), conditions: status.Get("conditions"),
		Terminating: !metadata.Get("deletionTimestamp").IsAbsent(), finalizers: stringItems(metadata.Get("finalizers")),
		approval: metadata.Lookup("annotations", approvalAnnotation).Text(),
	}
	d.Generation, _ = metadata.Get("generation").Int64()
	for _, v := range spec.Get("versions").Items() {
		d.Versions = append(d.Versions, d.parseVersion(v))
	}
	return d
}

func parseNames(v document.Value) Names {
	return Names{
		Plural: v.Get("plural").Text(), Singular: v.Get("singular").Text(), Kind: v.Get("kind").Text(), ListKind: v.Get("listKind").Text(),
		ShortNames: stringItems(v.Get("shortNames")), Categories: stringItems(v.Get("categories")),
	}
}

func stringItems(list document.Value) (all []string) {
	for _, item := range list.Items() {
		all = append(all, item.Text())
	}
	return all
}

// Equal reports whether n and other contain the same names, with the short names and the categories in the same order.
func (n Names) Equal(other Names) bool {
	return n.Plural == other.Plural && n.Singular == other.Singular && n.Kind == other.Kind && n.ListKind == other.ListKind &&
		slices.Equal(n.ShortNames, other.ShortNames) && slices.Equal(n.Categories, other.Categories)
}

func (d *Definition) parseVersion(v document.Value) Version {
	read := Version{
		Name: v.Get("name").Text(), Served: v.Get("served").Bool(), Storage: v.Get("storage").Bool(),
		Schema: v.Get("schema"),
	}
	if v.Get("deprecated").Bool() {
		read.deprecationWarning = v.Get("deprecationWarning").Text()
		if v.Get("deprecationWarning").IsAbsent() {
			read.deprecationWarning = d.Group + "/" + read.Name + " " + d.RequestedNames.Kind + " is deprecated"
		}
	}
	for _, name := range []string{"status", "scale"} {
		if v.Lookup("subresources", name).Kind() == document.Map {
			read.subresources = append(read.subresources, name)
		}
	}
	if scale := v.Lookup("subresources", "scale"); scale.Kind() == document.Map {
		read.scale = &api.ScalePaths{
			Replicas:       splitPath(scale.Get("specReplicasPath").Text()),
			StatusReplicas: splitPath(scale.Get("statusReplicasPath").Text()),
		}
		if selector := scale.Get("labelSelectorPath").Text(); selector != "" {
			read.scale.Selector = splitPath(selector)
		}
	}
	for _, column := range v.Get("additionalPrinterColumns").Items() {
		read.columns = append(read.columns, parseColumn(column))
	}
	for _, field := range v.Get("selectableFields").Items() {
		read.selectable = append(read.selectable, strings.TrimPrefix(field.Get("jsonPath").Text(), "."))
	}
	return read
}

func parseColumn(v document.Value) encoding.CustomColumn {
	priority, _ := v.Get("priority").Int64()
	return encoding.CustomColumn{
		Column: encoding.Column{
			Name: v.Get("name").Text(), Type: v.Get("type").Text(), Format: v.Get("format").Text(),
			Description: v.Get("description").Text(), Priority: int(priority),
		},
		JSONPath: v.Get("jsonPath").Text(),
	}
}

// splitPath splits a JSON path such as .spec.replicas into field names.
func splitPath(path string) []string { return strings.Split(strings.TrimPrefix(path, "."), ".") }

// ServedVersions returns the names of the served versions, the preferred version first.
func (d *Definition) ServedVersions() (served []string) {
	for i := range d.Versions {
		if d.Versions[i].Served {
			served = append(served, d.Versions[i].Name)
		}
	}
	slices.SortFunc(served, func(a, b string) int { return version.CompareKubeAwareVersionStrings(b, a) })
	return served
}

// StorageVersion returns the name of the storage version; "" if there is none, which validation rejects.
func (d *Definition) StorageVersion() string {
	for i := range d.Versions {
		if d.Versions[i].Storage {
			return d.Versions[i].Name
		}
	}
	return ""
}

// Deprecations maps each deprecated version to its Deprecation; nil if no version is deprecated. If the CRD sets no
// warning for a version, the default warning recommends the most preferred newer version that is not deprecated, if there is
// one.
func (d *Definition) Deprecations() map[string]api.Deprecation {
	var all map[string]api.Deprecation
	served := d.ServedVersions()
	for _, v := range d.Versions {
		if v.deprecationWarning == "" {
			continue
		}
		text := v.deprecationWarning
		if text == d.Group+"/"+v.Name+" "+d.RequestedNames.Kind+" is deprecated" {
			for _, other := range served {
				if o := d.Version(other); o.deprecationWarning == "" && version.CompareKubeAwareVersionStrings(v.Name, other) < 0 {
					text += "; use " + d.Group + "/" + other + " " + d.RequestedNames.Kind
					break
				}
			}
		}
		if all == nil {
			all = map[string]api.Deprecation{}
		}
		all[v.Name] = api.Deprecation{Warning: text}
	}
	return all
}

// Version returns the version with the given name; nil if there is none.
func (d *Definition) Version(name string) *Version {
	for i := range d.Versions {
		if d.Versions[i].Name == name {
			return &d.Versions[i]
		}
	}
	return nil
}

// rawCondition returns the condition whose type is name as a document; an absent value if there is none.
func (d *Definition) rawCondition(name string) document.Value {
	for _, c := range d.conditions.Items() {
		if c.Get("type").Text() == name {
			return c
		}
	}
	return document.Value{}
}

// IsTrue reports whether the CRD has the given condition with the status True.
func (d *Definition) IsTrue(condition string) bool { return d.HasStatus(condition, "True") }

// HasStatus reports whether the CRD has the given condition with the given status.
func (d *Definition) HasStatus(condition, status string) bool {
	return d.rawCondition(condition).Get("status").Text() == status
}

// HasFinalizer reports whether the CRD has CleanupFinalizer, which delays its deletion until its custom resources are
// deleted.
func (d *Definition) HasFinalizer() bool { return slices.Contains(d.finalizers, CleanupFinalizer) }
