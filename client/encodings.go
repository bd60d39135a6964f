package client

import "io"

// encodings lists the encodings of the API. Responses in other media types are not modified.
var encodings = []*encoding{jsonEncoding, yamlEncoding, protobufEncoding, cborEncoding}

// encoding is an encoding of the API from which managedFields can be removed.
type encoding struct {
	// mediaType is the Content-Type of objects, lists and tables.
	mediaType string
	// streamType is the Content-Type of watches. It is empty if watches have mediaType, too.
	streamType string
	// strip removes managedFields from a response that is not a watch.
	strip stripper
	// frames returns a function that reads the next watch event from the body, removes managedFields, and returns the event
	// with its framing. frames is nil for encodings without watches.
	frames func(body io.Reader) func() ([]byte, error)
}

// stripper removes managedFields from a response or a watch event and returns the result. It may modify body, and returns
// body itself if it contains no managedFields.
type stripper func(body []byte) ([]byte, error)

// findEncoding returns the encoding with the given media type, nil if no encoding has it. isStream is true if only watches
// have that media type.
func findEncoding(mediaType string) (found *encoding, isStream bool) {
	for _, e := range encodings {
		switch mediaType {
		case e.mediaType:
			return e, false
		case e.streamType:
			return e, true
		}
	}
	return nil, false
}
