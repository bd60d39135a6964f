package structural

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api/builtin"
)

// Validate returns the errors of a decoded and defaulted object. old is the live object, or absent on create. Errors of
// unchanged values are ratcheted, that is, not returned.
func (t *Type) Validate(obj, old document.Value) field.ErrorList {
	errs, _ := t.Check(obj, old)
	return errs
}

// ValidateStatus returns the errors of an update of the status subresource. The caller must have restored the reset fields of
// obj.
func (t *Type) ValidateStatus(obj, live document.Value) field.ErrorList {
	errs, _ := t.CheckStatus(obj, live)
	return errs
}

// Check is like Validate, but also returns warnings about CEL rule violations that are ratcheted. The errors are in the same
// order as in kube-apiserver.
func (t *Type) Check(obj, old document.Value) (errs field.ErrorList, warnings []string) {
	general, own := builtin.CheckMetadata(obj, old, t.options.Namespaced)
	if wrongKind := t.checkKind(obj); len(wrongKind) > 0 {
		own = wrongKind
	} else {
		own = append(own, t.checkSchema(t.root, obj, old, "")...)
		own = append(own, t.checkScale(obj, true)...)
	}
	own = append(own, checkEmbedded(t.root, obj)...)
	own = append(own, t.checkLists(obj, old)...)
	own, warnings = t.checkRules(own, obj, old)
	return append(general, own...), warnings
}

// CheckStatus is like ValidateStatus, but also returns warnings about CEL rule violations that are ratcheted.
func (t *Type) CheckStatus(obj, live document.Value) (errs field.ErrorList, warnings []string) {
	general, own := builtin.CheckMetadata(obj, live, t.options.Namespaced)
	if wrongKind := t.checkKind(obj); len(wrongKind) > 0 {
		own = wrongKind
	} else {
		if n, status := t.root.declaredField("status"), obj.Get("status"); n != nil && !status.IsAbsent() {
			own = append(own, t.checkSchema(n, status, live.Get("status"), "status")...)
		}
		own = append(own, t.checkScale(obj, false)...)
	}
	own = append(own, t.checkLists(obj, live)...)
	own, warnings = t.checkRules(own, obj, live)
	return append(general, own...), warnings
}

// checkKind returns errors if the kind or apiVersion of an object differs from that of the type.
func (t *Type) checkKind(obj document.Value) (errs field.ErrorList) {
	o := &t.options
	if kind := obj.Get("kind").Text(); kind != o.Kind {
		errs = append(errs, field.Invalid(field.NewPath("kind"), kind, fmt.Sprintf("must be %v", o.Kind)))
	}
	version := obj.Get("apiVersion").Text()
	if len(version) != len(o.Group)+1+len(o.Version) || version != o.Group+"/"+o.Version {
		errs = append(errs, field.Invalid(field.NewPath("apiVersion"), version, fmt.Sprintf("must be %v", o.Group+"/"+o.Version)))
	}
	return errs
}

// checkSchema returns the errors of a value in a schema. It runs the reporter only if the fast check fails.
func (t *Type) checkSchema(n *node, v, old document.Value, base string) field.ErrorList {
	if n.accepts(v) {
		return nil
	}
	return n.report(v, old, base)
}

// isBlocking reports whether an error prevents the evaluation of CEL rules, which require correct types and sizes.
func isBlocking(e *field.Error) bool {
	switch e.Type {
	case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
		return true
	}
	return false
}
