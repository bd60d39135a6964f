package protobuf

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// Two bytes of protobuf may decode to a Go struct of a thousand bytes. Therefore the memory of an object is computed
// from the bytes of the body, before it is decoded.

// maxMemory is the maximum size in memory of a decoded body. Objects of a few MiB need much less.
const maxMemory = 64 << 20

// The memory of values that are not structs: a string with its header, and an entry of a map.
const (
	valueMemory = 16
	entryMemory = 64
)

// checkMessageMemory rejects an object, without its envelope, that would need more than maxMemory. Kinds without a Go
// type are left to the decoder.
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

// addMemory adds the memory of a message. It fails as soon as the sum exceeds maxMemory.
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

// addFieldMemory adds the memory of a field's value.
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

// fieldByNumber returns the field with a number; nil if there is none.
func (m *Message) fieldByNumber(number int) *field {
	for i := range m.fields {
		if m.fields[i].number == number {
			return &m.fields[i]
		}
	}
	return nil
}

// entry returns the message of a map's entry: a key and a value.
func (f *field) entry() *Message {
	return &Message{fields: []field{{number: 2, value: f.value, message: f.message}}}
}
