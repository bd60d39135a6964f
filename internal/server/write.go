package server

import (
	"context"
	"net/http"

	"k8s.io/apimachinery/pkg/types"

	"github.com/cadastre/cadastre/internal/objects"
)

// create answers a POST.
func (q *request) create() error {
	if q.target.subresource != "" || q.target.name != "" {
		return q.noSuchMethod()
	}
	o, err := q.readWriteOptions("CreateOptions", "")
	if err != nil {
		return err
	}
	return q.write(o, q.h.Objects.Create)
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
	switch q.patchType {
	case types.ApplyYAMLPatchType, types.ApplyCBORPatchType:
		return q.write(o, q.h.Objects.Apply)
	case types.MergePatchType:
		return q.write(o, q.patchBy(objects.MergePatch))
	case types.JSONPatchType:
		return q.write(o, q.patchBy(objects.JSONPatch))
	case types.StrategicMergePatchType:
		endpoint, err := q.endpoint()
		if err != nil {
			return err
		}
		if patch, ok := endpoint.StrategicPatch(); ok {
			return q.write(o, q.patchBy(patch))
		}
		return unsupportedMediaType(string(q.patchType), string(types.JSONPatchType), string(types.MergePatchType),
			string(types.ApplyYAMLPatchType), string(types.ApplyCBORPatchType))
	}
	return unsupportedMediaType(q.r.Header.Get("Content-Type"), string(types.JSONPatchType), string(types.MergePatchType),
		string(types.StrategicMergePatchType), string(types.ApplyYAMLPatchType), string(types.ApplyCBORPatchType))
}

func (q *request) patchBy(patch objects.Patch) func(context.Context, *objects.Request) (objects.Result, error) {
	return func(ctx context.Context, r *objects.Request) (objects.Result, error) {
		return q.h.Objects.Patch(ctx, r, patch)
	}
}

// write has an object written, and answers with it.
func (q *request) write(o writeOptions, do func(context.Context, *objects.Request) (objects.Result, error)) error {
	view, err := q.negotiate()
	if err != nil {
		return err
	}
	endpoint, err := q.endpoint()
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
	result, err := do(ctx, &objects.Request{
		Endpoint:   endpoint,
		Namespace:  q.target.place(q.kind),
		Name:       q.target.name,
		Body:       body,
		User:       q.user,
		Manager:    o.manager,
		DryRun:     o.dryRun,
		Validation: o.validation,
		Force:      o.force,
		Only:       only,
		MayCreate:  q.mayCreate,
		Warn:       q.warn,
	})
	if err != nil {
		return err
	}
	// What changes nothing also says how things are; and what has no finalizer left is gone later than it
	// was last written.
	if err := q.h.Authorizer.Sync(ctx, q.kind.StoreName(), max(result.Revision, result.Object.Revision())); err != nil {
		return objects.StoreError(err)
	}
	code := http.StatusOK
	if result.Created {
		code = http.StatusCreated
	}
	return q.answerObject(code, view, endpoint, result.Object)
}

// mayCreate asks whether the user may create what another verb would create.
func (q *request) mayCreate(context.Context) error {
	a := q.attributes()
	a.Verb = "create"
	return q.h.Authorizer.Check(a)
}

// warn tells the client something in a header.
func (q *request) warn(text string) { q.warnings.add(q.w.Header(), text) }
