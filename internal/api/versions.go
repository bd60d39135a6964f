package kinds

import (
	"fmt"
	"strings"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/schema"
)

// StoredVersion is the apiVersion at which objects are stored.
func (k *Kind) StoredVersion() string {
	if k.StoredAt != "" {
		return k.StoredAt
	}
	return k.APIVersion(k.Versions[0])
}

// Topology returns how the kind merges at an apiVersion; ok is false if it does not have it.
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
	if apiVersion != k.AlsoAt && (group != k.Group || !k.HasVersion(version)) {
		return nil, false
	}
	return BuiltinTopology(group, version, k.Name)
}

// Convert returns an object at another apiVersion.
func (k *Kind) Convert(doc document.Value, from, to string) (document.Value, error) {
	if from == to {
		return doc, nil
	}
	if k.Definition != nil {
		return k.Definition.Convert(doc, from, to)
	}
	convert := converters[conversion{k.Name, from, to}]
	if convert == nil {
		return document.Value{}, fmt.Errorf("convert %v from %s to %s: %w", k, from, to, apply.ErrVersionGone)
	}
	doc = convert(doc)
	if doc.Get("apiVersion").IsAbsent() {
		return doc, nil
	}
	return doc.With("apiVersion", document.NewString(to)), nil
}

// conversion names a way from one apiVersion of a kind to another.
type conversion struct{ kind, from, to string }

// converters are those of the built-in kinds. They leave the apiVersion alone.
var converters = map[conversion]func(document.Value) document.Value{
	{"Event", "v1", "events.k8s.io/v1"}:                             eventOfEvents,
	{"Event", "events.k8s.io/v1", "v1"}:                             eventOfCore,
	{"HorizontalPodAutoscaler", "autoscaling/v1", "autoscaling/v2"}: autoscalerV2,
	{"HorizontalPodAutoscaler", "autoscaling/v2", "autoscaling/v1"}: autoscalerV1,
}

// EngineVersions returns the versions of the kind as the engine wants them.
func (k *Kind) EngineVersions() apply.Versions { return engineVersions{k} }

type engineVersions struct{ kind *Kind }

func (v engineVersions) Type(version string) (*schema.Type, bool) { return v.kind.Topology(version) }

func (v engineVersions) Convert(doc document.Value, from, to string) (document.Value, error) {
	return v.kind.Convert(doc, from, to)
}

// EngineOptions are what an engine needs that is not the kind's.
type EngineOptions struct {
	// Unset makes engines understand unset markers.
	Unset bool
	// Default fills in the kind's defaults; see [apply.Options].
	Default func(document.Value) document.Value
}

// Engine makes the engine of an endpoint. Whoever keeps it has one for each version: defaults are of a version.
func (k *Kind) Engine(endpoint string, o EngineOptions) (*apply.Engine, error) {
	if endpoint == scaleEndpoint {
		t, ok := BuiltinTopology("autoscaling", "v1", "Scale")
		if !ok || !k.HasScale && k.Definition == nil {
			return nil, fmt.Errorf("%v has no scale", k)
		}
		return apply.New(apply.Options{Versions: apply.OneVersion(ScaleVersion, t), Unset: o.Unset})
	}
	return apply.New(apply.Options{Versions: k.EngineVersions(), Reset: k.Reset(endpoint), Unset: o.Unset, Default: o.Default})
}
