package flux

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestTakeOver checks that Flux takes over fields that kubectl has applied, client-side, server-side or by edit: it
// patches managedFields so that it owns the fields, and can remove those that its manifest does not contain.
func TestTakeOver(t *testing.T) {
	t.Parallel()
	f := start(t)
	object := f.read(`
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: "{}"
data: {a: "0", old: "1"}
`)[0]
	check(t, f.client.Create(t.Context(), object, client.FieldOwner("kubectl-client-side-apply")))
	f.patch("kubectl-edit", object, `{"data":{"edited":"1"}}`)
	f.patch("tuner", object, `{"data":{"tuned":"1"}}`)
	applied := client.RawPatch(types.ApplyPatchType, []byte(`{"apiVersion":"v1","kind":"ConfigMap","data":{"applied":"1"}}`))
	check(t, f.client.Patch(t.Context(), object, applied, client.FieldOwner("kubectl")))
	wantOwners(t, f.live("v1", "ConfigMap", "settings"), `
kubectl Apply v1: .data.applied
kubectl-client-side-apply Update v1:
  .data
  .data.a
  .data.old
  .metadata.annotations
  .metadata.annotations."kubectl.kubernetes.io/last-applied-configuration"
  .metadata.labels
  .metadata.labels."kustomize.toolkit.fluxcd.io/name"
  .metadata.labels."kustomize.toolkit.fluxcd.io/namespace"
kubectl-edit Update v1: .data.edited
tuner Update v1: .data.tuned
`)

	f.apply(settings, options(), "ConfigMap/settings configured")
	live := f.live("v1", "ConfigMap", "settings")
	wantOwners(t, live, `
kustomize-controller Apply v1:
  .data.a
  .data.b
  .metadata.labels."kustomize.toolkit.fluxcd.io/name"
  .metadata.labels."kustomize.toolkit.fluxcd.io/namespace"
tuner Update v1: .data.tuned
`)
	if data := valueAt(t, live, "data").(map[string]any); len(data) != 3 || data["tuned"] != "1" {
		t.Errorf("data = %v, want the fields of the manifest and of tuner", data)
	}
	if len(live.GetAnnotations()) > 0 {
		t.Errorf("annotations = %v, want none", live.GetAnnotations())
	}
	f.apply(settings, options(), "ConfigMap/settings unchanged")
}

// TestTakeOverUntracked checks that the fields of an object without managedFields belong to the field manager
// before-first-apply, and that Flux takes them over.
func TestTakeOverUntracked(t *testing.T) {
	t.Parallel()
	f := start(t)
	object := f.read(settings)[0]
	check(t, f.client.Create(t.Context(), object, client.FieldOwner("old-tool")))
	reset := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"managedFields":[{}]},"data":{"old":"1"}}`))
	check(t, f.client.Patch(t.Context(), object, reset, client.FieldOwner("old-tool")))
	wantOwners(t, f.live("v1", "ConfigMap", "settings"), "")
	f.apply(strings.Replace(settings, `a: "1"`, `a: "3"`, 1), options(), "ConfigMap/settings configured")
	wantOwners(t, f.live("v1", "ConfigMap", "settings"), `
kustomize-controller Apply v1:
  .data.a
  .data.b
  .metadata.labels."kustomize.toolkit.fluxcd.io/name"
  .metadata.labels."kustomize.toolkit.fluxcd.io/namespace"
before-first-apply Update v1:
  .data
  .data.b
  .data.old
  .metadata.labels
  .metadata.labels."kustomize.toolkit.fluxcd.io/name"
  .metadata.labels."kustomize.toolkit.fluxcd.io/namespace"
`)
	f.apply(settings, options(), "ConfigMap/settings configured")
	live := f.live("v1", "ConfigMap", "settings")
	if valueAt(t, live, "data", "old") != nil {
		t.Errorf("data = %v, want only the fields of the manifest", valueAt(t, live, "data"))
	}
	wantOwners(t, live, `
kustomize-controller Apply v1:
  .data.a
  .data.b
  .metadata.labels."kustomize.toolkit.fluxcd.io/name"
  .metadata.labels."kustomize.toolkit.fluxcd.io/namespace"
`)
}

const (
	oldScaler = `
apiVersion: autoscaling/v1
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  maxReplicas: 5
  targetCPUUtilizationPercentage: 80
`
	newScaler = `
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  maxReplicas: 5
  metrics:
  - type: Resource
    resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}
`
)

// TestNewVersion checks that a field manager that applies at a later API version owns only the fields of that version.
// Flux can first migrate the API versions of all managed fields entries.
func TestNewVersion(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.apply(oldScaler, options(), "HorizontalPodAutoscaler/web created")
	live := f.live("autoscaling/v1", "HorizontalPodAutoscaler", "web")
	f.patch("tuner", live, `{"spec":{"minReplicas":2}}`)
	wantOwners(t, live, `
kustomize-controller Apply autoscaling/v1:
  .metadata.labels."kustomize.toolkit.fluxcd.io/name"
  .metadata.labels."kustomize.toolkit.fluxcd.io/namespace"
  .spec.maxReplicas
  .spec.scaleTargetRef
  .spec.targetCPUUtilizationPercentage
tuner Update autoscaling/v1: .spec.minReplicas
`)
	f.apply(newScaler, options(), "HorizontalPodAutoscaler/web unchanged")
	o := options()
	o.MigrateAPIVersion = true
	f.apply(newScaler, o, "HorizontalPodAutoscaler/web configured")
	wantOwners(t, f.live("autoscaling/v2", "HorizontalPodAutoscaler", "web"), `
kustomize-controller Apply autoscaling/v2:
  .metadata.labels."kustomize.toolkit.fluxcd.io/name"
  .metadata.labels."kustomize.toolkit.fluxcd.io/namespace"
  .spec.maxReplicas
  .spec.metrics
  .spec.scaleTargetRef.apiVersion
  .spec.scaleTargetRef.kind
  .spec.scaleTargetRef.name
tuner Update autoscaling/v2: .spec.minReplicas
`)
	f.apply(newScaler, o, "HorizontalPodAutoscaler/web unchanged")
}
