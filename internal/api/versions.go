package api

import (
	"fmt"
	"strings"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/schema"
)

// StoredVersion returns the apiVersion at which objects of the kind are stored.
func (k *Kind) StoredVersion() string {
	if k.StoredAt != "" {
		return k.StoredAt
	}
	return k.APIVersion(k.Versions[0])
}

// Topology returns the merge topology of the kind at apiVersion; ok is false if the kind has no such version.
func (k *Kind) Topology(apiVersion string) (t *schema.Type, ok bool) {
	group, version, hasGroup := strings.Cut(apiVersion, "/")
	if !hasGroup {
		group, version = "", apiVersion
	}
	if k.Definition != nil {
		if group != k.Group {
			return nil, false
		}
		return k.Definition.Topology(version)
	}
	if apiVersion != k.AlsoServedAt && (group != k.Group || !k.HasVersion(version)) {
		return nil, false
	}
	if k.sharedStruct != "" {
		return builtinTopologies().Type(openAPINamePrefix + k.sharedStruct)
	}
	return BuiltinTopology(group, version, k.Name)
}

// Convert returns doc converted from the apiVersion from to the apiVersion to. If a built-in kind has no such conversion, the
// error is apply.ErrVersionGone.
func (k *Kind) Convert(doc document.Value, from, to string) (document.Value, error) {
	if from == to {
		return doc, nil
	}
	if k.Definition != nil {
		return k.Definition.Convert(doc, from, to)
	}
	convert := k.convert[conversion{from, to}]
	if convert == nil {
		return document.Value{}, fmt.Errorf("convert %v from %s to %s: %w", k, from, to, apply.ErrVersionGone)
	}
	doc = convert(doc)
	if doc.Get("apiVersion").IsAbsent() {
		return doc, nil
	}
	return doc.With("apiVersion", document.NewString(to)), nil
}

// EngineVersions returns the topologies and conversions of the kind for the apply engine.
func (k *Kind) EngineVersions() apply.Versions { return engineVersions{k} }

type engineVersions struct{ kind *Kind }

func (v engineVersions) Type(version string) (*schema.Type, bool) { return v.kind.Topology(version) }

func (v engineVersions) Convert(doc document.Value, from, to string) (document.Value, error) {
	return v.kind.Convert(doc, from, to)
}

// EngineOptions are the options of an apply engine that do not follow from the kind.
type EngineOptions struct {
	// Unset makes the engine accept unset markers in apply configurations.
	Unset bool
	// Default sets the defaults of the kind; see [apply.Options].
	Default func(document.Value) document.Value
}

// Engine returns an apply engine for requests to the given endpoint of the kind. The caller needs one engine per version if
// Default is set, because defaults depend on the version.
func (k *Kind) Engine(endpoint string, o EngineOptions) (*apply.Engine, error) {
	return apply.New(apply.Options{Versions: k.EngineVersions(), Reset: k.ResetFieldSets(endpoint), Unset: o.Unset, NoZeroKeys: !k.Custom, Default: o.Default})
}

// BodyEngine returns an apply engine for subresource bodies that are not the object itself, such as Scale.
func BodyEngine(gvk apischema.GroupVersionKind, o EngineOptions) (*apply.Engine, error) {
	t, ok := BuiltinTopology(gvk.Group, gvk.Version, gvk.Kind)
	if !ok {
		return nil, fmt.Errorf("%v: no merge topology", gvk)
	}
	return apply.New(apply.Options{Versions: apply.OneVersion(gvk.GroupVersion().String(), t), Unset: o.Unset, NoZeroKeys: true, Default: o.Default})
}
