package structural

import (
	"fmt"
	"strconv"

	"github.com/go-openapi/swag/conv"

	"github.com/cadastre/cadastre/document"
)

// numberLimits are the keywords of a schema that restrict numbers. typeName and format are set only if the type of the
// schema is integer or number.
type numberLimits struct {
	typeName, format               string
	minimum, maximum, multipleOf   *float64
	exclusiveMinimum, exclusiveMax bool
}

func numberLimitsOf(v document.Value, k kinds, format string) *numberLimits {
	l := &numberLimits{
		minimum: floatLimit(v, "minimum"), maximum: floatLimit(v, "maximum"), multipleOf: floatLimit(v, "multipleOf"),
		exclusiveMinimum: v.Get("exclusiveMinimum").Bool(), exclusiveMax: v.Get("exclusiveMaximum").Bool(),
	}
	switch k {
	case integer:
		l.typeName, l.format = "integer", format
	case number:
		l.typeName, l.format = "number", format
	}
	if l.minimum == nil && l.maximum == nil && l.multipleOf == nil && l.typeName == "" {
		return nil
	}
	return l
}

func floatLimit(v document.Value, name string) *float64 {
	if f, ok := v.Get(name).Float64(); ok {
		return &f
	}
	return nil
}

// quantity is a number as kube-apiserver decodes it. Its value is the int64 i if whole is set, and the float64 f if whole is
// not set.
type quantity struct {
	whole bool
	i     int64
	f     float64
}

func quantityOf(v document.Value) quantity {
	if i, ok := v.Int64(); ok {
		return quantity{true, i, float64(i)}
	}
	f, ok := v.Float64()
	if !ok { // the number is outside of the range of float64
		f, _ = strconv.ParseFloat(v.Text(), 64)
	}
	return quantity{f: f}
}

func (q quantity) value() any {
	if q.whole {
		return q.i
	}
	return q.f
}

// fits reports whether a number is in the range of the schema's type and format, such as int32.
func (l *numberLimits) fits(q quantity) bool {
	switch {
	case l.typeName == "integer" && l.format == "int32":
		return q.hasBits(32)
	case l.typeName == "integer":
		return q.hasBits(64)
	case l.typeName == "number" && l.format == "float":
		_, err := strconv.ParseFloat(strconv.FormatFloat(q.f, 'f', -1, 64), 32)
		return err == nil
	}
	return true
}

// hasBits reports whether a number is an integer that fits in a signed integer of 32 or 64 bits.
func (q quantity) hasBits(bits int) bool {
	if q.whole {
		return bits == 64 || q.i == int64(int32(q.i))
	}
	_, err := strconv.ParseInt(strconv.FormatFloat(q.f, 'f', -1, 64), 10, bits)
	return err == nil
}

// rangeError returns kube-apiserver's message for a number outside of the range of the type and format. role is the role of
// the number: "Checked" for the value, or the name of a limit.
func (l *numberLimits) rangeError(role, path string) string {
	if l.format != "" {
		return fmt.Sprintf("%s value must be of type %s with format %s in %s", role, l.typeName, l.format, path)
	}
	return fmt.Sprintf("%s value must be of type %s (default format) in %s", role, l.typeName, path)
}

// accepts reports whether q conforms to all keywords, and whether the limits themselves are in the range of the type.
func (l *numberLimits) accepts(q quantity) bool {
	if !l.fits(q) {
		return false
	}
	for _, bound := range [...]*float64{l.multipleOf, l.minimum, l.maximum} {
		if bound != nil && !l.fits(quantity{f: *bound}) {
			return false
		}
	}
	return (l.multipleOf == nil || isMultiple(q, *l.multipleOf)) &&
		(l.minimum == nil || !isBelow(q, *l.minimum, l.exclusiveMinimum)) &&
		(l.maximum == nil || !exceeds(q, *l.maximum, l.exclusiveMax))
}

// isMultiple reports whether q is a multiple of factor. As in kube-apiserver, factor is truncated to an integer if q is an
// integer.
func isMultiple(q quantity, factor float64) bool {
	if q.whole {
		whole := int64(factor)
		return whole > 0 && q.i%whole == 0
	}
	switch {
	case factor <= 0:
		return false
	case factor < 1:
		return conv.IsFloat64AJSONInteger(1 / factor * q.f)
	}
	return conv.IsFloat64AJSONInteger(q.f / factor)
}

func isBelow(q quantity, bound float64, exclusive bool) bool {
	if q.whole {
		whole := int64(bound)
		return q.i < whole || exclusive && q.i == whole
	}
	return q.f < bound || exclusive && q.f == bound
}

func exceeds(q quantity, bound float64, exclusive bool) bool {
	if q.whole {
		whole := int64(bound)
		return q.i > whole || exclusive && q.i == whole
	}
	return q.f > bound || exclusive && q.f == bound
}
