package server

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cadastre/cadastre/internal/registry"
	"github.com/cadastre/cadastre/ownership"
)

// writeOptions are the query parameters of a write.
type writeOptions struct {
	dryRun     bool
	manager    string
	validation registry.FieldValidation
	force      bool
	takeOver   bool
	parameters registry.Parameters
}

// readWriteOptions parses and validates the query parameters of a create, update or patch. name is the kind of the options in
// errors, such as PatchOptions.
func (q *request) readWriteOptions(name string, patchType types.PatchType) (writeOptions, error) {
	query := q.query()
	o := metav1.PatchOptions{
		DryRun:          query["dryRun"],
		FieldManager:    query.Get("fieldManager"),
		FieldValidation: query.Get("fieldValidation"),
	}
	if force, ok := query["force"]; ok {
		o.Force = new(len(force) == 0 || isTrue(force[0]))
	}
	if q.isApply() {
		patchType = types.ApplyYAMLPatchType // validation accepts force only for this type, but an apply may have another encoding
	}
	errs := metav1validation.ValidatePatchOptions(&o, patchType)
	if name != "PatchOptions" {
		errs = metav1validation.ValidateUpdateOptions(&metav1.UpdateOptions{DryRun: o.DryRun, FieldManager: o.FieldManager, FieldValidation: o.FieldValidation})
	}
	if len(errs) > 0 {
		return writeOptions{}, apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: name}, "", errs)
	}
	w := writeOptions{dryRun: len(o.DryRun) > 0, manager: o.FieldManager, force: o.Force != nil && *o.Force, parameters: registry.Parameters{FieldManager: o.FieldManager, FieldValidation: o.FieldValidation}}
	var err error
	if w.takeOver, err = q.readTakeOver(); err != nil {
		return writeOptions{}, err
	}
	if w.manager == "" {
		w.manager = managerFromUserAgent(q.r.UserAgent())
	}
	switch o.FieldValidation {
	case metav1.FieldValidationIgnore:
		w.validation = registry.Ignore
	case metav1.FieldValidationStrict:
		w.validation = registry.Strict
	}
	return w, nil
}

// readTakeOver parses the query parameter takeOver, with which an apply first migrates the object from client-side apply.
// Kubernetes does not have this parameter.
func (q *request) readTakeOver() (bool, error) {
	values, ok := q.query()[ownership.TakeOverParameter]
	switch {
	case !ok:
		return false, nil
	case len(values) != 1 || values[0] != ownership.FromClientSideApply:
		return false, apierrors.NewBadRequest(fmt.Sprintf("%s: expected %s, received %q", ownership.TakeOverParameter, ownership.FromClientSideApply, values))
	case !q.isApply():
		return false, apierrors.NewBadRequest(fmt.Sprintf("%s: expected an apply, with the content type %s, received another write; remove the parameter", ownership.TakeOverParameter, types.ApplyYAMLPatchType))
	case q.target.subresource != "":
		return false, apierrors.NewBadRequest(fmt.Sprintf("%s: expected an apply to an object, received an apply to its subresource %s, to which client-side apply never writes; remove the parameter", ownership.TakeOverParameter, q.target.subresource))
	}
	return true, nil
}

// managerFromUserAgent returns the field manager for a request without the query parameter fieldManager: the program name of the
// User-Agent, as in Kubernetes.
func managerFromUserAgent(userAgent string) string {
	program, _, _ := strings.Cut(userAgent, "/")
	program = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, program)
	if len(program) <= metav1validation.FieldManagerMaxLength {
		return program
	}
	end := 0
	for i := range program {
		if i > metav1validation.FieldManagerMaxLength {
			break
		}
		end = i
	}
	return program[:end]
}

// existencePrecondition parses headers that Kubernetes does not support: with If-None-Match: * the write can only create the
// object, and with If-Match: * it can only update the object. Other values are a 400.
func existencePrecondition(h http.Header) (registry.Existence, error) {
	match, noneMatch := h.Get("If-Match"), h.Get("If-None-Match")
	switch {
	case match == "" && noneMatch == "":
		return registry.ExistenceAny, nil
	case match == "*" && noneMatch == "":
		return registry.MustExist, nil
	case match == "" && noneMatch == "*":
		return registry.MustNotExist, nil
	}
	return 0, apierrors.NewBadRequest(fmt.Sprintf("expected If-None-Match: * to only create, or If-Match: * to only update, received If-Match: %q and If-None-Match: %q; "+
		"to write only a certain version put its metadata.resourceVersion into the body", match, noneMatch))
}

// query returns the query parameters. It parses them in the first call.
func (q *request) query() url.Values {
	if q.parameters == nil {
		if q.r.URL.RawQuery == "" {
			return nil
		}
		q.parameters = q.r.URL.Query()
	}
	return q.parameters
}
