package client

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
)

// protobufEncoding removes managedFields from responses in protobuf.
var protobufEncoding = &encoding{mediaType: "application/vnd.kubernetes.protobuf", strip: stripProtobuf, frames: protobufFrames}

// In Kubernetes' protobuf encoding, these field numbers lead to managedFields (k8s 0x00 is the prefix of every response):
//
//	k8s 0x00 { 1: {1: APIVERSION 2: KIND}  2: object  … }
//	object   { 1: metadata  … }      metadata { …  17: managedFields  … }
//	list     { 1: …  2: object  2: object  … }
//	event    { 1: TYPE  2: { 1: k8s 0x00 … } }

const (
	// protobufPrefix is the prefix of every object in Kubernetes' protobuf encoding.
	protobufPrefix = "k8s\x00"
	// managedFieldsNumber is the field number of managedFields in ObjectMeta.
	managedFieldsNumber = 17
)

// discoveryKinds are the kinds of discovery documents, which have no metadata. In all other kinds, field 1 is metadata.
var discoveryKinds = map[string]bool{"APIVersions": true, "APIGroup": true, "APIGroupList": true, "APIResourceList": true}

// errProtobuf is the error for a response that is not valid protobuf.
var errProtobuf = errors.New("expected protobuf, received a truncated field or an unknown wire type")

// stripProtobuf removes managedFields from a response in protobuf. It returns a response without protobufPrefix unchanged.
func stripProtobuf(body []byte) ([]byte, error) {
	message, ok := bytes.CutPrefix(body, []byte(protobufPrefix))
	if !ok {
		return body, nil // OpenAPI documents have no prefix and contain no objects
	}
	isList, hasObjects := false, true
	short, err := rewriteFields(message, func(number int, value []byte) ([]byte, error) {
		switch number {
		case 1:
			kind, err := kindOf(value)
			isList, hasObjects = strings.HasSuffix(kind, "List"), !discoveryKinds[kind]
			return value, err
		case 2:
			switch {
			case !hasObjects:
				return value, nil
			case isList:
				return rewriteFields(value, stripItem)
			}
			return rewriteFields(value, stripMetadata)
		}
		return value, nil
	})
	if err != nil || len(short) == len(message) {
		return body, err
	}
	return append([]byte(protobufPrefix), short...), nil
}

// maxEventSize is the maximum size of a watch event in bytes, as in client-go.
const maxEventSize = 16 << 20

// protobufFrames returns a function that reads the next length-prefixed watch event and removes managedFields.
func protobufFrames(body io.Reader) func() ([]byte, error) {
	reader := bufio.NewReader(body)
	return func() ([]byte, error) {
		frame := make([]byte, 4)
		if _, err := io.ReadFull(reader, frame); err != nil {
			return nil, err
		}
		length := binary.BigEndian.Uint32(frame)
		if length > maxEventSize {
			return nil, fmt.Errorf("client: watch event: expected at most %d bytes, received %d", maxEventSize, length)
		}
		event := make([]byte, length)
		if _, err := io.ReadFull(reader, event); err != nil {
			return nil, err
		}
		event, err := stripProtobufEvent(event)
		if err != nil {
			return nil, err
		}
		return append(binary.BigEndian.AppendUint32(frame[:0], uint32(len(event))), event...), nil
	}
}

// stripProtobufEvent removes managedFields from a watch event in protobuf.
func stripProtobufEvent(event []byte) ([]byte, error) {
	return rewriteFields(event, func(number int, value []byte) ([]byte, error) {
		if number != 2 {
			return value, nil
		}
		return rewriteFields(value, func(number int, value []byte) ([]byte, error) {
			if number != 1 {
				return value, nil
			}
			return stripProtobuf(value)
		})
	})
}

// kindOf returns the kind in a TypeMeta in protobuf.
func kindOf(typeMeta []byte) (kind string, err error) {
	_, err = rewriteFields(typeMeta, func(number int, value []byte) ([]byte, error) {
		if number == 2 {
			kind = string(value)
		}
		return value, nil
	})
	return kind, err
}

// stripItem returns value, the field with the given number of a list. If the field is an item, it removes the item's
// managedFields.
func stripItem(number int, value []byte) ([]byte, error) {
	if number != 2 {
		return value, nil
	}
	return rewriteFields(value, stripMetadata)
}

// stripMetadata returns value, the field with the given number of an object. If the field is metadata, it removes
// managedFields from it.
func stripMetadata(number int, value []byte) ([]byte, error) {
	if number != 1 {
		return value, nil
	}
	return rewriteFields(value, func(number int, value []byte) ([]byte, error) {
		if number == managedFieldsNumber {
			return nil, nil
		}
		return value, nil
	})
}

// rewriteFields returns a message in which every length-delimited field is replaced by the result of change, or removed
// if change returns nil. It returns the same slice if no field changes. change must return either the unchanged value
// or a shorter value.
func rewriteFields(message []byte, change func(number int, value []byte) ([]byte, error)) ([]byte, error) {
	var out []byte
	kept := 0
	for at := 0; at < len(message); {
		start := at
		tag, n := binary.Uvarint(message[at:])
		if n <= 0 {
			return nil, errProtobuf
		}
		at += n
		value, end, err := valueAt(message, at, int(tag&7))
		if err != nil {
			return nil, err
		}
		at = end
		if value == nil {
			continue
		}
		now, err := change(int(tag>>3), value)
		if err != nil {
			return nil, err
		}
		if now != nil && len(now) == len(value) {
			continue // a value of the same length is unchanged, because change returns a changed value only if it is shorter
		}
		out = append(out, message[kept:start]...)
		if now != nil {
			out = binary.AppendUvarint(out, tag)
			out = binary.AppendUvarint(out, uint64(len(now)))
			out = append(out, now...)
		}
		kept = end
	}
	if kept == 0 {
		return message, nil
	}
	return append(out, message[kept:]...), nil
}

// valueAt returns the value that starts at offset start, or nil if that value is not length-delimited. end is the offset
// after the value.
func valueAt(message []byte, start, wireType int) (value []byte, end int, err error) {
	switch wireType {
	case 0:
		_, n := binary.Uvarint(message[start:])
		if n <= 0 {
			return nil, 0, errProtobuf
		}
		return nil, start + n, nil
	case 1:
		end = start + 8
	case 5:
		end = start + 4
	case 2:
		length, n := binary.Uvarint(message[start:])
		if n <= 0 || length > uint64(len(message)-start-n) {
			return nil, 0, errProtobuf
		}
		start += n
		end = start + int(length)
		return message[start:end:end], end, nil
	default:
		return nil, 0, errProtobuf
	}
	if end > len(message) {
		return nil, 0, errProtobuf
	}
	return nil, end, nil
}
