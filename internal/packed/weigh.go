package packed

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// Bodies come from users, and two bytes of protobuf may stand for a Go struct of a thousand. So a body is weighed before
// it is read: what it would become costs nothing until then.

// heaviest is how much memory the Go object of a body may take. An object of a few MiB that somebody has a use for
// takes much less.
const heaviest = 64 << 20

// Weights of what is no struct: a string and what is around it, and an entry of a map.
const (
	valueWeight = 16
	entryWeight = 64
)

// CheckWeight refuses an object in protobuf, without its envelope, that would take too much memory. Kinds without Go
// types are left to who reads them.
func CheckWeight(t Type, object []byte) error {
	m, err := messageFor(t)
	if err != nil || m == nil {
		return err
	}
	weight := 0
	if err := m.weigh(&weight, object); err != nil {
		return fmt.Errorf("%s: %w", t.Kind, err)
	}
	return nil
}

// weigh adds what a message weighs. It stops as soon as that is too much.
func (m *Message) weigh(weight *int, data []byte) error {
	*weight += m.size
	for len(data) > 0 {
		number, wire, n := protowire.ConsumeTag(data)
		if n < 0 {
			return protowire.ParseError(n)
		}
		data = data[n:]
		if n = protowire.ConsumeFieldValue(number, wire, data); n < 0 {
			return protowire.ParseError(n)
		}
		value := data[:n]
		data = data[n:]
		if wire == protowire.BytesType {
			value, _ = protowire.ConsumeBytes(value)
		}
		if err := m.weighField(weight, int(number), value); err != nil {
			return err
		}
		if *weight > heaviest {
			return fmt.Errorf("expected an object that takes at most %d bytes of memory, received one with more fields and items than that; split it", heaviest)
		}
	}
	return nil
}

// weighField adds what a value weighs.
func (m *Message) weighField(weight *int, number int, value []byte) error {
	*weight += valueWeight
	f := m.numbered(number)
	switch {
	case f == nil:
		return nil // it is skipped, too, when it is read
	case f.many == mapped:
		*weight += entryWeight
		if f.message != nil {
			return f.entry().weigh(weight, value)
		}
	case f.message != nil:
		return f.message.weigh(weight, value)
	}
	*weight += len(value)
	return nil
}

// numbered returns the field that has a number, nil if there is none.
func (m *Message) numbered(number int) *field {
	for i := range m.fields {
		if m.fields[i].number == number {
			return &m.fields[i]
		}
	}
	return nil
}

// entry returns the message that an entry of a map is: a key, and the value.
func (f *field) entry() *Message {
	return &Message{fields: []field{{number: 2, value: f.value, message: f.message}}}
}
