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

var protobufEncoding = &encoding{mediaType: "application/vnd.kubernetes.protobuf", strip: stripProtobuf, frames: protobufFrames}

// Protobuf has field numbers instead of names:
//
//	k8s 0x00 { 1: {1: APIVERSION 2: KIND}  2: object  … }
//	object   { 1: metadata  … }      metadata { …  17: managedFields  … }
//	list     { 1: …  2: object  2: object  … }
//	event    { 1: TYPE  2: { 1: k8s 0x00 … } }

const (
	protobufPrefix      = "k8s\x00"
	managedFieldsNumber = 17
)

// namesOnly are the discovery kinds whose field 1 is a name; in all other kinds it is metadata.
var namesOnly = map[string]bool{"APIVersions": true, "APIGroup": true, "APIGroupList": true, "APIResourceList": true}

var errProtobuf = errors.New("expected protobuf, received a truncated field or an unknown wire type")

// stripProtobuf removes managedFields from a response.
func stripProtobuf(body []byte) ([]byte, error) {
	message, ok := bytes.CutPrefix(body, []byte(protobufPrefix))
	if !ok {
		return body, nil // OpenAPI documents have no prefix and contain no objects
	}
	isList, hasObjects := false, true
	short, err := changed(message, func(number int, value []byte) ([]byte, error) {
		switch number {
		case 1:
			kind, err := kindOf(value)
			isList, hasObjects = strings.HasSuffix(kind, "List"), !namesOnly[kind]
			return value, err
		case 2:
			switch {
			case !hasObjects:
				return value, nil
			case isList:
				return changed(value, stripItem)
			}
			return changed(value, stripMetadata)
		}
		return value, nil
	})
	if err != nil || len(short) == len(message) {
		return body, err
	}
	return append([]byte(protobufPrefix), short...), nil
}

// maxFrame is the maximum size of a frame, as in client-go.
const maxFrame = 16 << 20

// protobufFrames reads length-prefixed events.
func protobufFrames(body io.Reader) func() ([]byte, error) {
	reader := bufio.NewReader(body)
	return func() ([]byte, error) {
		frame := make([]byte, 4)
		if _, err := io.ReadFull(reader, frame); err != nil {
			return nil, err
		}
		length := binary.BigEndian.Uint32(frame)
		if length > maxFrame {
			return nil, fmt.Errorf("client: an event of a watch: expected at most %d bytes, received %d", maxFrame, length)
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

// stripProtobufEvent removes managedFields from a watch event.
func stripProtobufEvent(event []byte) ([]byte, error) {
	return changed(event, func(number int, value []byte) ([]byte, error) {
		if number != 2 {
			return value, nil
		}
		return changed(value, func(number int, value []byte) ([]byte, error) {
			if number != 1 {
				return value, nil
			}
			return stripProtobuf(value)
		})
	})
}

// kindOf returns the kind in an encoded TypeMeta.
func kindOf(typeMeta []byte) (kind string, err error) {
	_, err = changed(typeMeta, func(number int, value []byte) ([]byte, error) {
		if number == 2 {
			kind = string(value)
		}
		return value, nil
	})
	return kind, err
}

func stripItem(number int, value []byte) ([]byte, error) {
	if number != 2 {
		return value, nil
	}
	return changed(value, stripMetadata)
}

func stripMetadata(number int, value []byte) ([]byte, error) {
	if number != 1 {
		return value, nil
	}
	return changed(value, func(number int, value []byte) ([]byte, error) {
		if number == managedFieldsNumber {
			return nil, nil
		}
		return value, nil
	})
}

// changed returns a message in which every length-delimited field is replaced by the result of change; nil removes the
// field. It returns the same message if nothing changes.
func changed(message []byte, change func(number int, value []byte) ([]byte, error)) ([]byte, error) {
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
			continue // unchanged: removing a part would make it shorter
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

// valueAt returns the end of a value, and the value itself if it is length-delimited.
func valueAt(message []byte, at, wireType int) (value []byte, end int, err error) {
	switch wireType {
	case 0:
		_, n := binary.Uvarint(message[at:])
		if n <= 0 {
			return nil, 0, errProtobuf
		}
		return nil, at + n, nil
	case 1:
		end = at + 8
	case 5:
		end = at + 4
	case 2:
		length, n := binary.Uvarint(message[at:])
		if n <= 0 || length > uint64(len(message)-at-n) {
			return nil, 0, errProtobuf
		}
		at += n
		end = at + int(length)
		return message[at:end:end], end, nil
	default:
		return nil, 0, errProtobuf
	}
	if end > len(message) {
		return nil, 0, errProtobuf
	}
	return nil, end, nil
}
