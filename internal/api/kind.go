package api

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/schema"
)

// Kind describes a resource type, such as deployments.apps, in all its versions.
type Kind struct {
	Group string // Group is the API group; "" is the core group.
	// Name is the kind (Deployment); Resource is the plural name in request paths (deployments).
	Name, Resource string
	// Versions are the served versions, the preferred version first.
	Versions   []string
	Namespaced bool
	// ShortNames are the abbreviations that kubectl accepts. Categories are the named groups of resources, such as "all", to
	// which the resource belongs.
	ShortNames, Categories []string
	// Subresources are the names of the subresources of a built-in kind, sorted. It is empty for custom resources, whose
	// Definition lists the subresources per version. SubresourcesAt returns the subresources of both.
	Subresources []string
	// CreateOnly marks kinds such as SubjectAccessReview, which support only the verb create and are not stored.
	CreateOnly bool
	// ActsOn is the RESOURCE/SUBRESOURCE, such as pods/binding, that serves create requests for a create-only kind such as
	// Binding, on the object that the request body names. The resource is in the group of the kind. ActsOn is "" for all other
	// kinds.
	ActsOn string
	// ResetFields are the fields that endpoints ignore; Generation defines how metadata.generation is set.
	ResetFields []ResetField
	Generation  Generation
	// Fields are the fields that field selectors support besides metadata.name and metadata.namespace. FieldAliases maps
	// additional field labels to the names of fields in Fields of the storage version's kind.
	Fields       []Field
	FieldAliases map[string]string
	Traits
	// Deprecated maps each deprecated version to its Deprecation.
	Deprecated map[string]Deprecation
	// StoredAt is the apiVersion at which objects are stored; "" means the preferred version. AlsoServedAt is an apiVersion of
	// another group that serves the same objects.
	StoredAt, AlsoServedAt string
	// SingularName is the singular resource name; "" means the kind in lower case. ListKind is the kind of lists; "" means
	// the kind followed by List.
	SingularName, ListKind string
	// Custom marks kinds that a CustomResourceDefinition defines.
	Custom bool
	// Terminating makes the server reject creates, because the kind's CustomResourceDefinition is being deleted.
	Terminating bool
	// Definition supplies topologies, conversions and subresources that no kind file declares. It is nil for kinds that a
	// kind file declares.
	Definition Definition
	// WriteGate blocks writes while the kind is being replaced in the register; nil for a kind that is never replaced.
	WriteGate *WriteGate
	// Cache holds values that other packages derive from the kind, each under a key of an unexported type. It is discarded
	// with the kind.
	Cache sync.Map

	strategy
	// unsupportedLabelFormat is the format of the error for a field label that is not selectable; "" means Kubernetes'
	// general error text.
	unsupportedLabelFormat string
	// sharedStruct is the name of another kind's Go struct that defines the fields of this kind, such as core.v1.ConfigMap;
	// "" if the kind has a Go type of its own.
	sharedStruct string
}

// Definition supplies the properties of a kind that no kind file declares: a custom resource, or CustomResourceDefinition
// itself.
type Definition interface {
	// Topology returns the merge topology of objects at the given version, which need not be a served version; ok is false if
	// the definition has no such version.
	Topology(version string) (t *schema.Type, ok bool)
	// Convert returns doc converted from the apiVersion from to the apiVersion to.
	Convert(doc document.Value, from, to string) (document.Value, error)
	// Subresources returns the names of the subresources at the given version, in the order in which discovery lists them.
	Subresources(version string) []string
	// ScalePaths returns the paths of the fields that the scale subresource reads and writes at the given version; nil if that
	// version has no scale subresource.
	ScalePaths(version string) *ScalePaths
}

// SubresourcesAt returns the names of the subresources at the given version, in the order in which discovery lists them. The
// caller must not modify the result.
func (k *Kind) SubresourcesAt(version string) []string {
	if k.Definition != nil {
		return k.Definition.Subresources(version)
	}
	return k.Subresources
}

// HasSubresource reports whether the kind has the subresource name at the given version.
func (k *Kind) HasSubresource(version, name string) bool {
	return slices.Contains(k.SubresourcesAt(version), name)
}

// HasGoType reports whether the kind has a Go type that describes all fields of its objects, which protobuf encoding
// requires. It is false for custom resources, for kinds that share the Go struct of another kind, and for
// CustomResourceDefinitions, some of whose fields have several JSON types.
func (k *Kind) HasGoType() bool { return !k.Custom && k.Definition == nil && k.sharedStruct == "" }

// Singular returns the singular resource name.
func (k *Kind) Singular() string { return cmp.Or(k.SingularName, strings.ToLower(k.Name)) }

// ListName returns the kind of the resource's lists, such as DeploymentList.
func (k *Kind) ListName() string { return cmp.Or(k.ListKind, k.Name+"List") }

// APIVersion returns the apiVersion, such as apps/v1, of the kind's objects at the given version.
func (k *Kind) APIVersion(version string) string {
	if k.Group == "" {
		return version
	}
	return k.Group + "/" + version
}

// HasVersion reports whether the kind is served at the given version.
func (k *Kind) HasVersion(version string) bool { return slices.Contains(k.Versions, version) }

// StoreName returns the name of the kind in store keys, such as apps/deployments or core/pods.
func (k *Kind) StoreName() string {
	group, _, ok := strings.Cut(k.StoredVersion(), "/")
	if !ok {
		group = coreGroup
	}
	return group + "/" + k.Resource
}

// String returns the resource with its group, as in kubectl commands: deployments.apps.
func (k *Kind) String() string {
	if k.Group == "" {
		return k.Resource
	}
	return k.Resource + "." + k.Group
}
