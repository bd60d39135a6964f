package structural

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api/builtin"
)

// Validate returns what is wrong with an object that was read and has its defaults. When it is created, old is absent;
// otherwise old is the live object, and what is as wrong as before is forgiven.
func (t *Type) Validate(obj, old document.Value) field.ErrorList {
	errs, _ := t.Check(obj, old)
	return errs
}

// ValidateStatus returns what is wrong with a write to an object's status. The object has all that is not the status
// from the live one already.
func (t *Type) ValidateStatus(obj, live document.Value) field.ErrorList {
	errs, _ := t.CheckStatus(obj, live)
	return errs
}

// Check does what Validate does, and returns what clients should know about rules that were not followed, but also not
// before. The order is that of kube-apiserver.
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

// CheckStatus does for ValidateStatus what Check does for Validate.
func (t *Type) CheckStatus(obj, live document.Value) (errs field.ErrorList, warnings []string) {
	general, own := builtin.CheckMetadata(obj, live, t.options.Namespaced)
	if wrongKind := t.checkKind(obj); len(wrongKind) > 0 {
		own = wrongKind
	} else {
		if n, status := t.root.find("status"), obj.Get("status"); n != nil && !status.IsAbsent() {
			own = append(own, t.checkSchema(n, status, live.Get("status"), "status")...)
		}
		own = append(own, t.checkScale(obj, false)...)
	}
	own = append(own, t.checkLists(obj, live)...)
	own, warnings = t.checkRules(own, obj, live)
	return append(general, own...), warnings
}

// checkKind tells whether the object is what it says it is.
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

// checkSchema looks for what is wrong only if something is.
func (t *Type) checkSchema(n *node, v, old document.Value, base string) field.ErrorList {
	if n.accepts(v) {
		return nil
	}
	return n.report(v, old, base)
}

// isBlocking tells whether an error keeps the rules from being looked at: they could not rely on types and sizes.
func isBlocking(e *field.Error) bool {
	switch e.Type {
	case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
		return true
	}
	return false
}
