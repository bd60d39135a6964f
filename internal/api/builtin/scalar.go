package builtin

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cadastre/cadastre/document"
)

// The encodings of the zero values of scalar Go types.
var (
	emptyString  = document.NewString("")  // emptyString is the zero value of strings.
	zeroNumber   = document.NewInt(0)      // zeroNumber is the zero value of numbers.
	zeroQuantity = document.NewString("0") // zeroQuantity is the zero value of quantities.
)

// zero returns the encoding of the zero value of the Go type; {} for a struct, without the fields that Go always encodes.
func (t *Type) zero() document.Value {
	switch t.Kind {
	case Struct:
		return document.NewMap()
	case String:
		return emptyString
	case Bool:
		return document.NewBool(false)
	case Int32, Int64, IntOrString:
		return zeroNumber
	case Quantity:
		return zeroQuantity
	}
	return document.NewNull()
}

// readScalar decodes a value of a type other than a struct, list or map. It returns a ValueError if the JSON type is wrong.
func (d *decoder) readScalar(t *Type, v document.Value) (document.Value, error) {
	kind := v.Kind()
	switch t.Kind {
	case String:
		if kind == document.String {
			return v, nil
		}
	case Bool:
		if kind == document.Bool {
			return v, nil
		}
	case Int32, Int64:
		if kind == document.Number {
			return d.readInteger(t, v)
		}
	case IntOrString:
		switch kind {
		case document.String:
			return v, nil
		case document.Number:
			return d.readInteger(t, v)
		}
	case Quantity:
		return d.readQuantity(t, v)
	case Bytes:
		return d.readBytes(t, v)
	case Time, MicroTime:
		if kind == document.String {
			return d.readTime(t, v)
		}
	}
	return v, d.newKindError(t, v)
}

func (d *decoder) readInteger(t *Type, v document.Value) (document.Value, error) {
	bits := 32
	if t.Kind == Int64 {
		bits = 64
	}
	text := v.Text()
	i, err := strconv.ParseInt(text, 10, bits)
	switch {
	case err == nil && text != "-0":
		return v, nil
	case err == nil:
		return document.NewInt(i), nil
	case !d.options.WholeFloats:
		return v, d.newKindError(t, v)
	}
	f, ok := v.Float64()
	limit := float64(uint64(1) << (bits - 1))
	if !ok || f != float64(int64(f)) || f < -limit || f >= limit {
		return v, d.newKindError(t, v)
	}
	return document.NewInt(int64(f)), nil
}

// readQuantity decodes a quantity, and returns it in canonical form.
func (d *decoder) readQuantity(t *Type, v document.Value) (document.Value, error) {
	if v.Kind() == document.String && isCanonicalQuantity(v.Text()) {
		return v, nil
	}
	q, err := ParseQuantity(strings.TrimSpace(v.Text()))
	if err != nil {
		return v, d.newValueError(t, v, err.Error())
	}
	return replaceText(v, q.String()), nil
}

// Limits of quantities, which kube-apiserver does not have. Without the limits, parsing 1e-999999999 takes minutes, because
// the parser expands exponents to digits.
const (
	maxQuantityLength = 128 // maxQuantityLength is the maximum length of a quantity in bytes.
	maxExponentDigits = 3   // maxExponentDigits is the maximum number of digits in an exponent, without leading zeros.
)

var errQuantityLimits = fmt.Errorf("quantities have at most %d characters and an exponent of at most %d digits",
	maxQuantityLength, maxExponentDigits)

// ParseQuantity parses a quantity. Unlike resource.ParseQuantity, it rejects quantities that exceed maxQuantityLength or
// maxExponentDigits, also in their canonical form, because they are expensive to parse.
func ParseQuantity(text string) (resource.Quantity, error) {
	digits := exponentDigits(text)
	if len(text) > maxQuantityLength || digits > maxExponentDigits {
		return resource.Quantity{}, errQuantityLimits
	}
	q, err := resource.ParseQuantity(text)
	if err == nil && digits == maxExponentDigits && exponentDigits(q.String()) > maxExponentDigits {
		return resource.Quantity{}, errQuantityLimits
	}
	return q, err
}

// exponentDigits returns the number of digits in the exponent of text, a quantity, without leading zeros.
func exponentDigits(text string) int {
	e := strings.IndexAny(text, "eE")
	if e < 0 {
		return 0
	}
	return len(strings.TrimLeft(text[e+1:], "+-0"))
}

// replaceText returns the string value text; v itself if v is that string already.
func replaceText(v document.Value, text string) document.Value {
	if v.Kind() == document.String && v.Text() == text {
		return v
	}
	return document.NewString(text)
}

// isCanonicalQuantity is a fast check that returns true only for quantities in canonical form, and may return false for
// canonical quantities. It recognizes common quantities: 1 to 5 digits and an optional decimal or binary suffix.
func isCanonicalQuantity(text string) bool {
	const maxDigits = 5 // at most maxDigits digits with any suffix are in the range of quantities
	digits, number := 0, 0
	for digits < len(text) && text[digits] >= '0' && text[digits] <= '9' {
		number = 10*number + int(text[digits]-'0')
		if digits++; digits > maxDigits {
			return false
		}
	}
	if digits == 0 || text[0] == '0' {
		return text == "0"
	}
	switch text[digits:] {
	case "", "m", "k", "M", "G":
		return number%1000 != 0
	case "Ki", "Mi", "Gi":
		return number%1024 != 0
	}
	return false
}

// readTime decodes a time, and returns it in UTC: a Time with seconds, a MicroTime with microseconds. For the zero time it
// returns an absent value.
func (d *decoder) readTime(t *Type, v document.Value) (document.Value, error) {
	layout, shortest := time.RFC3339, "2006-01-02T15:04:05Z"
	if t.Kind == MicroTime {
		layout, shortest = metav1.RFC3339Micro, "2006-01-02T15:04:05.000000Z"
	}
	text := v.Text()
	at, err := time.Parse(layout, text)
	switch {
	case err != nil:
		return v, d.newValueError(t, v, err.Error())
	case at.IsZero():
		return document.Value{}, nil
	case len(text) == len(shortest):
		return v, nil // a time of this length is in UTC and has the required precision
	}
	at = at.UTC()
	if at.Year() < 0 || at.Year() > 9999 {
		return v, d.newValueError(t, v, fmt.Sprintf("parsing time %q as %q: year outside of range [0,9999]", text, layout))
	}
	return document.NewString(at.Format(layout)), nil
}

// readBytes decodes bytes in base64, and returns them in the form in which Go encodes them, without line breaks.
func (d *decoder) readBytes(t *Type, v document.Value) (document.Value, error) {
	if v.Kind() == document.List {
		return d.readByteList(v)
	}
	if v.Kind() != document.String {
		return v, d.newKindError(t, v)
	}
	text := v.Text()
	if isCanonicalBase64(text) {
		return v, nil
	}
	content, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return v, d.newValueError(t, v, err.Error())
	}
	return replaceText(v, base64.StdEncoding.EncodeToString(content)), nil
}

// byteItem is the type of the items of a list of bytes, for error messages.
var byteItem = &Type{GoName: "uint8", Kind: Bytes}

// readByteList decodes bytes that are encoded as a list of numbers, which Go accepts, and returns them in base64.
func (d *decoder) readByteList(v document.Value) (document.Value, error) {
	content := make([]byte, v.Len())
	for i, item := range v.Items() {
		if item.IsNull() {
			continue
		}
		number, err := strconv.ParseUint(item.Text(), 10, 8)
		if err != nil || item.Kind() != document.Number {
			return v, d.newKindError(byteItem, item)
		}
		content[i] = byte(number)
	}
	return document.NewString(base64.StdEncoding.EncodeToString(content)), nil
}

// isCanonicalBase64 reports whether a string is valid base64 in the form in which Go encodes it: without line breaks, and
// with zero padding bits.
func isCanonicalBase64(text string) bool {
	if len(text)%4 != 0 {
		return false
	}
	end := len(text)
	for padding := 0; padding < 2 && end > 0 && text[end-1] == '='; padding++ {
		end--
	}
	for i := range end {
		if base64Digit[text[i]] == 0 {
			return false
		}
	}
	switch len(text) - end {
	case 1:
		return (base64Digit[text[end-1]]-1)&3 == 0
	case 2:
		return (base64Digit[text[end-1]]-1)&15 == 0
	}
	return true
}

// base64Digit maps each base64 digit to its value plus one, and other bytes to 0.
var base64Digit = func() (values [256]byte) {
	for i, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/") {
		values[c] = byte(i + 1)
	}
	return values
}()
