package schema_test

import (
	"reflect"
	"strings"
	"testing"

	"k8s.io/client-go/kubernetes/scheme"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/cadastre/cadastre/schema"
)

// contradictions are the lists of Kubernetes' Go types whose struct tags contradict the markers (+listType, …) from
// which Kubernetes generates its schemas. By KEP-555 the markers have precedence, but FromGoType can't see them.
var contradictions = map[string]string{
	"v1.Container.ports":                     "list keyed(containerPort), oracle keyed(containerPort,protocol)",
	"v1.EphemeralContainer.ports":            "list keyed(containerPort), oracle keyed(containerPort,protocol)",
	"v1.ServiceSpec.ports":                   "list keyed(port), oracle keyed(port,protocol)",
	"v1.PodSpec.topologySpreadConstraints":   "list keyed(topologyKey), oracle keyed(topologyKey,whenUnsatisfiable)",
	"v1.PodStatus.hostIPs":                   "list keyed(ip), oracle atomic",
	"v1.JobStatus.conditions":                "list keyed(type), oracle atomic",
	"v1.PodVolumeHealth.healthConditions":    "list keyed(status), oracle keyed(status,reason)",
	"v1.VolumeHealthStatus.healthConditions": "list keyed(status), oracle keyed(status,reason)",
}

// isOnlyInMarkers reports whether a difference is due to a marker (+mapType, +default, …) for which no struct tag
// exists.
func isOnlyInMarkers(place, difference string) bool {
	switch {
	case place == "opaque":
		return true // Kubernetes' schema generator treats FieldsV1 and RawExtension as empty structs
	case difference == "atomic map false, oracle true":
		return true
	case strings.HasPrefix(difference, "list atomic, oracle "):
		return true
	case strings.HasPrefix(difference, "default <absent>, oracle "):
		return !strings.HasSuffix(difference, "{}")
	}
	return false
}

// TestGoTypesOfKubernetes checks that FromGoType returns the topology of client-go's schema for all built-in kinds,
// except for the differences for which isOnlyInMarkers returns true, and for contradictions.
func TestGoTypesOfKubernetes(t *testing.T) {
	oracle, err := typed.NewParser(typed.YAMLObject(clientGoTypes(t)))
	if err != nil {
		t.Fatal(err)
	}
	compared, found := 0, map[string]bool{}
	for _, typ := range scheme.Scheme.AllKnownTypes() {
		named, ok := reflect.New(typ).Interface().(interface{ OpenAPIModelName() string })
		if !ok {
			continue
		}
		name := named.OpenAPIModelName()
		if _, ok := oracle.Schema.FindNamedType(name); !ok {
			continue // client-go has no schema for list kinds and options, which can't be applied
		}
		loaded, err := schema.FromGoType(typ)
		if err != nil {
			t.Errorf("%s: %v", typ, err)
			continue
		}
		compared++
		checkInvariants(t, loaded)
		newComparison(&oracle.Schema, func(place, difference string) {
			if contradictions[place] == difference {
				found[place] = true
			} else if !isOnlyInMarkers(place, difference) {
				t.Errorf("%s: %s", place, difference)
			}
		}).types(name, loaded, smd.TypeRef{NamedType: &name})
	}
	if compared < 150 {
		t.Errorf("only %d kinds were compared, want at least 150", compared)
	}
	for place := range contradictions {
		if !found[place] {
			t.Errorf("%s no longer differs; remove it from contradictions", place)
		}
	}
}
