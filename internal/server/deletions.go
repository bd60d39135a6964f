package server

import (
	"fmt"
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/cadastre/cadastre/internal/registry"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// delete handles the verb delete.
func (q *request) delete() error {
	if q.target.subresource != "" {
		return q.methodNotAllowed()
	}
	view, err := q.negotiate() // a Status, which is most responses, uses only the encoding of view
	if err != nil {
		return err
	}
	deletion, o, err := q.readDeletion()
	if err != nil {
		return err
	}
	ctx, cancel := q.withTimeout()
	defer cancel()
	deleted, err := q.h.Objects.Delete(ctx, &deletion)
	if err == nil {
		err = q.sync(ctx, deleted.Revision)
	}
	if err != nil {
		return registry.StoreError(err)
	}
	code := http.StatusOK
	//lint:ignore SA1019 as in Kubernetes, a pending deletion is a 202 only for clients that use the deprecated field
	if deleted.Pending && o.OrphanDependents != nil && !*o.OrphanDependents {
		code = http.StatusAccepted
	}
	if deleted.Pending || q.kind.ReturnDeletedObject {
		// A failed conversion is not an error, because the object is deleted already: the response is a Status instead of the
		// object.
		if shown, err := q.h.Objects.At(deletion.Endpoint, deleted.Object); err == nil {
			return q.respondConverted(code, view, shown)
		}
	}
	q.respondStatus(view.Format, metav1.Status{
		Status: metav1.StatusSuccess,
		Details: &metav1.StatusDetails{
			Name:  deleted.Object.Name(),
			Group: q.kind.Group,
			Kind:  q.kind.Resource,
			UID:   types.UID(deleted.UID),
		},
	})
	return nil
}

// deleteCollection handles the verb deletecollection.
func (q *request) deleteCollection() error {
	if q.kind.NoDeleteCollection || q.target.subresource != "" {
		return q.methodNotAllowed()
	}
	view, err := q.negotiate()
	if err == nil {
		err = view.FitsList(q.kind.ListName())
	}
	if err != nil {
		return err
	}
	o, err := q.readListOptions()
	if err != nil {
		return err
	}
	deletion, _, err := q.readDeletion()
	if err != nil {
		return err
	}
	ctx, cancel := q.withTimeout()
	defer cancel()
	p, err := q.listPage(o, func(query watchcache.Query) (watchcache.List, error) { return q.listSelected(ctx, query) })
	if err != nil {
		return err
	}
	shown, err := q.h.Objects.AllAt(deletion.Endpoint, p.Objects) // converted before the deletion, so that a failed conversion deletes nothing
	if err != nil {
		return err
	}
	last, err := q.h.Objects.DeleteCollection(ctx, deletion, p.Objects)
	if err == nil {
		err = q.sync(ctx, last)
	}
	if err != nil {
		return registry.StoreError(err)
	}
	return q.respondList(view, deletion.Endpoint, p, shown)
}

// orphanedPodsWarning is Kubernetes' warning for the deletion of a Job without a propagation policy.
const orphanedPodsWarning = "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning"

// readDeletion returns the registry.Deletion for the request, and the DeleteOptions from the body or, if there is no body, from
// the query.
func (q *request) readDeletion() (registry.Deletion, metav1.DeleteOptions, error) {
	if err := q.rejectConditionHeaders(); err != nil {
		return registry.Deletion{}, metav1.DeleteOptions{}, err
	}
	o, err := q.readDeleteOptions()
	if err != nil {
		return registry.Deletion{}, o, err
	}
	if errs := metav1validation.ValidateDeleteOptions(&o); len(errs) > 0 {
		return registry.Deletion{}, o, apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "DeleteOptions"}, "", errs)
	}
	endpoint, err := q.endpoint()
	if err != nil {
		return registry.Deletion{}, o, err
	}
	//lint:ignore SA1019 as in Kubernetes, clients that use the deprecated field get no warning
	if q.kind.StoreName() == "batch/jobs" && o.PropagationPolicy == nil && o.OrphanDependents == nil {
		q.warn(orphanedPodsWarning)
	}
	d := registry.Deletion{Endpoint: endpoint, Namespace: q.target.objectNamespace(q.kind), Name: q.target.name, User: q.user, Warn: q.warn}
	d.SetOptions(o)
	return d, o, nil
}

// rejectConditionHeaders returns a 400 for deletions with the headers If-Match or If-None-Match, which are not supported: if
// they were ignored, the request would delete objects that do not match. If-Match: * is accepted, because the deletion of an
// object that does not exist is a 404 anyway.
func (q *request) rejectConditionHeaders() error {
	match, noneMatch := q.r.Header.Get("If-Match"), q.r.Header.Get("If-None-Match")
	if (match == "" || match == "*") && noneMatch == "" {
		return nil
	}
	return apierrors.NewBadRequest(fmt.Sprintf("expected no conditions in the headers of a deletion, received If-Match: %q and If-None-Match: %q; "+
		"to delete only a certain version put its uid or resourceVersion into the body, as preconditions", match, noneMatch))
}

// readDeleteOptions decodes the DeleteOptions in the body or, if there is no body, in the query.
func (q *request) readDeleteOptions() (o metav1.DeleteOptions, err error) {
	body, err := q.readBody()
	if err != nil {
		return o, err
	}
	if body.Text != "" {
		if err := yaml.UnmarshalStrict([]byte(body.Text), &o); err != nil {
			return o, apierrors.NewBadRequest(fmt.Sprintf("the body can't be read: expected DeleteOptions: %v", err))
		}
		if o.Kind != "" && o.Kind != "DeleteOptions" {
			return o, apierrors.NewBadRequest(fmt.Sprintf("the body can't be read: expected DeleteOptions, received %s", o.Kind))
		}
		return o, nil
	}
	query := q.query()
	o.DryRun = query["dryRun"]
	if text := query.Get("gracePeriodSeconds"); text != "" {
		seconds, err := strconv.ParseInt(text, 10, 64) // negative numbers are valid here; the registry replaces them with 1
		if err != nil {
			return o, apierrors.NewBadRequest(fmt.Sprintf("gracePeriodSeconds: expected a number, received %q", text))
		}
		o.GracePeriodSeconds = &seconds
	}
	if orphan, ok := query["orphanDependents"]; ok {
		//lint:ignore SA1019 clients still use the deprecated field
		o.OrphanDependents = new(len(orphan) == 0 || isTrue(orphan[0]))
	}
	if text := query.Get("propagationPolicy"); text != "" {
		o.PropagationPolicy = new(metav1.DeletionPropagation(text))
	}
	return o, nil
}
