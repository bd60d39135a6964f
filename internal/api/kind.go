package kinds

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
	// HasStatus and HasScale say which subresources there are.
	HasStatus, HasScale bool
	// OnlyCreate is for kinds that are questions: they are answered, not stored.
	OnlyCreate bool
	// Wipes are what can't be written at which endpoint; Generation is how metadata.generation
	// counts.
	Wipes      []Wipe
	Generation Generation
	// Fields are what field selectors can ask for, beside name and namespace; FieldAliases are
	// their other names, or those of the kind as which this one is stored.
	Fields       []Field
	FieldAliases map[string]string
	// Traits are what is not the same for all kinds.
	Traits
	// Deprecated are the versions that clients are advised against.
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

	prepare preparer
	fold    folder
	// podSpec is where the kind has the spec of a pod; nil if it has none.
	podSpec []string
}

// Definition is what a kind brings with it that is not in our tables.
type Definition interface {
	// Topology returns how objects merge at a version, which need not be served; ok is false if the
	// definition does not have it.
	Topology(version string) (t *schema.Type, ok bool)
	// Convert returns an object at another apiVersion.
	Convert(doc document.Value, from, to string) (document.Value, error)
	// Subresources says which there are at a version.
	Subresources(version string) Subresources
}

// Subresources are those that a kind has at a version.
type Subresources struct {
	Status bool
	// Scale says where objects have what a scale shows, nil for those that have no scale.
	Scale *ScalePaths
}

// HasSubresource reports whether there is a subresource of that name at a version.
func (k *Kind) HasSubresource(version, name string) bool {
	hasStatus, hasScale := k.HasStatus, k.HasScale
	if k.Definition != nil {
		has := k.Definition.Subresources(version)
		hasStatus, hasScale = has.Status, has.Scale != nil
	}
	return name == "status" && hasStatus || name == scaleEndpoint && hasScale
}

// HasProtobuf reports whether objects of the kind can be written in protobuf. Kinds that bring a definition can't: custom
// ones have no Go types, and definitions themselves have fields that are of several types in JSON. Their metadata can.
func (k *Kind) HasProtobuf() bool { return !k.Custom && k.Definition == nil }

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
