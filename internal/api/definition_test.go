package api

import (
	"testing"

	"github.com/cadastre/cadastre/schema"
)

// TestDefinitionTopology: versions are told apart by nothing, conditions by their type, as in Kubernetes.
func TestDefinitionTopology(t *testing.T) {
	top, ok := DefinitionTopology()
	if !ok {
		t.Fatal("there is none")
	}
	spec, _ := top.Map.TypeOf("spec")
	versions, _ := spec.Map.TypeOf("versions")
	status, _ := top.Map.TypeOf("status")
	conditions, _ := status.Map.TypeOf("conditions")
	if got := versions.List.Relationship; got != schema.Atomic {
		t.Errorf("versions: %v", got)
	}
	if len(conditions.List.Keys) != 1 || conditions.List.Keys[0].Name != "type" {
		t.Errorf("conditions: %v", conditions.List.Keys)
	}
}
