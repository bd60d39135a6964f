package serverbench

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// TestCountEvents reads the events one byte at a time, and checks that incomplete events are not counted.
func TestCountEvents(t *testing.T) {
	for _, test := range []struct {
		media         Media
		body          string
		events, bytes int
		err           error
	}{
		{JSON, "{}\n{}\n", 2, 6, io.EOF},
		{Protobuf, "\x00\x00\x00\x03abc\x00\x00\x00\x01\n", 2, 12, io.EOF},
		{Protobuf, "\x00\x00\x00\x03abc\x00\x00\x00\x02d", 1, 7, io.EOF},
		{Protobuf, "\x00\x00\x00\x03abc\x00\x00", 1, 7, io.ErrUnexpectedEOF},
		{CBOR, "\xa1\x41a\x41\n\xa0", 2, 6, io.EOF},
		{CBOR, "\xa0\xa1\x41a", 1, 1, io.ErrUnexpectedEOF},
	} {
		var events, bytes int
		err := countEvents(test.media, iotest.OneByteReader(strings.NewReader(test.body)), func(e, b int) {
			events += e
			bytes += b
		})
		if events != test.events || bytes != test.bytes || !errors.Is(err, test.err) {
			t.Errorf("%s %q: countEvents() = %d events of %d bytes, %v, want %d of %d, %v",
				test.media.Name(), test.body, events, bytes, err, test.events, test.bytes, test.err)
		}
	}
}
