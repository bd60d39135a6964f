package registry

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api"
)

// Subresource is an endpoint below the objects of a resource. Everything that distinguishes one subresource from another
// is here; which resources have it is part of their api.Kind.
type Subresource struct {
	// Name is the last segment of its path.
	Name string
	// Verbs are the verbs that it serves, in the order of discovery.
	Verbs []string
	// Body is the type of its bodies; the zero value means the type of the resource.
	Body schema.GroupVersionKind
	// NoTables reports that responses can not be Tables.
	NoTables bool
	// project returns the projection of an endpoint whose bodies are not the objects themselves; nil if they are.
	project func(e *Endpoint) projection
	// Restrict returns obj with only those changes to the live object that a write may make. nil means that the
	// resource's reset fields say so.
	Restrict func(obj, live document.Value) document.Value
	// Validate returns the errors and warnings of a prepared object; nil means the validation of the resource.
	Validate func(values Values, p *prepared, live document.Value) (errs field.ErrorList, warnings []string)
	// Warnings returns the warnings about a valid object; nil means those of the resource.
	Warnings func(values Values, obj, live document.Value) []string
	// Create serves the verb create: it acts on the object that the path names, and returns the status of the response.
	// AlsoAccepts are further versions of its bodies. nil means that the subresource is read and written.
	Create      func(ctx context.Context, a *Action) (metav1.Status, error)
	AlsoAccepts []schema.GroupVersion
}

// Serves reports whether the subresource serves a verb.
func (s *Subresource) Serves(verb string) bool { return slices.Contains(s.Verbs, verb) }

// subresources lists the subresources that the registry implements.
func subresources() []*Subresource {
	return []*Subresource{
		statusSubresource(),
		scaleSubresource(),
		finalizeSubresource(),
		bindingSubresource(),
		evictionSubresource(),
		ephemeralContainersSubresource(),
		resizeSubresource(),
		approvalSubresource(),
	}
}

// Subresources describes the subresources that the registry implements.
func Subresources() (all []api.SubresourceInfo) {
	for _, s := range subresources() {
		all = append(all, api.SubresourceInfo{Name: s.Name, Verbs: s.Verbs, Body: s.Body})
	}
	return all
}

// Subresource returns a subresource; nil for names that are not implemented.
func (r *Registry) Subresource(name string) *Subresource { return r.subresources[name] }

// validateAt returns the validation of a subresource whose rules the kind file has in a section of their own.
func validateAt(name string) func(Values, *prepared, document.Value) (field.ErrorList, []string) {
	return func(values Values, p *prepared, live document.Value) (field.ErrorList, []string) {
		return values.ValidateSubresource(name, p.validated, live), nil
	}
}

// projection is the relation between the bodies of a subresource and the objects behind them.
type projection interface {
	// project returns the body for a stored object, without managedFields.
	project(stored document.Value) (document.Value, error)
	// projectEntries returns the managed fields entries of an object as those of the body.
	projectEntries(entries []apply.Entry) ([]apply.Entry, error)
	// complete returns a body that was sent whole with the fields that decoding it sets.
	complete(body document.Value) document.Value
	// apply returns an object with the changes of a body.
	apply(obj, body document.Value) document.Value
	// applyEntries returns the managed fields entries of an object after those of its body changed.
	applyEntries(object, body []apply.Entry) ([]apply.Entry, error)
}

// projected is the body of a projection before and after a write, with its managed fields entries.
type projected struct{ before, after apply.Object }

// isProjected reports whether the bodies of the endpoint are not the objects themselves.
func (e *Endpoint) isProjected() bool { return e.projection != nil }

// mergeProjected writes to the projection of the live object, and applies the change to the object.
func (w *write) mergeProjected(live *loaded, do func(before apply.Object) (apply.Result, error)) (m merged, err error) {
	projection := w.Endpoint.projection
	var before apply.Object
	if before.Document, err = projection.project(live.stored); err != nil {
		return m, projectionError(err)
	}
	if before.Entries, err = projection.projectEntries(live.current.Entries); err != nil {
		return m, err
	}
	result, err := do(before)
	if err != nil {
		return m, w.engineError(err)
	}
	after := result.Object
	m = merged{object: live.current, projected: &projected{before, after}}
	if document.Equal(before.Document, after.Document) && sameEntries(before.Entries, after.Entries) {
		return m, nil
	}
	m.object.Document = projection.apply(live.current.Document, after.Document)
	m.object.Entries, err = projection.applyEntries(live.current.Entries, after.Entries)
	return m, err
}

// checkProjectedUID rejects a projected body with the uid of another object. Validation checks the uid of other bodies.
// Callers ignore the error where kube-apiserver does not check it: for patches and webhooks of custom resources.
func (w *write) checkProjectedUID(live *loaded, body document.Value) error {
	if !w.Endpoint.isProjected() {
		return nil
	}
	resource := w.Endpoint.resource()
	resource.Resource += "/" + w.Endpoint.Subresource
	return w.checkUID(live, body, resource)
}

// statusSubresource is the status of an object. Its validation differs from that of the object: it sees the object without
// the defaults of fields that the endpoint resets.
func statusSubresource() *Subresource {
	return &Subresource{
		Name:  api.StatusSubresource,
		Verbs: []string{"get", "patch", "update"},
		Validate: func(values Values, p *prepared, live document.Value) (field.ErrorList, []string) {
			if r, ok := values.(Ratcheting); ok {
				return r.CheckStatus(p.undefaulted, live)
			}
			return values.ValidateSubresource(api.StatusSubresource, p.undefaulted, live), nil
		},
		Warnings: Values.StatusWarnings,
	}
}

// finalizeSubresource removes the finalizers of a namespace.
func finalizeSubresource() *Subresource {
	return &Subresource{Name: "finalize", Verbs: []string{"update"}, NoTables: true}
}
