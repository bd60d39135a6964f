package encoding

import (
	"errors"
	"fmt"
	"testing"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/encoding/cbor"
	"github.com/cadastre/cadastre/internal/encoding/protobuf"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// encoded is an object with cached encodings. It counts how often each encoding is used.
type encoded struct {
	whole, less string
	protobuf    any // of type protobuf.Object
	cbor        *cbor.Object
	uses        map[*Encoding]int
	binary      bool // set if the JSON must not be used
	t           testing.TB
}

func newEncoded(t testing.TB) *encoded {
	t.Helper()
	o := &encoded{
		whole: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"managedFields":[{"manager":"m"}],"name":"a"},"data":{"b":"c"}}`,
		less:  `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"b":"c"}}`,
		t:     t,
	}
	doc, err := document.ParseJSON(o.whole)
	if err != nil {
		t.Fatal(err)
	}
	if o.protobuf, err = protobuf.Encode(doc); err != nil {
		t.Fatal(err)
	}
	if o.cbor, err = cbor.Encode(doc); err != nil {
		t.Fatal(err)
	}
	return o
}

func (e *encoded) AppendJSON(dst []byte) []byte {
	e.countJSON()
	return append(dst, e.whole...)
}

func (e *encoded) AppendJSONWithoutManagedFields(dst []byte) []byte {
	e.countJSON()
	return append(dst, e.less...)
}

func (e *encoded) countJSON() {
	if e.binary {
		e.t.Error("the encoder called AppendJSON for an event in a binary encoding, want only calls of As")
	}
	e.uses[JSON]++
}

func (e *encoded) JSONSize() int { return len(e.whole) }

// As implements the interface caching, like the objects of the watch cache.
func (e *encoded) As(f *watchcache.Form) (any, error) {
	switch f {
	case protobufForm.cached:
		e.uses[Protobuf]++
		return e.protobuf, nil
	case cborForm.cached:
		e.uses[CBOR]++
		return e.cbor, nil
	}
	e.t.Error("As() was called for an unknown form, want only protobufForm and cborForm")
	return nil, errors.New("no such form")
}

// TestWatchersShareEncodings checks that events in all shapes, with or without managedFields, use the cached encoding of the
// whole object, and that encoding an event a second time does not allocate memory.
func TestWatchersShareEncodings(t *testing.T) {
	o := newEncoded(t)
	for _, media := range []*Encoding{JSON, Protobuf, CBOR} {
		for _, shape := range []Shape{Whole, Partial} {
			for _, drop := range []bool{false, true} {
				events, err := NewWatchEncoder(View{Format: Format{Encoding: media, Shape: shape, Drop: drop}})
				if err != nil {
					t.Fatal(err)
				}
				o.uses, o.binary = map[*Encoding]int{}, media != JSON
				name := fmt.Sprintf("%v %v, drop %v", media, shape, drop)
				frame, err := events.Append(make([]byte, 0, 1024), "ADDED", o)
				if err != nil {
					t.Fatal(err)
				}
				if len(o.uses) != 1 || o.uses[media] != 1 {
					t.Errorf("%s: numbers of uses of the encodings = %v, want 1 use of %v only", name, o.uses, media)
				}
				if allocated := testing.AllocsPerRun(100, func() { _, _ = events.Append(frame[:0], "ADDED", o) }); allocated > 0 {
					t.Errorf("%s: second Append() of the event: got %v allocations, want 0", name, allocated)
				}
			}
		}
	}
}
