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

// delete deletes an object.
func (q *request) delete() error {
	if q.target.subresource != "" {
		return q.noSuchMethod()
	}
	view, err := q.negotiate() // most deletions are answered with a status, whatever was asked for
	if err != nil {
		return err
	}
	deletion, o, err := q.readDeletion()
	if err != nil {
		return err
	}
	ctx, cancel := q.timeLimited()
	defer cancel()
	deleted, err := q.h.Objects.Delete(ctx, &deletion)
	if err == nil {
		err = q.sync(ctx, deleted.Revision)
	}
	if err != nil {
		return registry.StoreError(err)
	}
	code := http.StatusOK
	//lint:ignore SA1019 as in Kubernetes only who uses it is told that the object waits
	if deleted.Pending && o.OrphanDependents != nil && !*o.OrphanDependents {
		code = http.StatusAccepted
	}
	if deleted.Pending || q.kind.ReturnDeletedObject {
		// What is done is done, whether or not it can be shown.
		if shown, err := q.h.Objects.At(deletion.Endpoint, deleted.Object); err == nil {
			return q.answerShown(code, view, shown)
		}
	}
	q.answerStatus(view.Format, metav1.Status{
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

// deleteCollection deletes the objects of a selection.
func (q *request) deleteCollection() error {
	if q.kind.NoDeleteCollection || q.target.subresource != "" {
		return q.noSuchMethod()
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
	ctx, cancel := q.timeLimited()
	defer cancel()
	p, err := q.listPage(o, func(query watchcache.Query) (watchcache.List, error) { return q.selected(ctx, query) })
	if err != nil {
		return err
	}
	shown, err := q.h.Objects.AllAt(deletion.Endpoint, p.Objects) // before they go: an answer must not fail after that
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
	return q.answerList(view, deletion.Endpoint, p, shown)
}

// podsStay is for who deletes a job and does not say what becomes of its pods.
const podsStay = "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning"

// readDeletion reads how something is to be deleted: from the body, or else from the parameters.
func (q *request) readDeletion() (registry.Deletion, metav1.DeleteOptions, error) {
	if err := q.checkConditions(); err != nil {
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
	//lint:ignore SA1019 clients that use it are not warned
	if q.kind.StoreName() == "batch/jobs" && o.PropagationPolicy == nil && o.OrphanDependents == nil {
		q.warn(podsStay)
	}
	d := registry.Deletion{Endpoint: endpoint, Namespace: q.target.place(q.kind), Name: q.target.name, User: q.user, Warn: q.warn}
	d.SetOptions(o)
	return d, o, nil
}

// checkConditions refuses conditions that a deletion does not know: who sends them must not lose what they were to
// save. If-Match: * is always met, since what is not there is not found.
func (q *request) checkConditions() error {
	match, noneMatch := q.r.Header.Get("If-Match"), q.r.Header.Get("If-None-Match")
	if (match == "" || match == "*") && noneMatch == "" {
		return nil
	}
	return apierrors.NewBadRequest(fmt.Sprintf("expected no conditions in the headers of a deletion, received If-Match: %q and If-None-Match: %q; "+
		"to delete only a certain version put its uid or resourceVersion into the body, as preconditions", match, noneMatch))
}

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
		seconds, err := strconv.ParseInt(text, 10, 64) // less than nothing is the least that is some
		if err != nil {
			return o, apierrors.NewBadRequest(fmt.Sprintf("gracePeriodSeconds: expected a number, received %q", text))
		}
		o.GracePeriodSeconds = &seconds
	}
	if orphan, ok := query["orphanDependents"]; ok {
		//lint:ignore SA1019 clients still use it
		o.OrphanDependents = new(len(orphan) == 0 || isTrue(orphan[0]))
	}
	if text := query.Get("propagationPolicy"); text != "" {
		o.PropagationPolicy = new(metav1.DeletionPropagation(text))
	}
	return o, nil
}
