package server

import (
	"context"
	"errors"
	"net/http"

	"k8s.io/apimachinery/pkg/types"

	"github.com/cadastre/cadastre/internal/auth/authz/rbac"
	"github.com/cadastre/cadastre/internal/encoding"
	"github.com/cadastre/cadastre/internal/registry"
)

// create handles POST.
func (q *request) create() error {
	if q.target.subresource == "" && q.target.name != "" {
		return q.methodNotAllowed()
	}
	o, err := q.readWriteOptions("CreateOptions", "")
	if err != nil {
		return err
	}
	if q.target.subresource != "" || q.kind.ActsOn != "" {
		return q.createSubresource(&o)
	}
	return q.write(&o, q.h.Objects.Create)
}

// createSubresource handles POST to a subresource that acts on an object, such as a binding. The response is a Status.
func (q *request) createSubresource(o *writeOptions) error {
	view, err := q.negotiate()
	if err != nil {
		return err
	}
	body, err := q.readBody()
	if err != nil {
		return err
	}
	endpoint, err := q.endpoint()
	if err != nil {
		return err
	}
	ctx, cancel := q.withTimeout()
	defer cancel()
	status, err := q.h.Objects.CreateSubresource(ctx, q.writeRequest(endpoint, body, o, registry.ExistenceAny))
	if err != nil {
		return err
	}
	if status.Code == 0 {
		status.Code = http.StatusCreated
	}
	q.respondStatusCode(int(status.Code), view.Format, status)
	return nil
}

// update handles PUT.
func (q *request) update() error {
	if q.target.name == "" {
		return q.methodNotAllowed()
	}
	o, err := q.readWriteOptions("UpdateOptions", "")
	if err != nil {
		return err
	}
	return q.write(&o, q.h.Objects.Update)
}

// patch handles PATCH.
func (q *request) patch() error {
	if q.target.name == "" {
		return q.methodNotAllowed()
	}
	o, err := q.readWriteOptions("PatchOptions", q.patchType)
	if err != nil {
		return err
	}
	if q.isApply() {
		return q.write(&o, q.h.Objects.Apply)
	}
	switch q.patchType {
	case types.MergePatchType:
		return q.write(&o, q.newPatchFunc(registry.MergePatch))
	case types.JSONPatchType:
		return q.write(&o, q.newPatchFunc(registry.JSONPatch))
	}
	return q.strategicPatch(&o)
}

// strategicPatch handles a strategic merge patch. It returns a 415 for custom resources, and for unknown patch types.
func (q *request) strategicPatch(o *writeOptions) error {
	endpoint, err := q.endpoint()
	if err != nil {
		return err
	}
	patch, ok := endpoint.StrategicPatch()
	if ok && q.patchType == types.StrategicMergePatchType {
		return q.write(o, q.newPatchFunc(patch))
	}
	return unsupportedMediaType(q.r.Header.Get("Content-Type"), patchTypes(ok)...)
}

// patchTypes returns the accepted media types of patches. Custom resources have no strategic merge patch.
func patchTypes(strategic bool) []string {
	all := []string{string(types.JSONPatchType), string(types.MergePatchType)}
	if strategic {
		all = append(all, string(types.StrategicMergePatchType))
	}
	return append(all, encoding.ApplyTypes()...)
}

// newPatchFunc returns a function that calls the registry's Patch with a patch type.
func (q *request) newPatchFunc(patch registry.Patch) func(context.Context, *registry.Request) (registry.Result, error) {
	return func(ctx context.Context, r *registry.Request) (registry.Result, error) {
		return q.h.Objects.Patch(ctx, r, patch)
	}
}

// write reads the body, calls do with the registry request, and responds with the object.
func (q *request) write(o *writeOptions, do func(context.Context, *registry.Request) (registry.Result, error)) error {
	view, err := q.negotiate()
	if err == nil {
		err = view.FitsObject()
	}
	if err != nil {
		return err
	}
	precondition, err := existencePrecondition(q.r.Header)
	if err != nil {
		return err
	}
	body, err := q.readBody()
	if err != nil {
		return err
	}
	ctx := q.h.writes.context(q.h.Limits.RequestTimeout, q.start)
	endpoint, result, err := q.writeCurrent(ctx, body, o, precondition, do)
	if err != nil {
		return err
	}
	// A no-op waits for the object's revision, because the authorizer or admission chain may not have observed the write at this
	// revision yet. If the write removed the last finalizer, result.Revision, that of the deletion, is later than the object's.
	if err := q.sync(ctx, max(result.Revision, result.Object.Revision())); err != nil {
		return registry.StoreError(err)
	}
	code := http.StatusOK
	if result.Created {
		code = http.StatusCreated
	}
	return q.respondObject(code, view, endpoint, result.Object)
}

// writeCurrent calls do with the current definition of the resource. If the CustomResourceDefinition has changed since the
// resource was looked up, it looks up the resource again and repeats the call.
func (q *request) writeCurrent(ctx context.Context, body registry.Body, o *writeOptions, precondition registry.Existence,
	do func(context.Context, *registry.Request) (registry.Result, error)) (*registry.Endpoint, registry.Result, error) {
	for {
		endpoint, err := q.endpoint()
		if err != nil {
			return nil, registry.Result{}, err
		}
		result, err := do(ctx, q.writeRequest(endpoint, body, o, precondition))
		if !errors.Is(err, registry.ErrReplaced) {
			return endpoint, result, err
		}
		if err := q.findKind(); err != nil {
			return nil, registry.Result{}, err
		}
	}
}

// disconnected returns a channel that is closed when the client disconnects.
func (q *request) disconnected() <-chan struct{} { return q.r.Context().Done() }

// writeRequest returns the registry request of a write.
func (q *request) writeRequest(endpoint *registry.Endpoint, body registry.Body, o *writeOptions, precondition registry.Existence) *registry.Request {
	return &registry.Request{
		Endpoint:        endpoint,
		Namespace:       q.target.objectNamespace(q.kind),
		Name:            q.target.name,
		Body:            body,
		User:            q.user,
		Verb:            q.target.verb,
		Manager:         o.manager,
		Parameters:      o.parameters,
		DryRun:          o.dryRun,
		FieldValidation: o.validation,
		Force:           o.force,
		TakeOver:        o.takeOver,
		Precondition:    precondition,
		AuthorizeCreate: q.authorizeCreate,
		Trace:           q.trace,
		Warn:            q.warn,
		ClientGone:      q.disconnected,
	}
}

// authorizeCreate returns a 403 unless the user may create the object. The registry calls it before an update or apply creates
// an object that does not exist.
func (q *request) authorizeCreate(ctx context.Context) error {
	a := q.attributes()
	a.Verb = "create"
	return rbac.Check(ctx, q.h.Authorizer, a)
}

// warn adds a Warning header to the response.
func (q *request) warn(text string) { q.warnings.add(q.w.Header(), text) }
