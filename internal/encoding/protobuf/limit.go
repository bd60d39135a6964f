package protobuf

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// Two bytes of protobuf may decode to a Go struct of a thousand bytes. Therefore the memory that a body would need is
// computed before it is decoded.

// maxMemory is the maximum size in bytes of a decoded body in memory. Typical objects of a few MiB need much less.
const maxMemory = 64 << 20

// The estimated memory, in bytes, of a string without its contents, and of a map entry.
const (
	valueMemory = 16
	entryMemory = 64
)

// checkMessageMemory returns an error if an object, passed without its envelope, would need more than maxMemory. It accepts
// kinds without a Go type, which the decoder rejects.
func checkMessageMemory(t Type, object []byte) error {
	m, err := MessageFor(t)
	if err != nil || m == nil {
		return err
	}
	memory := 0
	if err := m.addMemory(&memory, object); err != nil {
		return fmt.Errorf("%s: %w", t.Kind, err)
	}
	return nil
}

// addMemory adds the memory that an encoded message would need to *memory. It returns an error as soon as the sum exceeds
// maxMemory.
func (m *Message) addMemory(memory *int, data []byte) error {
	*memory += m.size
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
		if err := m.addFieldMemory(memory, int(number), value); err != nil {
			return err
		}
		if *memory > maxMemory {
			return fmt.Errorf("expected an object that takes at most %d bytes of memory, received one with more fields and items than that; split it", maxMemory)
		}
	}
	return nil
}

// addFieldMemory adds the memory that the value of a field would need to *memory.
func (m *Message) addFieldMemory(memory *int, number int, value []byte) error {
	*memory += valueMemory
	f := m.fieldByNumber(number)
	switch {
	case f == nil:
		return nil // the decoder skips unknown fields
	case f.cardinality == mapped:
		*memory += entryMemory
		if f.message != nil {
			return f.entry().addMemory(memory, value)
		}
	case f.message != nil:
		return f.message.addMemory(memory, value)
	}
	*memory += len(value)
	return nil
}

// fieldByNumber returns the field with a field number; nil if there is none.
func (m *Message) fieldByNumber(number int) *field {
	for i := range m.fields {
		if m.fields[i].number == number {
			return &m.fields[i]
		}
	}
	return nil
}

// entry returns the message of an entry of a map field, which consists of a key and a value.
func (f *field) entry() *Message {
	return &Message{fields: []field{{number: 2, value: f.value, message: f.message}}}
}
