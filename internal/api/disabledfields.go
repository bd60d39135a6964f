package api

import (
	"slices"
	"strings"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api/builtin/kinds"
)

// disabledFeature lists the fields of a feature gate of Kubernetes that is off by default. An update retains these fields if the
// live object sets any of them; otherwise they are removed.
type disabledFeature struct {
	gate   string
	fields []fieldPath
}

// podFeatures are the disabled features with fields in a pod spec.
var podFeatures = []disabledFeature{
	{"AtomicWriteVolumeUserFields", slices.Concat(
		fieldPaths("volumes[].", "secret.defaultUser", "secret.items[].user", "configMap.defaultUser", "configMap.items[].user",
			"downwardAPI.defaultUser", "downwardAPI.items[].user", "projected.defaultUser"),
		fieldPaths("volumes[].projected.sources[].", "secret.items[].user", "configMap.items[].user", "downwardAPI.items[].user",
			"serviceAccountToken.user", "clusterTrustBundle.user", "podCertificate.user"),
	)},
	{"GenericWorkload", fieldPaths("", "schedulingGroup")},
	{"GRPCContainerProbeTLS", containerPaths("livenessProbe.grpc.tls", "readinessProbe.grpc.tls", "startupProbe.grpc.tls")},
	{"EvictionRequestAPI", fieldPaths("", "evictionResponders")},
	{"EmptyDirVolumeMode", fieldPaths("", "volumes[].emptyDir.mode")},
	{"VolumeBindMountOptions", containerPaths("volumeMounts[].bindMountOptions")},
	{"H2CContainerProbe", containerPaths("livenessProbe.httpGet.protocol", "readinessProbe.httpGet.protocol",
		"startupProbe.httpGet.protocol", "lifecycle.postStart.httpGet.protocol", "lifecycle.preStop.httpGet.protocol")},
}

// setDisabledFields sets the disabled features from the section "disabled fields" of a kind file, whose lines have the syntax
// GATE PATH….
func (k *Kind) setDisabledFields(d *kinds.Declaration) error {
	for _, s := range d.Sections(kinds.DisabledFields) {
		lines, err := s.Lines()
		if err != nil {
			return err
		}
		for _, l := range lines {
			words := strings.Fields(l.Text)
			if len(words) < 2 {
				return s.Errorf(l.Number, "%w", errExpected("GATE PATH…", l.Text))
			}
			k.disabled = append(k.disabled, disabledFeature{words[0], fieldPaths("", words[1:]...)})
		}
	}
	return nil
}

// dropDisabledFields removes the fields of disabled features, as kube-apiserver does. Fields that are set in the live object
// are retained.
func (k *Kind) dropDisabledFields(obj, live document.Value) document.Value {
	for _, f := range k.disabled {
		obj = f.drop(obj, live)
	}
	if k.podSpec == nil {
		return obj
	}
	spec, old := obj.Lookup(k.podSpec...), live.Lookup(k.podSpec...)
	result := spec
	for _, f := range podFeatures {
		result = f.drop(result, old)
	}
	if hasStopSignal(spec) && !hasStopSignal(old) {
		result = removeStopSignals(result)
	}
	if document.Same(result, spec) {
		return obj
	}
	return put(obj, result, k.podSpec...)
}

// drop returns v without the fields of the feature, or v itself if live has one of them.
func (f disabledFeature) drop(v, live document.Value) document.Value {
	isSet := func(doc document.Value) bool {
		return slices.ContainsFunc(f.fields, func(p fieldPath) bool { return p.isSet(doc) })
	}
	if !isSet(v) || isSet(live) {
		return v
	}
	for _, p := range f.fields {
		v = p.remove(v)
	}
	return v
}

// fieldPath is a path of field names. The suffix [] of a name, such as volumes[], selects all items of that list; the suffix {}
// selects all values of that map.
type fieldPath []string

// fieldPaths parses paths that have a common prefix.
func fieldPaths(prefix string, paths ...string) []fieldPath {
	var all []fieldPath
	for _, path := range paths {
		all = append(all, strings.Split(prefix+path, "."))
	}
	return all
}

// containerPaths returns paths in all containers of a pod spec.
func containerPaths(paths ...string) []fieldPath {
	var all []fieldPath
	for _, list := range containerLists {
		all = append(all, fieldPaths(list+"[].", paths...)...)
	}
	return all
}

// isSet reports whether v has a value other than null at the path.
func (p fieldPath) isSet(v document.Value) bool {
	if len(p) == 0 {
		return !isAbsentOrNull(v)
	}
	rest := p[1:]
	if list, ok := strings.CutSuffix(p[0], "[]"); ok {
		for _, item := range v.Get(list).Items() {
			if rest.isSet(item) {
				return true
			}
		}
		return false
	}
	if name, ok := strings.CutSuffix(p[0], "{}"); ok {
		for _, value := range v.Get(name).Fields() {
			if rest.isSet(value) {
				return true
			}
		}
		return false
	}
	return rest.isSet(v.Get(p[0]))
}

// remove returns v without the fields at the path; v itself if it has none.
func (p fieldPath) remove(v document.Value) document.Value {
	if !p.isSet(v) {
		return v
	}
	rest := p[1:]
	if list, ok := strings.CutSuffix(p[0], "[]"); ok {
		return putItems(v, rest.remove, list)
	}
	if name, ok := strings.CutSuffix(p[0], "{}"); ok {
		values := v.Get(name)
		for key, value := range values.Fields() {
			values = values.With(key, rest.remove(value))
		}
		return put(v, values, name)
	}
	if len(rest) == 0 {
		return v.Without(p[0])
	}
	return put(v, rest.remove(v.Get(p[0])), p[0])
}

// containerLists are the fields of a pod spec that hold containers.
var containerLists = []string{"initContainers", "containers", "ephemeralContainers"}

func hasStopSignal(spec document.Value) bool {
	for _, list := range containerLists {
		for _, container := range spec.Get(list).Items() {
			if !isAbsentOrNull(container.Lookup("lifecycle", "stopSignal")) {
				return true
			}
		}
	}
	return false
}

func removeStopSignals(spec document.Value) document.Value {
	for _, list := range containerLists {
		spec = putItems(spec, func(container document.Value) document.Value {
			lifecycle := container.Get("lifecycle")
			switch rest := lifecycle.Without("stopSignal"); {
			case isAbsentOrNull(lifecycle.Get("stopSignal")):
				return container
			case rest.Len() == 0:
				return container.Without("lifecycle")
			default:
				return container.With("lifecycle", rest)
			}
		}, list)
	}
	return spec
}

// prepareNode removes spec.configSource, the source of dynamic kubelet configuration, which Kubernetes no longer supports.
// It is retained if it is set in the live node.
func prepareNode(obj, live document.Value, _ Write) document.Value {
	return dropNewField(obj, live, "spec", "configSource")
}

// prepareNodeStatus removes spec.configSource as prepareNode does, and status.config, the status of dynamic kubelet
// configuration. Each of the two fields is retained if it is set in the live node.
func prepareNodeStatus(obj, live document.Value, w Write) document.Value {
	return dropNewField(prepareNode(obj, live, w), live, "status", "config")
}

// dropNewField returns obj without the field parent.name, unless live has that field.
func dropNewField(obj, live document.Value, parent, name string) document.Value {
	if obj.Lookup(parent, name).IsAbsent() || !isAbsentOrNull(live.Lookup(parent, name)) {
		return obj
	}
	return obj.With(parent, obj.Get(parent).Without(name))
}
