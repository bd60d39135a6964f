package builtin

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	validateop "k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/api/validate"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
)

// tagFactory compiles validation tags with the same name.
type tagFactory struct {
	// make returns the check of the tag t of the field f; nil if t has no effect.
	make func(f *declaredField, t tag) (tagCheck, error)
	// skips reports whether the rest of the field's validation is skipped if the check fails.
	skips bool
}

// tagFactories maps the names of the tags of single fields to their factories.
func (d *declarations) tagFactories() map[string]tagFactory {
	return map[string]tagFactory{
		"optional":  {makeTagOptional, true},
		"required":  {makeTagRequired, true},
		"forbidden": {makeTagForbidden, true},
		"immutable": {makeTagImmutable, true},
		"update":    {makeTagUpdate, true},
		"maxItems":  {makeTagMaxItems, true},

		"minimum":   {makeTagMinimum, false},
		"maximum":   {makeTagMaximum, false},
		"maxLength": {makeTagMaxLength, false},
		"maxBytes":  {makeTagMaxBytes, false},
		"format":    {makeTagFormat, false},
		"enum":      {makeTagEnum, false},
		"listType":  {makeTagUnique, false},
		"unique":    {makeTagUnique, false},
		"eachVal":   {d.makeTagEachVal, false},
		"eachKey":   {d.makeTagEachKey, false},

		"ifEnabled":  {d.makeTagIf, false},
		"ifDisabled": {d.makeTagIf, false},
	}
}

// otherTags are the tags without a check in tagFactories: tags that structRules and matchOf evaluate; custom validation,
// which kind files contain; and customUnique and opaqueType, which disable other validation.
var otherTags = []string{
	"listMapKey", "customUnique", "opaqueType", "customValidation",
	"item", "unionMember", "modeDiscriminator", "ifMode", "dependentRequired", "dependentForbidden",
}

// validationOptions are the values of the options in the tags ifEnabled and ifDisabled: kube-apiserver's feature gates.
var validationOptions = map[string]bool{
	"HPAScaleToZero":                               true,
	"DRAPartitionableDevicesType":                  false,
	"WorkloadWithJob":                              false,
	"InPlacePodVerticalScalingSchedulerPreemption": false,
}

// failDeclared adds e, an error without a path, at the current path.
func (c *checker) failDeclared(e *field.Error) bool {
	if len(c.errs) < maxErrors {
		e.Field = c.fieldPath()
		c.errs = append(c.errs, e)
	}
	return false
}

func makeTagOptional(f *declaredField, _ tag) (tagCheck, error) {
	return func(_ *checker, v revision) bool { return !isDeclaredZero(f.typ, f.pointer, v.value) }, nil
}

func makeTagRequired(f *declaredField, _ tag) (tagCheck, error) {
	return func(c *checker, v revision) bool {
		return !isDeclaredZero(f.typ, f.pointer, v.value) || c.failDeclared(field.Required(nil, ""))
	}, nil
}

// makeTagForbidden returns a check that also skips the validation of an unset value.
func makeTagForbidden(f *declaredField, _ tag) (tagCheck, error) {
	return func(c *checker, v revision) bool {
		return !isDeclaredZero(f.typ, f.pointer, v.value) && c.failDeclared(field.Forbidden(nil, ""))
	}, nil
}

// makeTagImmutable returns a check that rejects every update; checkDeclaredField calls it only for changed values.
func makeTagImmutable(*declaredField, tag) (tagCheck, error) {
	return func(c *checker, _ revision) bool {
		return !c.updating || c.failDeclared(field.Invalid(nil, nil, "field is immutable").WithOrigin(originImmutable))
	}, nil
}

// updateConstraints maps the values of the tag update to the detail of the error, and the changes that cause it: whether the old
// and the new value are set.
var updateConstraints = map[string]struct {
	detail        string
	wasSet, isSet bool
}{
	"NoSet":    {"field cannot be set once created", false, true},
	"NoUnset":  {"field cannot be cleared once set", true, false},
	"NoModify": {"field cannot be modified once set", true, true},
}

func makeTagUpdate(f *declaredField, t tag) (tagCheck, error) {
	constraint, ok := updateConstraints[t.value]
	if !ok {
		return nil, fmt.Errorf("expected NoSet, NoUnset or NoModify, received %q", t.value)
	}
	return func(c *checker, v revision) bool {
		if !c.updating || isDeclaredZero(f.typ, f.pointer, v.old) == constraint.wasSet || isDeclaredZero(f.typ, f.pointer, v.value) == constraint.isSet {
			return true
		}
		return c.failDeclared(field.Invalid(nil, nil, constraint.detail).WithOrigin(originUpdate))
	}, nil
}

func makeTagMaxItems(_ *declaredField, t tag) (tagCheck, error) {
	maximum, err := strconv.Atoi(t.value)
	return func(c *checker, v revision) bool {
		return v.value.Len() <= maximum || c.failDeclared(field.TooMany(nil, v.value.Len(), maximum).WithOrigin("maxItems"))
	}, err
}

func makeTagMinimum(f *declaredField, t tag) (tagCheck, error) {
	return makeTagBound(f, t, validate.Minimum[int64])
}

func makeTagMaximum(f *declaredField, t tag) (tagCheck, error) {
	return makeTagBound(f, t, validate.Maximum[int64])
}

func makeTagBound(f *declaredField, t tag, within func(context.Context, validateop.Operation, *field.Path, *int64, *int64, int64) field.ErrorList) (tagCheck, error) {
	limit, err := strconv.ParseInt(t.value, 10, 64)
	return func(c *checker, v revision) bool {
		if f.pointer && isAbsentOrNull(v.value) {
			return true
		}
		n := intValue(v.value)
		return c.failAll(within(context.Background(), validateop.Operation{}, nil, &n, nil, limit))
	}, err
}

// failAll adds errors without a path at the current path, and reports whether there are none.
func (c *checker) failAll(errs field.ErrorList) bool {
	for _, e := range errs {
		c.failDeclared(e)
	}
	return len(errs) == 0
}

func makeTagMaxLength(_ *declaredField, t tag) (tagCheck, error) {
	return makeTagTextLimit(t, validate.MaxLength[string])
}

func makeTagMaxBytes(_ *declaredField, t tag) (tagCheck, error) {
	return makeTagTextLimit(t, validate.MaxBytes[string])
}

func makeTagTextLimit(t tag, within func(context.Context, validateop.Operation, *field.Path, *string, *string, int) field.ErrorList) (tagCheck, error) {
	limit, err := strconv.Atoi(t.value)
	return func(c *checker, v revision) bool {
		text := v.value.Text()
		return len(text) <= limit || c.failAll(within(context.Background(), validateop.Operation{}, nil, &text, nil, limit))
	}, err
}

// tagFormat is a string format of the tag format. accepts, if not nil, is a fast check that returns true only for valid strings.
type tagFormat struct {
	accepts func(string) bool
	errors  func(context.Context, validateop.Operation, *field.Path, *string, *string) field.ErrorList
}

// tagFormats maps the values of the tag format to formats.
var tagFormats = map[string]tagFormat{
	"k8s-short-name": {isDNSLabel, validate.ShortName[string]},
	"k8s-long-name":  {isDNSSubdomain, validate.LongName[string]},
	//lint:ignore SA1019 the drivers' names of kube-apiserver are caseless
	"k8s-long-name-caseless":            {isDNSSubdomain, validate.LongNameCaseless[string]},
	"k8s-label-key":                     {isLabelKey, validate.LabelKey[string]},
	"k8s-prefixed-label-key":            {nil, validate.PrefixedLabelKey[string]},
	"k8s-uuid":                          {nil, validate.UUID[string]},
	"k8s-resource-pool-name":            {isDNSSubdomain, validate.ResourcePoolName[string]},
	"k8s-extended-resource-name":        {nil, validate.ExtendedResourceName[string]},
	"k8s-resource-fully-qualified-name": {nil, validate.ResourceFullyQualifiedName[string]},
}

func makeTagFormat(f *declaredField, t tag) (tagCheck, error) {
	format, ok := tagFormats[t.value]
	if !ok {
		return nil, fmt.Errorf("expected a format listed in tagchecks.go, received %q", t.value)
	}
	return func(c *checker, v revision) bool {
		if f.pointer && isAbsentOrNull(v.value) {
			return true
		}
		return c.checkTagFormat(format, v.value.Text())
	}, nil
}

func (c *checker) checkTagFormat(format tagFormat, text string) bool {
	if format.accepts != nil && format.accepts(text) {
		return true
	}
	return c.failAll(format.errors(context.Background(), validateop.Operation{}, nil, &text, nil))
}

func makeTagEnum(f *declaredField, t tag) (tagCheck, error) {
	values := strings.Split(t.value, ",")
	return func(c *checker, v revision) bool {
		if f.pointer && isAbsentOrNull(v.value) || slices.Contains(values, v.value.Text()) {
			return true
		}
		return c.failDeclared(field.NotSupported(nil, v.value.Text(), values))
	}, nil
}

// makeTagUnique returns a check that rejects list items with the same identity as an earlier item.
func makeTagUnique(f *declaredField, t tag) (tagCheck, error) {
	if t.value != "set" && t.value != "map" {
		return nil, nil
	}
	return func(c *checker, v revision) bool {
		seen := make(map[string]bool, v.value.Len())
		before := len(c.errs)
		for i := range v.value.Len() {
			item := v.value.At(i)
			if key := f.items.key(item); !seen[key] {
				seen[key] = true
				continue
			}
			c.pushItem(i)
			c.failDeclared(field.Duplicate(nil, goValue(f.typ.Elem, item)))
			c.pop()
		}
		return len(c.errs) == before
	}, nil
}

// goValue returns v, a value of type t, as a BadValue of a field.Error that shows v as encoding/json encodes its Go type.
func goValue(t *Type, v document.Value) any {
	if t.Kind == Struct {
		return goJSON{t, v}
	}
	return errorValue(v)
}

// goJSON is the BadValue of a field.Error whose message contains a struct as encoded by encoding/json.
type goJSON struct {
	t     *Type
	value document.Value
}

// MarshalJSON implements json.Marshaler.
func (v goJSON) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for _, f := range inGoOrder(v.t) {
		value := v.value.Get(f.Name)
		if !f.Always && equalsAbsent(f.Type, f.Pointer, value) {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = strconv.AppendQuote(b, f.Name)
		b = append(b, ':')
		if value.IsAbsent() {
			value = f.Type.zero()
		}
		encoded, err := json.Marshal(goValue(f.Type, value))
		if err != nil {
			return nil, err
		}
		b = append(b, encoded...)
	}
	return append(b, '}'), nil
}

// makeTagEachVal returns a check that validates the items of a list with the tag that is the value of t.
func (d *declarations) makeTagEachVal(f *declaredField, t tag) (tagCheck, error) {
	if t.value == "opaqueType" {
		return nil, nil
	}
	inner, err := d.valueCheck(&declaredField{typ: f.typ.Elem}, t)
	return func(c *checker, v revision) bool {
		before := len(c.errs)
		f.items.each(c, f.typ.Elem, v, func(item revision) { inner(c, item) })
		return len(c.errs) == before
	}, err
}

// valueCheck compiles the tag that is the value of t for values of the field f.
func (d *declarations) valueCheck(f *declaredField, t tag) (tagCheck, error) {
	inner, err := t.inner()
	if err != nil {
		return nil, err
	}
	factory, ok := d.factories[inner.name]
	if !ok {
		return nil, fmt.Errorf("expected a validation tag listed in tagchecks.go, received %q", inner.name)
	}
	return factory.make(f, inner)
}

// makeTagEachKey returns a check that validates the format of map keys that an update adds.
func (d *declarations) makeTagEachKey(_ *declaredField, t tag) (tagCheck, error) {
	inner, err := t.inner()
	if err != nil {
		return nil, err
	}
	format, ok := tagFormats[inner.value]
	if inner.name != "format" || !ok {
		return nil, fmt.Errorf("expected a format listed in tagchecks.go, received %q", t.value)
	}
	return func(c *checker, v revision) bool {
		passed := true
		for key := range v.value.Fields() {
			if c.updating && !v.old.Get(key).IsAbsent() {
				continue
			}
			passed = c.checkTagFormat(format, key) && passed
		}
		return passed
	}, nil
}

// makeTagIf compiles the tags ifEnabled(OPTION)=TAG and ifDisabled(OPTION)=TAG.
func (d *declarations) makeTagIf(f *declaredField, t tag) (tagCheck, error) {
	enabled, ok := validationOptions[t.argument]
	if !ok {
		return nil, fmt.Errorf("expected an option listed in tagchecks.go, received %q", t.argument)
	}
	if enabled != (t.name == "ifEnabled") {
		return nil, nil
	}
	return d.valueCheck(f, t)
}
