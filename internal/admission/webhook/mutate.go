package webhook

import (
	"context"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/admission"
)

// Mutating returns the admission plugin MutatingAdmissionWebhook.
func (w *Webhooks) Mutating() admission.Plugin { return &mutatingPlugin{webhooks: w} }

type mutatingPlugin struct {
	admission.MutatingOnly
	webhooks *Webhooks
}

// Name implements admission.Plugin.
func (*mutatingPlugin) Name() string { return "MutatingAdmissionWebhook" }

// CallsServers implements admission.Remote.
func (*mutatingPlugin) CallsServers() {}

// Handles implements admission.Plugin. Webhooks are called for no-op writes, too, because their response may depend on the
// user.
func (p *mutatingPlugin) Handles(operation admission.Operation, r admission.Resource) admission.Phase {
	if !anyMayMatch(p.webhooks.mutating.Load(), operation, r) {
		return 0
	}
	return admission.Mutating | admission.NoOps
}

// Admit calls the mutating webhooks one after the other. Each receives the object that the preceding webhook returned.
func (p *mutatingPlugin) Admit(ctx context.Context, attributes *admission.Attributes) error {
	a := admission.RecordOf(attributes)
	webhooks := p.webhooks.mutating.Load()
	if webhooks == nil {
		return nil
	}
	if a.Reinvocation.Webhooks.IsSecond() && !document.Equal(a.Reinvocation.Webhooks.LastObject, a.Object) {
		a.Reinvocation.Webhooks.RequirePrevious() // an in-tree plugin or a policy has changed the object in the second run
	}
	for _, w := range *webhooks {
		v, ok, err := p.webhooks.match(ctx, w, a)
		if err != nil {
			return err
		}
		if !ok || a.Reinvocation.Webhooks.Skips(w.id) {
			continue
		}
		changed := false
		err = p.webhooks.invoke(ctx, w, a, v, func(r *response) (err error) {
			changed, err = applyResponse(a, w.name, v, r)
			return err
		})
		a.Reinvocation.Webhooks.Called(w.id, w.reinvoke, changed)
		if err != nil {
			return err
		}
	}
	if err := a.Settle(); err != nil {
		return err
	}
	a.Reinvocation.Webhooks.LastObject = a.Object
	return nil
}

// applyResponse applies the response of a mutating webhook: its warnings, denial or patch. It reports whether the patch
// changed the object.
func applyResponse(a *admission.Record, name string, v admission.VersionedResource, r *response) (changed bool, err error) {
	for _, text := range r.warnings {
		a.Warn(text)
	}
	if !r.allowed {
		return false, newDenial(name, r.status)
	}
	if len(r.patch) == 0 {
		return false, nil
	}
	return patch(a, name, v, r)
}
