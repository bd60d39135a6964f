package limitranger

import (
	"errors"
	"testing"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/admission/admissiontest"
)

// TestCases compares the plugin with recorded answers of kube-apiserver's plugin.
func TestCases(t *testing.T) { admissiontest.Replay(t, Plugin{}) }

// TestUnchanged checks that the plugin does not copy a pod that already specifies all limits.
func TestUnchanged(t *testing.T) {
	reader := admissiontest.NewReader(`{kind: LimitRange, metadata: {name: l}, spec: {limits: [{type: Container, default: {cpu: "1"}}]}}`)
	a := admissiontest.New(admission.Create, "pods", `{spec: {containers: [{name: c, resources: {limits: {cpu: "1"}}}]}}`, "", reader)
	sent := a.Object
	if err := admissiontest.Run(t.Context(), Plugin{}, a); err != nil || !document.Same(a.Object, sent) {
		t.Errorf("Run(): got object %s, error %v, want the object that was sent, not a copy", a.Object.JSON(), err)
	}
}

// TestOrder checks that LimitRanges are applied in the order of their names; kube-apiserver applies them in random order.
func TestOrder(t *testing.T) {
	reader := admissiontest.NewReader(
		`{kind: LimitRange, metadata: {name: b}, spec: {limits: [{type: Container, default: {cpu: "2", memory: 1Gi}}]}}`,
		`{kind: LimitRange, metadata: {name: a}, spec: {limits: [{type: Container, default: {cpu: "1"}}]}}`)
	a := admissiontest.New(admission.Create, "pods", `{spec: {containers: [{name: c}]}}`, "", reader)
	if err := admissiontest.Run(t.Context(), Plugin{}, a); err != nil {
		t.Fatal(err)
	}
	limits := a.Object.Lookup("spec", "containers").At(0).Lookup("resources", "limits")
	if want := admissiontest.Parse(`{cpu: "1", memory: 1Gi}`); !document.Equal(limits, want) {
		t.Errorf("limits of the container = %s, want %s", limits.JSON(), want.JSON())
	}
	// The annotation lists the defaults of the last LimitRange, as in kube-apiserver.
	if text := a.Object.Lookup("metadata", "annotations", annotation).Text(); text != "LimitRanger plugin set: memory limit for container c" {
		t.Errorf("annotation %s: received %q, want the memory limit only", annotation, text)
	}
}

// TestHandles checks that no-op updates are validated, because a LimitRange may be newer than the object.
func TestHandles(t *testing.T) {
	const mutating, validating, noOps = admission.Mutating, admission.Validating, admission.NoOps
	for _, test := range []struct {
		operation admission.Operation
		resource  string
		want      admission.Phase
	}{
		{admission.Create, "pods", mutating | validating},
		{admission.Update, "pods", 0},
		{admission.Update, "pods/status", 0},
		{admission.Create, "pods/binding", 0},
		{admission.Update, "pods/resize", mutating | validating | noOps},
		{admission.Delete, "pods", 0},
		{admission.Create, "persistentvolumeclaims", validating},
		{admission.Update, "persistentvolumeclaims", validating | noOps},
		{admission.Update, "persistentvolumeclaims/status", 0},
		{admission.Delete, "persistentvolumeclaims", 0},
		{admission.Create, "configmaps", 0},
		{admission.Create, "deployments.apps", 0},
	} {
		r, err := admissiontest.Resource(test.resource)
		if err != nil {
			t.Fatal(err)
		}
		if got := (Plugin{}).Handles(test.operation, r); got != test.want {
			t.Errorf("Handles(%s, %s) = %b, want %b", test.operation, test.resource, got, test.want)
		}
	}
}

func TestReadError(t *testing.T) {
	failure := errors.New("closed")
	for _, resource := range []string{"pods", "persistentvolumeclaims"} {
		a := admissiontest.New(admission.Create, resource, `{spec: {}}`, "", &admissiontest.Reader{Err: failure})
		if err := admissiontest.Run(t.Context(), Plugin{}, a); !errors.Is(err, failure) {
			t.Errorf("Run() of %s with a failing Reader = %v, want %v", resource, err, failure)
		}
	}
}
