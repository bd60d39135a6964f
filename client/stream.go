package client

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/fxamacker/cbor/v2"
)

// stream is the body of a watch, frame by frame.
type stream struct {
	body io.ReadCloser
	next func() ([]byte, error)
	rest []byte // of the frame that is being read
}

func (s *stream) Read(p []byte) (int, error) {
	for len(s.rest) == 0 {
		frame, err := s.next()
		if err != nil {
			return 0, err
		}
		s.rest = frame
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// Close ends the watch.
func (s *stream) Close() error { return s.body.Close() }

// framesOf returns what reads the frames of a watch without managedFields; nil for answers that are none.
func framesOf(media string, parameters map[string]string, response *http.Response) func() ([]byte, error) {
	isStream := parameters["stream"] == "watch" || response.Request != nil && isWatch(response.Request.URL)
	switch {
	case media == "application/cbor-seq":
		return cborFrames(response.Body)
	case !isStream:
		return nil
	case media == "application/json":
		return jsonFrames(response.Body)
	case media == "application/vnd.kubernetes.protobuf":
		return protobufFrames(response.Body)
	}
	return nil
}

func jsonFrames(body io.Reader) func() ([]byte, error) {
	decoder := json.NewDecoder(body)
	return func() ([]byte, error) {
		var frame json.RawMessage
		if err := decoder.Decode(&frame); err != nil {
			return nil, err
		}
		short, err := stripJSONEvent(frame)
		return append(short, '\n'), err
	}
}

func cborFrames(body io.Reader) func() ([]byte, error) {
	decoder := cbor.NewDecoder(body)
	return func() ([]byte, error) {
		var frame cbor.RawMessage
		if err := decoder.Decode(&frame); err != nil {
			return nil, err
		}
		return stripCBOREvent(frame)
	}
}

// longestFrame is what client-go takes at most.
const longestFrame = 16 << 20

func protobufFrames(body io.Reader) func() ([]byte, error) {
	reader := bufio.NewReader(body)
	return func() ([]byte, error) {
		frame := make([]byte, 4)
		if _, err := io.ReadFull(reader, frame); err != nil {
			return nil, err
		}
		length := binary.BigEndian.Uint32(frame)
		if length > longestFrame {
			return nil, fmt.Errorf("client: an event of a watch: expected at most %d bytes, received %d", longestFrame, length)
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
