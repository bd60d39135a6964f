package server

import (
	"context"
	"errors"
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

// patchTypes are the media types of patches, of kinds that have strategies and of those that don't.
func patchTypes(strategies bool) []string {
	all := []string{string(types.JSONPatchType), string(types.MergePatchType)}
	if strategies {
		all = append(all, string(types.StrategicMergePatchType))
	}
	return append(all, string(types.ApplyYAMLPatchType), string(types.ApplyCBORPatchType))
}

func (q *request) patchBy(patch objects.Patch) func(context.Context, *objects.Request) (objects.Result, error) {
	return func(ctx context.Context, r *objects.Request) (objects.Result, error) {
		return q.h.Objects.Patch(ctx, r, patch)
	}
}

// write has an object written, and answers with it.
func (q *request) write(o writeOptions, do func(context.Context, *objects.Request) (objects.Result, error)) error {
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
		return objects.StoreError(err)
	}
	code := http.StatusOK
	if result.Created {
		code = http.StatusCreated
	}
	return q.answerObject(code, view, endpoint, result.Object)
}

// writeBy has an object written by the kind that is there now: a custom one may have changed since it was found.
func (q *request) writeBy(ctx context.Context, body objects.Body, o writeOptions, only objects.Existence,
	do func(context.Context, *objects.Request) (objects.Result, error)) (*objects.Endpoint, objects.Result, error) {
	for {
		endpoint, err := q.endpoint()
		if err != nil {
			return nil, objects.Result{}, err
		}
		result, err := do(ctx, q.writeRequest(endpoint, body, o, only))
		if !errors.Is(err, objects.ErrReplaced) {
			return endpoint, result, err
		}
		if err := q.findKind(); err != nil {
			return nil, objects.Result{}, err
		}
	}
}

// gone returns what is closed when nobody waits for the answer any more.
func (q *request) gone() <-chan struct{} { return q.r.Context().Done() }

func (q *request) writeRequest(endpoint *objects.Endpoint, body objects.Body, o writeOptions, only objects.Existence) *objects.Request {
	return &objects.Request{
		Endpoint:   endpoint,
		Namespace:  q.target.place(q.kind),
		Name:       q.target.name,
		Body:       body,
		User:       q.user,
		Manager:    o.manager,
		Sent:       o.sent,
		DryRun:     o.dryRun,
		Validation: o.validation,
		Force:      o.force,
		TakeOver:   o.takeOver,
		Only:       only,
		MayCreate:  q.mayCreate,
		MayAlso:    q.mayAlso,
		Warn:       q.warn,
		Gone:       q.gone,
	}
}

// mayCreate asks whether the user may create what another verb would create.
func (q *request) mayCreate(context.Context) error {
	a := q.attributes()
	a.Verb = "create"
	return q.h.Authorizer.Check(a)
}

// mayAlso asks whether the user may do what the request does beside what it says.
func (q *request) mayAlso(d objects.Deed) (verb string, err error) {
	a := q.attributes()
	a.Verb, a.Subresource, a.Namespace, a.Name = d.VerbPrefix+a.Verb, d.Subresource, d.Namespace, d.Name
	return a.Verb, q.h.Authorizer.Check(a)
}

// warn tells the client something in a header.
func (q *request) warn(text string) { q.warnings.add(q.w.Header(), text) }
