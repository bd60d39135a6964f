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

// Subresource implements a subresource, such as status or scale, for all resources that have it. The api.Kind of a resource
// lists its subresources.
type Subresource struct {
	// Name is the last segment of the subresource's URL path.
	Name string
	// Verbs are the verbs that the subresource serves, in the order of the discovery document.
	Verbs []string
	// Body is the kind of request and response bodies; the zero value means the kind of the resource.
	Body schema.GroupVersionKind
	// NoTables reports that responses cannot be encoded as Tables.
	NoTables bool
	// project returns the projection for an endpoint whose bodies are of another kind than the resource; nil if bodies are
	// objects of the resource.
	project func(e *Endpoint) projection
	// Restrict returns obj without the changes to the live object that a write to the subresource must not make. If it is
	// nil, only the resource's reset fields restrict changes.
	Restrict func(obj, live document.Value) document.Value
	// Validate returns the validation errors and warnings of a prepared object; nil means the validation of the resource.
	Validate func(values Values, p *prepared, live document.Value) (errs field.ErrorList, warnings []string)
	// Warnings returns the warnings about a valid object; nil means the warnings of the resource.
	Warnings func(values Values, obj, live document.Value) []string
	// Create serves the verb create: it acts on the object that the URL path names, and returns the Status of the response.
	// It is nil if the subresource does not serve create.
	Create func(ctx context.Context, a *Action) (metav1.Status, error)
	// AlsoAccepts lists further group versions that the body of a create request may have instead of that of Body.
	AlsoAccepts []schema.GroupVersion
}

// Serves reports whether the subresource serves the given verb.
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

// Subresources returns the name, verbs and body kind of each subresource that the registry implements.
func Subresources() (all []api.SubresourceInfo) {
	for _, s := range subresources() {
		all = append(all, api.SubresourceInfo{Name: s.Name, Verbs: s.Verbs, Body: s.Body})
	}
	return all
}

// Subresource returns the subresource with the given name; nil if the registry does not implement it.
func (r *Registry) Subresource(name string) *Subresource { return r.subresources[name] }

// validateAt returns a Validate function that uses the validation rules of kind files for the named subresource.
func validateAt(name string) func(Values, *prepared, document.Value) (field.ErrorList, []string) {
	return func(values Values, p *prepared, live document.Value) (field.ErrorList, []string) {
		return values.ValidateSubresource(name, p.validated, live), nil
	}
}

// projection converts between objects of a resource and subresource bodies of another kind, such as Scale.
type projection interface {
	// project returns the body for a stored object, without managedFields. It returns an error if the object has no such
	// body.
	project(stored document.Value) (document.Value, error)
	// projectEntries converts managed fields entries of an object to managed fields entries of the body.
	projectEntries(entries []apply.Entry) ([]apply.Entry, error)
	// complete returns the body of an update request with defaults.
	complete(body document.Value) document.Value
	// apply returns the object with the values of a body.
	apply(obj, body document.Value) document.Value
	// applyEntries returns the managed fields entries of an object after a write to its body. object holds the entries of the
	// object before the write, and body those of the body after the write.
	applyEntries(object, body []apply.Entry) ([]apply.Entry, error)
	// withMarkers returns a projection and an apply engine for a configuration with unset markers: an unset field gets the
	// default that the live object gives it, and is removed from the object if it has no default.
	withMarkers(live document.Value) (projection, *apply.Engine, error)
}

// projected holds a subresource body, such as a Scale, before and after a write, with its managed fields entries.
type projected struct{ before, after apply.Object }

// isProjected reports whether the bodies of the endpoint are of another kind than the resource, such as Scale.
func (e *Endpoint) isProjected() bool { return e.projection != nil }

// mergeProjected calls do with the projection of the live object, such as its Scale, and applies the change that do returns to
// the live object.
func (w *write) mergeProjected(live *loaded, projection projection, do func(before apply.Object) (apply.Result, error)) (m merged, err error) {
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

// checkProjectedUID returns a 409 if the body of a subresource such as scale contains a uid that is not that of the object.
// For other bodies it returns nil: validation checks their uid. For custom resources, callers ignore the error after patches
// and webhooks, where kube-apiserver does not check the uid.
func (w *write) checkProjectedUID(live *loaded, body document.Value) error {
	if !w.Endpoint.isProjected() {
		return nil
	}
	resource := w.Endpoint.resource()
	resource.Resource += "/" + w.Endpoint.Subresource
	return w.checkUID(live, body, resource)
}

// statusSubresource is the subresource status. It validates the object without the defaults that follow from reset fields.
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

// finalizeSubresource is the subresource finalize, through which clients remove spec.finalizers of a namespace.
func finalizeSubresource() *Subresource {
	return &Subresource{Name: "finalize", Verbs: []string{"update"}, NoTables: true}
}
