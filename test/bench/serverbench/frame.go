package serverbench

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"

	"github.com/fxamacker/cbor/v2"
)

// countEvents reads the events of a watch until the body ends, and then returns io.EOF. It calls received with the
// number and size of the events as they arrive. JSON events end with a newline; protobuf events have a length prefix;
// CBOR events are consecutive data items.
func countEvents(media Media, body io.Reader, received func(events, bytes int)) error {
	switch media {
	case Protobuf:
		return countPrefixed(body, received)
	case CBOR:
		return countItems(body, received)
	}
	return countLines(body, received)
}

// readAtOnce is the size of the read buffer in bytes.
const readAtOnce = 16 << 10

func countLines(body io.Reader, received func(events, bytes int)) error {
	buffer := make([]byte, readAtOnce)
	for {
		n, err := body.Read(buffer)
		received(bytes.Count(buffer[:n], []byte{'\n'}), n)
		if err != nil {
			return err
		}
	}
}

func countPrefixed(body io.Reader, received func(events, bytes int)) error {
	const prefix = 4
	buffered := bufio.NewReaderSize(body, readAtOnce)
	var length [prefix]byte
	for {
		if _, err := io.ReadFull(buffered, length[:]); err != nil {
			return err
		}
		event := int(binary.BigEndian.Uint32(length[:]))
		if _, err := buffered.Discard(event); err != nil {
			return err
		}
		received(1, prefix+event)
	}
}

func countItems(body io.Reader, received func(events, bytes int)) error {
	items := cbor.NewDecoder(body)
	for {
		before := items.NumBytesRead()
		if err := items.Skip(); err != nil {
			return err
		}
		received(1, items.NumBytesRead()-before)
	}
}
