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
	Group string // "" for the core
	// Name is what objects have as kind, Resource what paths have.
	Name, Resource string
	// Versions are the served ones, the preferred one first. Objects are stored at it.
	Versions   []string
	Namespaced bool
	// ShortNames are what people may call it, Categories words that include it, such as all.
	ShortNames, Categories []string
	// Subresources are the names of the subresources of a built-in kind, sorted. Definition has those of other kinds: use
	// SubresourcesAt.
	Subresources []string
	// OnlyCreate is for kinds that are questions: they are answered, not stored.
	OnlyCreate bool
	// ActsOn is the RESOURCE/SUBRESOURCE of the same group that serves create requests of the kind, for the object that the
	// body names; "" for other kinds.
	ActsOn string
	// ResetFields are the fields that endpoints ignore; Generation describes how metadata.generation is set.
	ResetFields []ResetField
	Generation  Generation
	// Fields are the selectable fields beside name and namespace; FieldAliases are other names of them, or of fields of the
	// kind as which this one is stored.
	Fields       []Field
	FieldAliases map[string]string
	Traits
	// Deprecated are the deprecated versions.
	Deprecated map[string]Deprecation
	// StoredAt is the apiVersion that objects are stored at, "" for that of the preferred version.
	// AlsoAt is an apiVersion of another group at which the same objects are there as well.
	StoredAt, AlsoAt string
	// SingularName is what one object is called, "" for the name in lower case; ListKind is what lists
	// have as kind, "" for the name and List.
	SingularName, ListKind string
	// Custom says that a CustomResourceDefinition defines the kind. Definition is what a kind brings
	// with it that is not in our tables; nil for those that are. Uses counts who writes objects of a kind
	// that may be replaced.
	Custom bool
	// IsClosed says that nothing can be created any more: the kind goes.
	IsClosed   bool
	Definition Definition
	Uses       *Uses
	// Kept is what others have made of the kind, by keys of their own. It goes with the kind.
	Kept sync.Map

	strategy
	// unsupportedField is the format of the error for labels that are not selectable; "" for the usual one.
	unsupportedField string
	// fieldsOf is the struct whose fields the kind has, such as core.v1.ConfigMap; "" if it has a struct of its own.
	fieldsOf string
}

// Definition is what a kind brings with it that is not in our tables.
type Definition interface {
	// Topology returns how objects merge at a version, which need not be served; ok is false if the
	// definition does not have it.
	Topology(version string) (t *schema.Type, ok bool)
	// Convert returns an object at another apiVersion.
	Convert(doc document.Value, from, to string) (document.Value, error)
	// Subresources returns the names of the subresources at a version, in the order of discovery.
	Subresources(version string) []string
	// ScalePaths returns the paths of the fields that a scale has at a version; nil if there is no scale.
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

// Singular is what one object of the kind is called.
func (k *Kind) Singular() string { return cmp.Or(k.SingularName, strings.ToLower(k.Name)) }

// ListName is what lists have as kind.
func (k *Kind) ListName() string { return cmp.Or(k.ListKind, k.Name+"List") }

// APIVersion is what objects at a version have as apiVersion.
func (k *Kind) APIVersion(version string) string {
	if k.Group == "" {
		return version
	}
	return k.Group + "/" + version
}

// HasVersion reports whether the kind is served at a version.
func (k *Kind) HasVersion(version string) bool { return slices.Contains(k.Versions, version) }

// StoreName names the kind in the keys of the store: apps/deployments, core/pods.
func (k *Kind) StoreName() string {
	group, _, ok := strings.Cut(k.StoredVersion(), "/")
	if !ok {
		group = coreGroup
	}
	return group + "/" + k.Resource
}

// String names the kind as people do in commands: deployments.apps.
func (k *Kind) String() string {
	if k.Group == "" {
		return k.Resource
	}
	return k.Resource + "." + k.Group
}
