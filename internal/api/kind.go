package api

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/schema"
)

// Kind is a resource type with its versions.
type Kind struct {
	Group string // "" for the core group
	// Name is the kind of objects (Deployment), Resource the plural in request paths (deployments).
	Name, Resource string
	// Versions are the served versions, the preferred version first.
	Versions   []string
	Namespaced bool
	// ShortNames are abbreviations that kubectl accepts, Categories groups of resources such as "all".
	ShortNames, Categories []string
	// Subresources are the names of the subresources of a built-in kind, sorted. For other kinds they are in Definition:
	// use SubresourcesAt.
	Subresources []string
	// CreateOnly marks kinds such as SubjectAccessReview that support create only and are not stored.
	CreateOnly bool
	// ActsOn is the RESOURCE/SUBRESOURCE of the same group that serves create requests of the kind, for the object that
	// the body names; "" for other kinds.
	ActsOn string
	// ResetFields are the fields that endpoints ignore; Generation defines how metadata.generation is set.
	ResetFields []ResetField
	Generation  Generation
	// Fields are the selectable fields besides metadata.name and metadata.namespace; FieldAliases maps further labels to
	// selectable fields of the stored kind.
	Fields       []Field
	FieldAliases map[string]string
	Traits
	// Deprecated are the deprecated versions.
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
	// Definition supplies the properties that are not in the tables of built-in kinds; nil for kinds that have all of theirs there.
	Definition Definition
	// WriteGate blocks writes while the kind is replaced; nil for a kind that is never replaced.
	WriteGate *WriteGate
	// Cache holds values that other packages derive from the kind, each under a key of an unexported type. It is discarded
	// with the kind.
	Cache sync.Map

	strategy
	// unsupportedField is the error format for field labels that are not selectable; "" means Kubernetes' general format.
	unsupportedField string
	// fieldsOf is another kind's struct that defines the kind's fields, such as core.v1.ConfigMap; "" if the kind has a Go
	// type of its own.
	fieldsOf string
}

// Definition supplies the properties of a kind that are not in the tables of built-in kinds.
type Definition interface {
	// Topology returns the merge topology of objects at a version, which need not be served; ok is false if the definition
	// does not have the version.
	Topology(version string) (t *schema.Type, ok bool)
	// Convert returns an object converted to another apiVersion.
	Convert(doc document.Value, from, to string) (document.Value, error)
	// Subresources returns the names of the subresources at a version, in the order of discovery.
	Subresources(version string) []string
	// ScalePaths returns the paths of the fields that the scale subresource reads and writes at a version; nil if there is
	// no scale.
	ScalePaths(version string) *ScalePaths
}

// SubresourcesAt returns the names of the subresources at a version, in the order of discovery. The caller must not modify
// the result.
func (k *Kind) SubresourcesAt(version string) []string {
	if k.Definition != nil {
		return k.Definition.Subresources(version)
	}
	return k.Subresources
}

// HasSubresource reports whether the kind has a subresource at a version.
func (k *Kind) HasSubresource(version, name string) bool {
	return slices.Contains(k.SubresourcesAt(version), name)
}

// HasGoType reports whether a Go type describes all fields of the kind's objects, which encodings without field names need.
// It is false for custom resources, for kinds with the fields of another kind's struct, and for
// CustomResourceDefinitions, some fields of which have several JSON types.
func (k *Kind) HasGoType() bool { return !k.Custom && k.Definition == nil && k.fieldsOf == "" }

// Singular returns the singular resource name.
func (k *Kind) Singular() string { return cmp.Or(k.SingularName, strings.ToLower(k.Name)) }

// ListName returns the kind of lists.
func (k *Kind) ListName() string { return cmp.Or(k.ListKind, k.Name+"List") }

// APIVersion returns the apiVersion of objects at a version.
func (k *Kind) APIVersion(version string) string {
	if k.Group == "" {
		return version
	}
	return k.Group + "/" + version
}

// HasVersion reports whether the kind is served at a version.
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
