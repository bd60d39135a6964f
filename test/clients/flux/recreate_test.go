package flux

import (
	"strings"
	"testing"

	"github.com/fluxcd/pkg/ssa"
)

const (
	fixed = `
apiVersion: v1
kind: ConfigMap
metadata: {name: fixed}
immutable: true
data: {a: "1"}
`
	work = `
apiVersion: batch/v1
kind: Job
metadata: {name: work}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: "busybox:1"}]
`
	pod = `
apiVersion: v1
kind: Pod
metadata: {name: pod}
spec: {containers: [{name: main, image: "busybox:1", command: [sleep, "1"]}]}
`
)

// TestRecreate checks that the dry run rejects a change of an immutable field, and that Flux deletes and creates the
// object again if force is set.
func TestRecreate(t *testing.T) {
	for _, test := range []struct {
		name, apiVersion, kind, object, manifest, from, to, message string
	}{
		{"selector", "apps/v1", "Deployment", "web", web, "app: web}", "app: other}", `Deployment/web dry-run failed (Invalid): Deployment.apps "web" is invalid: spec.selector: Invalid value: `},
		{"immutable data", "v1", "ConfigMap", "fixed", fixed, `a: "1"`, `a: "2"`, `ConfigMap/fixed dry-run failed (Invalid): ConfigMap "fixed" is invalid: data: Forbidden: field is immutable when ` + "`immutable` is set"},
		{"template of a Job", "batch/v1", "Job", "work", work, "busybox:1", "busybox:2", `Job/work dry-run failed (Invalid): Job.batch "work" is invalid: spec.template: Invalid value: `},
		{"command of a Pod", "v1", "Pod", "pod", pod, `"1"]`, `"2"]`, `Pod/pod dry-run failed (Invalid): Pod "pod" is invalid: spec: Forbidden: pod updates may not change fields other than `},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f := start(t)
			name := test.kind + "/" + test.object
			f.apply(test.manifest, options(), name+" created")
			before := f.live(test.apiVersion, test.kind, test.object)
			changed := strings.ReplaceAll(test.manifest, test.from, test.to)
			_, err := f.flux.ApplyAll(t.Context(), f.read(changed), options())
			if err == nil || !strings.HasPrefix(strings.ReplaceAll(err.Error(), f.namespace+"/", ""), test.message) {
				t.Fatalf("ApplyAll() = %v, want an error that starts with %q", err, test.message)
			}
			entry, _, _, err := f.flux.Diff(t.Context(), f.read(changed)[0], ssa.DiffOptions{Force: true})
			check(t, err)
			if entry.Action != ssa.CreatedAction {
				t.Errorf("Diff() = %s, want created", entry)
			}
			o := options()
			o.Force = true
			f.apply(changed, o, name+" created")
			if after := f.live(test.apiVersion, test.kind, test.object); after.GetUID() == before.GetUID() {
				t.Error("uid is unchanged, want the uid of a new object")
			}
			f.apply(changed, o, name+" unchanged")
		})
	}
}
