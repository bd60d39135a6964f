package client

import "io"

// encodings lists the encodings of the API. Responses in other media types are passed on as they are.
var encodings = []*encoding{jsonEncoding, yamlEncoding, protobufEncoding, cborEncoding}

// encoding is an encoding of the API whose responses can be stripped of managedFields.
type encoding struct {
	// mediaType is the Content-Type of objects, lists and tables.
	mediaType string
	// streamType is the Content-Type of watches. It is empty if it is mediaType.
	streamType string
	strip      stripper
	// frames returns a function that reads the next event of a watch and strips it, with its frame. It is nil for encodings
	// without watches.
	frames func(body io.Reader) func() ([]byte, error)
}

// A stripper removes managedFields from a response, or from a watch event. It returns the same bytes if there are none, and
// may modify them.
type stripper func(answer []byte) ([]byte, error)

// findEncoding returns the encoding of a media type, nil if there is none. isStream is set if the media type is that of
// watches only.
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
