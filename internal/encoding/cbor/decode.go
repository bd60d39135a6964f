package cbor

import (
	"encoding/binary"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"

	"github.com/cadastre/cadastre/document"
)

// Decode returns the JSON text of a CBOR request body. A string that is not valid UTF-8 causes an error that names its path.
func Decode(body []byte) ([]byte, error) {
	if size := minJSONSize(body); size > document.DefaultMaxBytes {
		return nil, fmt.Errorf("the body has at least %d bytes as JSON, more than the limit of %d; split it", size, document.DefaultMaxBytes)
	}
	var value any
	if err := direct.Unmarshal(body, &value); err != nil {
		return nil, err
	}
	v, err := document.FromGo(value)
	if err != nil {
		return nil, err
	}
	return v.AppendJSON(nil), nil
}

// breakByte is the CBOR "break" stop code, which ends an item of indefinite length.
const breakByte = 0xff

// indefinite is the additional information (RFC 8949) of items of indefinite length.
const indefinite = 31

// minJSONSize returns a lower bound of the size of a CBOR body converted to JSON. An empty map takes one byte in CBOR and
// about a hundred in Go's memory, so the bound is computed from the bytes alone, before they are decoded. For malformed CBOR
// it returns the bound for the items before the malformed one; the decoder reports the error.
func minJSONSize(body []byte) (size int) {
	inString := false // inString is true between the chunks of a string of indefinite length
	for len(body) > 0 {
		first := body[0]
		count, n, ok := readHead(body)
		if !ok {
			return size
		}
		body = body[n:]
		const separator = 1 // one byte for the comma or colon before an item, or for the opening bracket before the first item
		switch major := first & majorMask; {
		case first == breakByte:
			inString = false
		case major == majorTag:
		case major == majorBytes, major == majorText:
			if count > uint64(len(body)) {
				return size
			}
			body = body[count:]
			size += int(count)
			if !inString {
				size += len(`""`) + separator
			}
			inString = inString || first&^majorMask == indefinite
		case major == majorList, major == majorMap:
			size += len("]") + separator
			if count == 0 {
				size += len("[")
			}
		default:
			size += len("0") + separator
		}
	}
	return max(0, size-1)
}

// readHead returns the argument of an item (a count, a length or a value) and the size of the item's head; ok is false if the
// head is malformed. For an item of indefinite length, the argument is 1 for a list or a map, which thus count as not empty,
// and 0 for a string.
func readHead(body []byte) (count uint64, size int, ok bool) {
	switch info := body[0] &^ majorMask; {
	case info < 24:
		return uint64(info), 1, true
	case info == indefinite:
		if major := body[0] & majorMask; major == majorList || major == majorMap {
			return 1, 1, true
		}
		return 0, 1, true
	case info > 27:
		return 0, 0, false
	default:
		size = 1 << (info - 24)
		if len(body) < 1+size {
			return 0, 0, false
		}
		var argument [8]byte
		copy(argument[8-size:], body[1:1+size])
		return binary.BigEndian.Uint64(argument[:]), 1 + size, true
	}
}
