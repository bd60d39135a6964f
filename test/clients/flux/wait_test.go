package flux

import (
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/ssa"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestWait checks that Flux polls until all objects of a set are ready. The test writes the status in place of the
// Deployment controller.
func TestWait(t *testing.T) {
	t.Parallel()
	f := start(t)
	quick := ssa.WaitOptions{Interval: 20 * time.Millisecond, Timeout: time.Second}
	changes, err := f.flux.ApplyAll(t.Context(), f.read(all), options())
	check(t, err)
	check(t, f.flux.Wait(f.read(settings+"---"+front+"---"+key), quick))
	err = f.flux.WaitForSet(changes.ToObjMetadataSet(), quick)
	if want := "timeout waiting for: [Deployment/" + f.namespace + "/web status: 'InProgress']"; err == nil || err.Error() != want {
		t.Errorf("WaitForSet() = %v, want an error with %s", err, want)
	}

	deployment := f.live("apps/v1", "Deployment", "web")
	rolledOut := client.RawPatch(types.MergePatchType, []byte(`{"status":{"observedGeneration":1,"replicas":2,"updatedReplicas":2,"readyReplicas":2,
		"availableReplicas":2,"conditions":[{"type":"Available","status":"True"},{"type":"Progressing","status":"True","reason":"NewReplicaSetAvailable"}]}}`))
	check(t, f.client.Status().Patch(t.Context(), deployment, rolledOut, client.FieldOwner("deployment-controller")))
	waitOptions := ssa.WaitOptions{Interval: 20 * time.Millisecond, Timeout: 30 * time.Second}
	check(t, f.flux.WaitForSet(changes.ToObjMetadataSet(), waitOptions))
	wantOwners(t, f.live("apps/v1", "Deployment", "web"), webOwners+`deployment-controller Update apps/v1 status:
  .status.availableReplicas
  .status.conditions
  .status.conditions[type="Available"]
  .status.conditions[type="Available"].lastTransitionTime
  .status.conditions[type="Available"].lastUpdateTime
  .status.conditions[type="Available"].status
  .status.conditions[type="Available"].type
  .status.conditions[type="Progressing"]
  .status.conditions[type="Progressing"].lastTransitionTime
  .status.conditions[type="Progressing"].lastUpdateTime
  .status.conditions[type="Progressing"].reason
  .status.conditions[type="Progressing"].status
  .status.conditions[type="Progressing"].type
  .status.observedGeneration
  .status.readyReplicas
  .status.replicas
  .status.updatedReplicas
`)
	f.apply(web, options(), "Deployment/web unchanged") // Flux does not treat a status as drift
}

// TestWaitForTermination checks that Flux waits for the deletion of objects with finalizers.
func TestWaitForTermination(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.apply(settings, options(), "ConfigMap/settings created")
	f.patch("guard", f.live("v1", "ConfigMap", "settings"), `{"metadata":{"finalizers":["example.com/later"]}}`)
	changes, err := f.flux.DeleteAll(t.Context(), f.read(settings), ssa.DefaultDeleteOptions())
	check(t, err)
	quick := ssa.WaitOptions{Interval: 20 * time.Millisecond, Timeout: 200 * time.Millisecond}
	if err := f.flux.WaitForSetTermination(changes, quick); err == nil || !strings.Contains(err.Error(), "termination timeout") {
		t.Errorf("WaitForSetTermination() = %v, want a timeout", err)
	}
	f.patch("guard", f.live("v1", "ConfigMap", "settings"), `{"metadata":{"finalizers":null}}`)
	check(t, f.flux.WaitForSetTermination(changes, ssa.WaitOptions{Interval: 20 * time.Millisecond, Timeout: 30 * time.Second}))
}
