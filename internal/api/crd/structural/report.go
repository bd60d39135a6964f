package structural

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
)

// maxErrors is the maximum number of errors that are reported for one object. A body of 3 MiB can cause a million errors.
const maxErrors = 10_000

// reporter finds all errors of a value, with kube-apiserver's messages. It runs only if there is an error, so its speed is
// less important than the speed of node.accepts.
//
// If a value matches none of several schemas (anyOf, oneOf), kube-apiserver reports the errors of the best match: the schema
// with the most successful checks. All methods that check values return the number of successful checks, matched; they
// increment it at the same places as kube-apiserver.
//
// Errors are sorted by field name, where kube-apiserver's order is random.
type reporter struct {
	base string // base is the path of the validated value in the object: "status", or "" for the object itself.
	errs field.ErrorList
}

// report returns the errors of v; old is its previous value, or absent. base is the path of v in the object.
func (n *node) report(v, old document.Value, base string) field.ErrorList {
	r := reporter{base: base}
	r.reportValue(n, v, "", previous{old, !old.IsAbsent()})
	return r.distinct()
}

// distinct returns the errors without errors that repeat the type, field and detail of an earlier error.
func (r *reporter) distinct() field.ErrorList {
	type key struct {
		kind          field.ErrorType
		field, detail string
	}
	seen := make(map[key]bool, len(r.errs))
	kept := r.errs[:0]
	for _, e := range r.errs {
		k := key{e.Type, e.Field, e.Detail}
		if !seen[k] {
			seen[k] = true
			kept = append(kept, e)
		}
	}
	return kept
}

// add adds an error for the value at path, unless there are maxErrors errors already.
func (r *reporter) add(path string, kind field.ErrorType, bad any, detail string) {
	if len(r.errs) < maxErrors {
		r.errs = append(r.errs, &field.Error{Type: kind, Field: r.fieldName(path), BadValue: bad, Detail: detail})
	}
}

// invalid adds an error of type Invalid whose detail is "PATH in body" followed by the formatted message.
func (r *reporter) invalid(path string, bad any, format string, args ...any) {
	r.add(path, field.ErrorTypeInvalid, bad, fmt.Sprintf("%s in body ", path)+fmt.Sprintf(format, args...))
}

// invalidWithoutPath adds an error of type Invalid without a field, as kube-apiserver does for some checks.
func (r *reporter) invalidWithoutPath(format string, args ...any) {
	r.add("", field.ErrorTypeInvalid, "", fmt.Sprintf(format, args...))
}

func (r *reporter) wrongType(path, expected, received string) {
	r.add(path, field.ErrorTypeTypeInvalid, received, fmt.Sprintf("%s in body must be of type %s: %q", path, expected, received))
}

// fieldName returns the name of an error's field for a path; "<nil>" for the whole object, as in kube-apiserver.
func (r *reporter) fieldName(path string) string {
	path = strings.TrimPrefix(path, ".")
	switch {
	case path != "" && r.base != "":
		return r.base + "." + path
	case path != "":
		return path
	case r.base != "":
		return r.base
	}
	return "<nil>"
}

// reportValue adds the errors of a value, unless the value equals prev, its previous value (ratcheting).
func (r *reporter) reportValue(n *node, v document.Value, path string, prev previous) int {
	mark := len(r.errs)
	matched := r.check(n, v, path, prev)
	if len(r.errs) > mark && prev.known && n.isUnchanged(v, prev.value) {
		r.errs = r.errs[:mark]
	}
	return matched
}

func (r *reporter) check(n *node, v document.Value, path string, prev previous) int {
	if v.IsNull() {
		return r.null(n, path)
	}
	kind := kindOf(v)
	matched := 3 // kube-apiserver always counts its checks for enum, for allOf and similar keywords, and for the schema itself
	if n.kinds != 0 || n.format.name != "" {
		matched += 1 + r.reportKind(n, kind, v, path)
	}
	matched += r.reportCombinators(n, v, path)
	switch kind {
	case text:
		matched += r.text(n, v.Text(), path)
	case integer, number:
		matched += 2
		if n.numbers != nil {
			r.reportNumber(n.numbers, quantityOf(v), path)
		}
	case array:
		matched += 2 + r.items(n, v, path, prev)
	}
	r.enum(n, v, path)
	if kind == object {
		matched += 1 + r.reportFields(n, v, path, prev)
	}
	return matched
}

func (r *reporter) null(n *node, path string) (matched int) {
	if n.acceptsNull() {
		matched = 1
	} else {
		r.wrongType(path, n.typeName, "null")
	}
	r.enum(n, document.NewNull(), path)
	return matched
}

// reportKind adds an error if a value other than null does not have an allowed type.
func (r *reporter) reportKind(n *node, kind kinds, v document.Value, path string) (matched int) {
	switch {
	case n.acceptsKind(kind, v):
		return 1
	case n.format.name != "" && kind&(text|array) == 0 && inferredFormat(kind) != n.format.name:
		r.wrongType(path, n.format.name, inferredFormat(kind))
	default:
		r.wrongType(path, n.typeName, kind.name())
	}
	return 0
}

// inferredFormat returns the format that kube-apiserver infers for a number from its Go type; "" for other values.
func inferredFormat(kind kinds) string {
	switch kind {
	case integer:
		return "int64"
	case number:
		return "float64"
	}
	return ""
}

func (k kinds) name() string {
	for i, name := range kindNames {
		if k == 1<<i {
			return name
		}
	}
	return ""
}

func (r *reporter) text(n *node, s, path string) (matched int) {
	if n.texts != nil {
		r.reportLimits(n.texts, s, path)
	}
	matched = 1
	if n.format.accepts == nil {
		return matched
	}
	if !n.format.accepts(s) {
		r.wrongType(path, n.format.name, s)
	}
	return matched + 1
}

// reportLimits adds an error for the first of maxLength, minLength and pattern that a string violates, as kube-apiserver does.
func (r *reporter) reportLimits(l *textLimits, s, path string) {
	length := utf8.RuneCountInString(s)
	switch {
	case l.maxLength != noLimit && length > l.maxLength:
		e := field.TooLong(nil, "", l.maxLength)
		r.add(path, e.Type, e.BadValue, e.Detail)
	case l.minLength != noLimit && length < l.minLength:
		r.invalid(path, s, "should be at least %d chars long", l.minLength)
	case l.patternErr != nil:
		r.invalid(path, s, "should match '%s, but pattern is invalid: %s'", l.patternText, l.patternErr)
	case l.pattern != nil && !l.pattern.MatchString(s):
		r.invalid(path, s, "should match '%s'", l.patternText)
	}
}

func (r *reporter) enum(n *node, v document.Value, path string) {
	if len(n.enum) == 0 || !v.IsNull() && n.enumerates(v) {
		return
	}
	listed := make([]string, 0, len(n.enum))
	for _, value := range n.enum {
		if value.Kind() == document.String {
			listed = append(listed, value.Text())
			continue
		}
		text, _ := json.Marshal(value.ToGo()) // json.Marshal formats numbers like kube-apiserver
		listed = append(listed, string(text))
	}
	e := field.NotSupported(nil, v.ToGo(), listed)
	r.add(path, e.Type, e.BadValue, e.Detail)
}

func (r *reporter) items(n *node, v document.Value, path string, prev previous) (matched int) {
	if n.items != nil {
		old := prev.items(n)
		for i, item := range v.Items() {
			matched += r.reportValue(n.items, item, fmt.Sprintf("%s[%d]", path, i), old.find(item))
		}
	}
	count := v.Len()
	if n.minItems != noLimit && count < n.minItems {
		r.invalid(path, int64(count), "should have at least %d items", n.minItems)
	}
	if n.maxItems != noLimit && count > n.maxItems {
		r.tooMany(path, count, n.maxItems)
	}
	if n.unique && hasDuplicates(v) {
		r.invalid(path, "", "shouldn't contain duplicates")
	}
	return matched
}

func (r *reporter) tooMany(path string, count, maximum int) {
	e := field.TooMany(nil, count, maximum)
	r.add(path, e.Type, e.BadValue, e.Detail)
}

// reportFields adds the errors of a map: of its size, of the fields that are not in properties, of the fields in properties,
// and of missing required fields, in this order.
func (r *reporter) reportFields(n *node, v document.Value, path string, prev previous) (matched int) {
	count := v.Len()
	if n.minProps != noLimit && count < n.minProps {
		r.invalid(path, int64(count), "should have at least %d properties", n.minProps)
	}
	if n.maxProps != noLimit && count > n.maxProps {
		r.tooMany(path, count, n.maxProps)
	}
	for name, value := range v.Fields() {
		if n.declaredField(name) != nil {
			continue
		}
		if n.closed {
			r.add(path, field.ErrorTypeInvalid, name, fmt.Sprintf("%s.%s in body is a forbidden property", path, name))
		} else if n.additional != nil {
			matched += r.reportValue(n.additional, value, path+"."+name, prev.field(n, name, path == ""))
		}
	}
	for name, value := range v.Fields() {
		if declared := n.declaredField(name); declared != nil {
			matched += r.reportValue(declared, value, fieldBelow(path, name), prev.field(n, name, path == ""))
		}
	}
	for _, name := range n.required {
		if _, found := v.Find(name); !found {
			r.add(path+"."+name, field.ErrorTypeRequired, "", "")
		}
	}
	return matched
}

// fieldBelow returns the path of the field name of the value at path.
func fieldBelow(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
