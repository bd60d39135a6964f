package codec

import (
	"fmt"
	"testing"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/packed"
)

// encoded is an object that has all its encodings, and notes who makes another one of it.
type encoded struct {
	whole, less string
	protobuf    packed.Object
	cbor        *packed.CBORObject
	asked       map[Media]int
	binary      bool // nobody needs JSON
	t           *testing.T
}

func newEncoded(t *testing.T) *encoded {
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
	if o.protobuf, err = packed.Protobuf(doc); err != nil {
		t.Fatal(err)
	}
	if o.cbor, err = packed.CBOR(doc); err != nil {
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

func (o *encoded) Protobuf() (packed.Object, error) {
	o.asked[Protobuf]++
	return o.protobuf, nil
}

func (o *encoded) ProtobufMetadata() (packed.Object, error) {
	o.t.Error("the metadata is encoded by itself, though the object has it")
	return o.protobuf, nil
}

func (o *encoded) CBOR() (*packed.CBORObject, error) {
	o.asked[CBOR]++
	return o.cbor, nil
}

// TestWatchersShareEncodings: whatever watchers want of an event, whole or not, with managedFields or without, each takes the one
// encoding that the object has in the media, and what is told to one more costs no memory.
func TestWatchersShareEncodings(t *testing.T) {
	o := newEncoded(t)
	for _, media := range []Media{JSON, Protobuf, CBOR} {
		for _, shape := range []Shape{Whole, Partial} {
			for _, drop := range []bool{false, true} {
				events, err := NewEvents(View{Format: Format{Media: media, Shape: shape, Drop: drop}})
				if err != nil {
					t.Fatal(err)
				}
				o.asked, o.binary = map[Media]int{}, media != JSON
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
