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

// encoded is an object that has all its encodings, and notes who makes another one of it.
type encoded struct {
	whole, less string
	protobuf    any // a protobuf.Object
	cbor        *cbor.Object
	asked       map[*Encoding]int
	binary      bool // JSON must not be used
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

func (o *encoded) AppendJSON(dst []byte) []byte {
	o.askedForJSON()
	return append(dst, o.whole...)
}

func (o *encoded) AppendJSONWithoutManagedFields(dst []byte) []byte {
	o.askedForJSON()
	return append(dst, o.less...)
}

func (o *encoded) askedForJSON() {
	if o.binary {
		o.t.Error("an event in a binary encoding is made of JSON, and not of what the object has")
	}
	o.asked[JSON]++
}

func (o *encoded) JSONSize() int { return len(o.whole) }

// As returns an encoding as an object of the watch cache does.
func (o *encoded) As(f *watchcache.Form) (any, error) {
	switch f {
	case protobufForm.cached:
		o.asked[Protobuf]++
		return o.protobuf, nil
	case cborForm.cached:
		o.asked[CBOR]++
		return o.cbor, nil
	}
	o.t.Error("an encoding other than that of the whole object was requested")
	return nil, errors.New("no such form")
}

// TestWatchersShareEncodings: whatever watchers want of an event, whole or not, with managedFields or without, each takes the one
// encoding that the object has in the media, and what is told to one more costs no memory.
func TestWatchersShareEncodings(t *testing.T) {
	o := newEncoded(t)
	for _, media := range []*Encoding{JSON, Protobuf, CBOR} {
		for _, shape := range []Shape{Whole, Partial} {
			for _, drop := range []bool{false, true} {
				events, err := NewWatchEncoder(View{Format: Format{Encoding: media, Shape: shape, Drop: drop}})
				if err != nil {
					t.Fatal(err)
				}
				o.asked, o.binary = map[*Encoding]int{}, media != JSON
				name := fmt.Sprintf("%v %v, drop %v", media, shape, drop)
				frame, err := events.Append(make([]byte, 0, 1024), "ADDED", o)
				if err != nil {
					t.Fatal(err)
				}
				if len(o.asked) != 1 || o.asked[media] != 1 {
					t.Errorf("%s: an event takes the encodings %v, expected one of its media", name, o.asked)
				}
				if allocated := testing.AllocsPerRun(100, func() { _, _ = events.Append(frame[:0], "ADDED", o) }); allocated > 0 {
					t.Errorf("%s: one more watcher takes memory %v times", name, allocated)
				}
			}
		}
	}
}
