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

// create answers a POST.
func (q *request) create() error {
	if q.target.subresource == "" && q.target.name != "" {
		return q.noSuchMethod()
	}
	o, err := q.readWriteOptions("CreateOptions", "")
	if err != nil {
		return err
	}
	if q.target.subresource != "" || q.kind.ActsOn != "" {
		return q.createSubresource(o)
	}
	return q.write(o, q.h.Objects.Create)
}

// createSubresource answers a POST to a subresource with a status.
func (q *request) createSubresource(o writeOptions) error {
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
	ctx, cancel := q.timeLimited()
	defer cancel()
	status, err := q.h.Objects.CreateSubresource(ctx, q.writeRequest(endpoint, body, o, registry.ExistenceAny))
	if err != nil {
		return err
	}
	if status.Code == 0 {
		status.Code = http.StatusCreated
	}
	q.answerStatusWith(int(status.Code), view.Format, status)
	return nil
}

// update answers a PUT.
func (q *request) update() error {
	if q.target.name == "" {
		return q.noSuchMethod()
	}
	o, err := q.readWriteOptions("UpdateOptions", "")
	if err != nil {
		return err
	}
	return q.write(o, q.h.Objects.Update)
}

// patch answers a PATCH.
func (q *request) patch() error {
	if q.target.name == "" {
		return q.noSuchMethod()
	}
	o, err := q.readWriteOptions("PatchOptions", q.patchType)
	if err != nil {
		return err
	}
	if q.applies() {
		return q.write(o, q.h.Objects.Apply)
	}
	switch q.patchType {
	case types.MergePatchType:
		return q.write(o, q.patchBy(registry.MergePatch))
	case types.JSONPatchType:
		return q.write(o, q.patchBy(registry.JSONPatch))
	}
	endpoint, err := q.endpoint()
	if err != nil {
		return err
	}
	patch, ok := endpoint.StrategicPatch()
	if ok && q.patchType == types.StrategicMergePatchType {
		return q.write(o, q.patchBy(patch))
	}
	return unsupportedMediaType(q.r.Header.Get("Content-Type"), patchTypes(ok)...)
}

// patchTypes returns the media types of patches. Custom resources have no strategic merge patches.
func patchTypes(strategies bool) []string {
	all := []string{string(types.JSONPatchType), string(types.MergePatchType)}
	if strategies {
		all = append(all, string(types.StrategicMergePatchType))
	}
	return append(all, encoding.ApplyTypes()...)
}

func (q *request) patchBy(patch registry.Patch) func(context.Context, *registry.Request) (registry.Result, error) {
	return func(ctx context.Context, r *registry.Request) (registry.Result, error) {
		return q.h.Objects.Patch(ctx, r, patch)
	}
}

// write has an object written, and answers with it.
func (q *request) write(o writeOptions, do func(context.Context, *registry.Request) (registry.Result, error)) error {
	view, err := q.negotiate()
	if err == nil {
		err = view.FitsObject()
	}
	if err != nil {
		return err
	}
	only, err := onlyIf(q.r.Header)
	if err != nil {
		return err
	}
	body, err := q.readBody()
	if err != nil {
		return err
	}
	ctx := q.h.writes.within(q.h.Limits.RequestTime, q.start)
	endpoint, result, err := q.writeBy(ctx, body, o, only, do)
	if err != nil {
		return err
	}
	// What changes nothing also says how things are; and what has no finalizer left is gone later than it
	// was last written.
	if err := q.sync(ctx, max(result.Revision, result.Object.Revision())); err != nil {
		return registry.StoreError(err)
	}
	code := http.StatusOK
	if result.Created {
		code = http.StatusCreated
	}
	return q.answerObject(code, view, endpoint, result.Object)
}

// writeBy has an object written by the kind that is there now: a custom one may have changed since it was found.
func (q *request) writeBy(ctx context.Context, body registry.Body, o writeOptions, only registry.Existence,
	do func(context.Context, *registry.Request) (registry.Result, error)) (*registry.Endpoint, registry.Result, error) {
	for {
		endpoint, err := q.endpoint()
		if err != nil {
			return nil, registry.Result{}, err
		}
		result, err := do(ctx, q.writeRequest(endpoint, body, o, only))
		if !errors.Is(err, registry.ErrReplaced) {
			return endpoint, result, err
		}
		if err := q.findKind(); err != nil {
			return nil, registry.Result{}, err
		}
	}
}

// gone returns what is closed when nobody waits for the answer any more.
func (q *request) gone() <-chan struct{} { return q.r.Context().Done() }

func (q *request) writeRequest(endpoint *registry.Endpoint, body registry.Body, o writeOptions, only registry.Existence) *registry.Request {
	return &registry.Request{
		Endpoint:        endpoint,
		Namespace:       q.target.place(q.kind),
		Name:            q.target.name,
		Body:            body,
		User:            q.user,
		Verb:            q.target.verb,
		Manager:         o.manager,
		Parameters:      o.sent,
		DryRun:          o.dryRun,
		FieldValidation: o.validation,
		Force:           o.force,
		TakeOver:        o.takeOver,
		Precondition:    only,
		AuthorizeCreate: q.mayCreate,
		Warn:            q.warn,
		ClientGone:      q.gone,
	}
}

// mayCreate asks whether the user may create what another verb would create.
func (q *request) mayCreate(ctx context.Context) error {
	a := q.attributes()
	a.Verb = "create"
	return rbac.Check(ctx, q.h.Authorizer, a)
}

// warn tells the client something in a header.
func (q *request) warn(text string) { q.warnings.add(q.w.Header(), text) }
