package webhook

import (
	"errors"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"

	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/lib/parallel"
)

// TestPanicOfConcurrentCall checks that a panic in one of the concurrent calls of validating webhooks is raised in the
// goroutine of the request.
func TestPanicOfConcurrentCall(t *testing.T) {
	h := &Webhooks{} // without a client: every call panics
	call := invocation{webhook: &webhook{name: "w.example.com", versions: []string{"v1"}}, request: &admissionv1.AdmissionRequest{}}
	defer func() {
		var p *parallel.Panic
		if err, _ := recover().(error); !errors.As(err, &p) || len(p.Stack) == 0 {
			t.Errorf("sendAll() panicked with %v, want a *parallel.Panic with a stack", err)
		}
	}()
	err := h.sendAll(t.Context(), &admission.Record{}, []invocation{call, call})
	t.Errorf("sendAll() = %v, want a panic", err)
}
