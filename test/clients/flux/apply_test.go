package flux

import (
	"strings"
	"testing"

	"github.com/fluxcd/pkg/ssa"
	"github.com/fluxcd/pkg/ssa/jsondiff"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	settings = `
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {a: "1", b: "2"}
`
	web = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: main
        image: nginx:1.29
        ports: [{containerPort: 80}]
        resources: {limits: {cpu: 1000m, memory: 1024Mi}}
`
	front = `
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  selector: {app: web}
  ports: [{name: http, port: 80}]
`
	key = `
apiVersion: v1
kind: Secret
metadata: {name: key}
stringData: {password: secret}
`
	webOwners = `
kustomize-controller Apply apps/v1:
  .metadata.labels."kustomize.toolkit.fluxcd.io/name"
  .metadata.labels."kustomize.toolkit.fluxcd.io/namespace"
  .spec.replicas
  .spec.selector
  .spec.template.metadata.labels.app
  .spec.template.spec.containers[name="main"]
  .spec.template.spec.containers[name="main"].image
  .spec.template.spec.containers[name="main"].name
  .spec.template.spec.containers[name="main"].ports[containerPort=80,protocol="TCP"]
  .spec.template.spec.containers[name="main"].ports[containerPort=80,protocol="TCP"].containerPort
  .spec.template.spec.containers[name="main"].resources.limits.cpu
  .spec.template.spec.containers[name="main"].resources.limits.memory
`
	all = settings + "---" + web + "---" + front + "---" + key
)

// patch sends the merge patch patch for object as the given field manager.
func (f fluxEnv) patch(manager string, object client.Object, patch string) {
	f.t.Helper()
	mergePatch := client.RawPatch(types.MergePatchType, []byte(patch))
	check(f.t, f.client.Patch(f.t.Context(), object, mergePatch, client.FieldOwner(manager)))
}

// TestSet checks that a second apply of a set of objects is a no-op. Flux compares the result of a dry run with the
// live object, so both must be equal, including defaults.
func TestSet(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.apply(all, options(), "ConfigMap/settings created", "Secret/key created", "Service/web created", "Deployment/web created")
	before := f.live("apps/v1", "Deployment", "web")
	wantOwners(t, before, webOwners)
	wantOwners(t, f.live("v1", "Service", "web"), `
kustomize-controller Apply v1:
  .metadata.labels."kustomize.toolkit.fluxcd.io/name"
  .metadata.labels."kustomize.toolkit.fluxcd.io/namespace"
  .spec.ports[port=80,protocol="TCP"]
  .spec.ports[port=80,protocol="TCP"].name
  .spec.ports[port=80,protocol="TCP"].port
  .spec.selector
`)
	wantOwners(t, f.live("v1", "Secret", "key"), `
kustomize-controller Apply v1:
  .metadata.labels."kustomize.toolkit.fluxcd.io/name"
  .metadata.labels."kustomize.toolkit.fluxcd.io/namespace"
  .stringData.password
`)
	f.apply(all, options(), "ConfigMap/settings unchanged", "Secret/key unchanged", "Service/web unchanged", "Deployment/web unchanged")
	if after := f.live("apps/v1", "Deployment", "web"); after.GetResourceVersion() != before.GetResourceVersion() {
		t.Errorf("resourceVersion = %s, want %s unchanged", after.GetResourceVersion(), before.GetResourceVersion())
	}
}

// TestDrift checks that Flux detects and corrects fields that other field managers changed, and retains fields that
// they added.
func TestDrift(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.apply(settings, options(), "ConfigMap/settings created")
	f.patch("tuner", f.live("v1", "ConfigMap", "settings"), `{"data":{"a":"changed","added":"yes"}}`)

	entry, live, merged, err := f.flux.Diff(t.Context(), f.read(settings)[0], ssa.DefaultDiffOptions())
	check(t, err)
	if entry.Action != ssa.ConfiguredAction || valueAt(t, live, "data", "a") != "changed" || valueAt(t, merged, "data", "a") != "1" || valueAt(t, merged, "data", "added") != "yes" {
		t.Errorf("Diff() = %s from %v to %v, want a corrected and added retained", entry, live, merged)
	}
	f.apply(settings, options(), "ConfigMap/settings configured")
	wantOwners(t, f.live("v1", "ConfigMap", "settings"), `
kustomize-controller Apply v1:
  .data.a
  .data.b
  .metadata.labels."kustomize.toolkit.fluxcd.io/name"
  .metadata.labels."kustomize.toolkit.fluxcd.io/namespace"
tuner Update v1: .data.added
`)
	f.apply(settings, options(), "ConfigMap/settings unchanged")

	// Flux removes a field from the object when the field is removed from the manifest.
	f.apply(`
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {b: "3"}
`, options(), "ConfigMap/settings configured")
	corrected := f.live("v1", "ConfigMap", "settings")
	if valueAt(t, corrected, "data", "a") != nil || valueAt(t, corrected, "data", "b") != "3" {
		t.Errorf("data = %v, want only b: 3 and added", valueAt(t, corrected, "data"))
	}
	wantOwners(t, corrected, `
kustomize-controller Apply v1:
  .data.b
  .metadata.labels."kustomize.toolkit.fluxcd.io/name"
  .metadata.labels."kustomize.toolkit.fluxcd.io/namespace"
tuner Update v1: .data.added
`)
}

// TestDriftOfSecrets checks that a diff of a Secret shows that it differs, without its values.
func TestDriftOfSecrets(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.apply(key, options(), "Secret/key created")
	f.patch("tuner", f.live("v1", "Secret", "key"), `{"stringData":{"password":"other"}}`)
	entry, live, merged, err := f.flux.Diff(t.Context(), f.read(key)[0], ssa.DefaultDiffOptions())
	check(t, err)
	if entry.Action != ssa.ConfiguredAction || valueAt(t, live, "data", "password") == valueAt(t, merged, "data", "password") {
		t.Errorf("Diff() = %s from %v to %v, want a difference", entry, live, merged)
	}
	f.apply(key, options(), "Secret/key configured")
	wantOwners(t, f.live("v1", "Secret", "key"), `
kustomize-controller Apply v1:
  .metadata.labels."kustomize.toolkit.fluxcd.io/name"
  .metadata.labels."kustomize.toolkit.fluxcd.io/namespace"
  .stringData.password
tuner Update v1: .data.password
`)
}

// TestIgnoredDrift checks that Flux does not correct fields that an ignore rule excludes.
func TestIgnoredDrift(t *testing.T) {
	t.Parallel()
	f := start(t)
	o := options()
	o.DriftIgnoreRules = []jsondiff.IgnoreRule{{Paths: []string{"/spec/replicas"}}}
	f.apply(web, o, "Deployment/web created")
	scale := f.live("apps/v1", "Deployment", "web")
	patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"replicas":5}}`))
	check(t, f.client.SubResource("scale").Patch(t.Context(), scale, patch, client.FieldOwner("autoscaler")))
	f.apply(web, o, "Deployment/web unchanged")
	withoutReplicas := strings.Replace(webOwners, "  .spec.replicas\n", "", 1)
	wantOwners(t, f.live("apps/v1", "Deployment", "web"), withoutReplicas+"autoscaler Update apps/v1 scale: .spec.replicas\n")
	f.apply(web, options(), "Deployment/web configured")
	if replicas := valueAt(t, f.live("apps/v1", "Deployment", "web"), "spec", "replicas"); replicas != int64(2) {
		t.Errorf("replicas = %v, want 2 as in the manifest", replicas)
	}
}

// TestPrune checks that Flux deletes the objects that have its labels, but neither objects without these labels nor
// objects that disable pruning.
func TestPrune(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.apply(all, options(), "ConfigMap/settings created", "Secret/key created", "Service/web created", "Deployment/web created")
	f.patch("user", f.live("v1", "Service", "web"), `{"metadata":{"labels":{"kustomize.toolkit.fluxcd.io/name":"other"}}}`)
	f.patch("user", f.live("v1", "Secret", "key"), `{"metadata":{"annotations":{"kustomize.toolkit.fluxcd.io/prune":"disabled"}}}`)
	o := ssa.DefaultDeleteOptions()
	o.Inclusions = f.flux.GetOwnerLabels("apps", f.namespace)
	o.Exclusions = map[string]string{"kustomize.toolkit.fluxcd.io/prune": "disabled"}
	changes, err := f.flux.DeleteAll(t.Context(), f.read(all), o)
	check(t, err)
	f.wantActions(changes, "Deployment/web deleted", "Service/web skipped", "Secret/key skipped", "ConfigMap/settings deleted")
	changes, err = f.flux.DeleteAll(t.Context(), f.read(all), o)
	check(t, err)
	f.wantActions(changes, "Deployment/web deleted", "Service/web skipped", "Secret/key skipped", "ConfigMap/settings deleted")
}
