package api

import (
	"testing"

	"github.com/cadastre/cadastre/schema"
)

// TestDefinitionTopology checks that spec.versions is atomic and status.conditions is keyed by type, as in Kubernetes.
func TestDefinitionTopology(t *testing.T) {
	top, ok := DefinitionTopology()
	if !ok {
		t.Fatal("CustomResourceDefinitions have no topology")
	}
	spec, _ := top.Map.TypeOf("spec")
	versions, _ := spec.Map.TypeOf("versions")
	status, _ := top.Map.TypeOf("status")
	conditions, _ := status.Map.TypeOf("conditions")
	if got := versions.List.Relationship; got != schema.Atomic {
		t.Errorf("list type of spec.versions = %v, want atomic", got)
	}
	if len(conditions.List.Keys) != 1 || conditions.List.Keys[0].Name != "type" {
		t.Errorf("keys of status.conditions = %v, want type", conditions.List.Keys)
	}
}
