package webhook

import (
	"strings"
	"testing"

	registration "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/metrics"
)

// TestSideEffects checks that a webhook that may have side effects is not called in a dry run. Validation rejects such
// webhooks, but configurations that older versions stored may contain them.
func TestSideEffects(t *testing.T) {
	for effects, supported := range map[registration.SideEffectClass]bool{
		registration.SideEffectClassNone: true, registration.SideEffectClassNoneOnDryRun: true,
		registration.SideEffectClassSome: false, registration.SideEffectClassUnknown: false,
	} {
		h := (&common{Name: "h.example.com", SideEffects: &effects}).webhook("h", metrics.Mutating)
		if h.supportsDryRun != supported {
			t.Errorf("sideEffects %s: supportsDryRun = %v, want %v", effects, h.supportsDryRun, supported)
		}
		if supported {
			continue
		}
		_, err := h.request(admission.NewRecord(admission.Attributes{DryRun: true}, nil), admission.VersionedResource{})
		if !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), `admission webhook "h.example.com" does not support dry run`) {
			t.Errorf("dry run with sideEffects %s: received %v, want a 400 that names the webhook", effects, err)
		}
	}
}
