package hooks

import (
	"strings"
	"testing"

	registration "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cadastre/cadastre/internal/admit"
	"github.com/cadastre/cadastre/internal/metrics"
)

// TestSideEffects: a webhook that may do something is not asked about what will not be done. It can't be configured
// any more, but may be stored.
func TestSideEffects(t *testing.T) {
	for effects, mayBeAsked := range map[registration.SideEffectClass]bool{
		registration.SideEffectClassNone: true, registration.SideEffectClassNoneOnDryRun: true,
		registration.SideEffectClassSome: false, registration.SideEffectClassUnknown: false,
	} {
		h := (&common{Name: "h.example.com", SideEffects: &effects}).hook("h", metrics.Mutating)
		if h.dryRuns != mayBeAsked {
			t.Errorf("%s: it may be asked: %v, expected %v", effects, h.dryRuns, mayBeAsked)
		}
		if mayBeAsked {
			continue
		}
		_, err := (&Hooks{}).call(t.Context(), h, &admit.Question{DryRun: true}, admit.Form{})
		if !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), `admission webhook "h.example.com" does not support dry run`) {
			t.Errorf("%s: received %v", effects, err)
		}
	}
}
