package protobuf

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"math/bits"
	"time"

	"github.com/cadastre/cadastre/document"
)

func varintSize(v uint64) int { return (bits.Len64(v|1) + 6) / 7 }

// integerOf returns a number as an integer. The number is integral, because objects were validated when they were written.
func integerOf(v document.Value) int64 {
	if i, ok := v.Int64(); ok {
		return i
	}
	f, _ := v.Float64() // an integral number in another notation, such as 1e3
	return int64(f)
}

// fixed writes a floating-point number in 8 bytes.
func (w *writer) fixed(v document.Value) {
	f, _ := v.Float64()
	binary.LittleEndian.PutUint64(w.room(8), math.Float64bits(f))
}

// special writes the content of a value that is a message in protobuf but not an object with known fields in JSON, such as a
// time or a quantity.
func (w *writer) special(f *field, v document.Value) {
	switch f.value {
	case bytes:
		w.decoded(v.Text())
	case timestamp:
		w.time(v.Text(), time.Nanosecond)
	case microTime:
		w.time(v.Text(), time.Microsecond)
	case quantity:
		w.textField(1, v.Text())
	case intOrString:
		w.intOrString(v)
	case duration:
		d, _ := time.ParseDuration(v.Text())
		w.varint(uint64(d))
		w.tag(1, varintType)
	case rawJSON, fieldsJSON:
		w.json(v)
	case stringList:
		for i := v.Len() - 1; i >= 0; i-- {
			w.textField(1, v.At(i).Text())
		}
	}
}

func (w *writer) textField(number int, s string) {
	w.text(s)
	w.varint(uint64(len(s)))
	w.tag(number, bytesType)
}

// decoded writes the bytes that a base64 string encodes.
func (w *writer) decoded(s string) {
	decoded, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return // cannot happen: base64 is validated when an object is written
	}
	copy(w.room(len(decoded)), decoded)
}

// time writes the content of a timestamp message for the time s, truncated to the given precision. The zero time is an empty
// message.
func (w *writer) time(s string, precision time.Duration) {
	if s == "" {
		return
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil || t.IsZero() {
		return
	}
	w.varint(uint64(t.Nanosecond() - t.Nanosecond()%int(precision)))
	w.tag(2, varintType)
	w.varint(uint64(t.Unix()))
	w.tag(1, varintType)
}

// intOrString writes the content of an IntOrString message: its type, its integer and its string.
func (w *writer) intOrString(v document.Value) {
	which, number, text := uint64(0), integerOf(v), ""
	if v.Kind() == document.String {
		which, number, text = 1, 0, v.Text()
	}
	w.textField(3, text)
	w.varint(uint64(number))
	w.tag(2, varintType)
	w.varint(which)
	w.tag(1, varintType)
}

// json writes the JSON text of v as the first field of a message; it writes nothing if v is absent or null.
func (w *writer) json(v document.Value) {
	if v.IsAbsent() || v.IsNull() {
		return
	}
	if canonical, ok := v.CanonicalJSON(); ok {
		w.textField(1, canonical)
		return
	}
	w.textField(1, v.JSON())
}
